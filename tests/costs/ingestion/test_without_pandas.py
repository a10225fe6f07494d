"""A process that works on costs loads neither pandas nor Ibis, and what it says is no less."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from nimbill.demo.vendor_files.writing import Dialect, Month, write_files
from nimbill.imports.preparation import ImportRequest
from tests.command_line import environment

LOADED_LAST = """
import sys
from nimbill.imports.preparation import main
main()
print(json.dumps({name: name in sys.modules for name in ("pandas", "ibis", "pyarrow")}))
"""


def test_an_import_is_prepared_without_pandas_and_without_ibis(tmp_path: Path) -> None:
    written = write_files(Month(lines=100), Dialect.aws_cur, tmp_path / "report", form="csv")
    asked = ImportRequest(
        organisation_id="org_1",
        import_id="imp_1",
        vendor="aws",
        month=None,
        sources=[str(written.parts[0])],
        roots=None,
        folder=str(tmp_path / "import"),
        known={},
    )

    done = subprocess.run(
        [sys.executable, "-c", f"import json{LOADED_LAST}"],
        input=json.dumps(asdict(asked)) + "\n",
        env=environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    *_, answer, loaded = (json.loads(line) for line in done.stdout.splitlines())
    assert answer["prepared"]["lines"] == 100
    assert loaded == {"pandas": False, "ibis": False, "pyarrow": True}
