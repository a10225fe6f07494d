"""The preparation process loads neither pandas, Ibis nor rich, and no library of the database."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.imports.preparation import ImportRequest
from tests.command_line import build_environment

PRINT_LOADED_MODULES = """
import sys
from nimbill.imports.preparation import main
main()
names = ("pandas", "ibis", "sqlalchemy", "rich", "pyarrow")
print(json.dumps({name: name in sys.modules for name in names}))
"""


def test_an_import_is_prepared_without_large_libraries_that_it_does_not_use(tmp_path: Path) -> None:
    files = write_files(
        SyntheticMonth(lines=100), Dialect.aws_cur, tmp_path / "report", file_format="csv"
    )
    request = ImportRequest(
        organisation_id="org_1",
        import_id="imp_1",
        vendor="aws",
        month=None,
        sources=[str(files.parts[0])],
        roots=None,
        folder=str(tmp_path / "import"),
        known_deliveries={},
    )

    process = subprocess.run(
        [sys.executable, "-c", f"import json{PRINT_LOADED_MODULES}"],
        input=json.dumps(asdict(request)) + "\n",
        env=build_environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    *_, result, loaded = (json.loads(line) for line in process.stdout.splitlines())
    assert result["prepared"]["lines"] == 100
    unused = {"pandas": False, "ibis": False, "sqlalchemy": False, "rich": False}
    assert loaded == {**unused, "pyarrow": True}
