"""Texts are replaced in every process with the loader, and nothing is replaced without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fault_injection.replacements import PYTHON_PATH, build_sources, environment_with
from tests.fault_injection.startup.sitecustomize import Replacement, StaleReplacement

LIMIT = ("foundation/exact_json.py", "DIGITS_MAX = 30", "DIGITS_MAX = 31")
SQL = ("database/migrations/functions/text_hash.sql", "-- Hash", "FORGET")
PRINT = """
import subprocess, sys
from pathlib import Path
from nimbill.foundation import exact_json
print(exact_json.DIGITS_MAX)
sql = Path(exact_json.__file__).parents[1] / "database/migrations/functions/text_hash.sql"
print(sql.read_text()[:6])
if "child" not in sys.argv:
    subprocess.run([sys.executable, "-c", sys.stdin.read(), "child"])
"""


def run(folder: Path, *replacements: Replacement) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    if replacements:
        environment |= environment_with(replacements, folder)
    return subprocess.run(
        [sys.executable, "-c", PRINT],
        env=environment,
        input=PRINT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_process_and_its_children_read_the_new_texts_and_later_ones_the_old(
    tmp_path: Path,
) -> None:
    replaced, after = run(tmp_path, LIMIT, SQL), run(tmp_path)

    assert (replaced.stdout, replaced.stderr) == ("31\nFORGET\n" * 2, "")
    assert (after.stdout, after.stderr) == ("30\n-- Has\n" * 2, "")


def test_a_process_does_not_start_if_an_old_text_is_gone(tmp_path: Path) -> None:
    ended = run(tmp_path, LIMIT, LIMIT)

    assert ended.returncode != 0
    assert "foundation/exact_json.py contains 0 times: DIGITS_MAX = 30" in ended.stderr


@pytest.mark.parametrize("old", ["not there", "def "])
def test_an_old_text_must_occur_exactly_once(old: str) -> None:
    with pytest.raises(StaleReplacement):
        build_sources([("foundation/money.py", old, "new")])
