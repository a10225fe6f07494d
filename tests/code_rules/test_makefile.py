"""make alone lists the verbs."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERBS = (
    "demo",
    "run",
    "check",
    "test",
    "test-spark",
    "prove",
    "bench",
    "surface",
    "choices",
    "migrate",
    "lock",
    "setup",
    "clean",
    "screenshots",
    "pictures",
)


@pytest.fixture(scope="module")
def listed() -> dict[str, str]:
    answer = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return dict(re.split(r"\s+", line, maxsplit=1) for line in answer.stdout.splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_is_listed_with_a_line_of_help(listed: dict[str, str], verb: str) -> None:
    assert len(listed[verb].split()) > 2


def test_each_verb_is_one_that_make_knows(listed: dict[str, str]) -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert set(listed) <= set(phony.split())
