"""`make` without a target lists the targets."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = (
    "demo",
    "run",
    "check",
    "test",
    "test-unit",
    "test-browser",
    "prove-quick",
    "test-spark",
    "prove",
    "mutants",
    "bench",
    "routes",
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
    process = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return dict(re.split(r"\s+", line, maxsplit=1) for line in process.stdout.splitlines())


def test_every_target_is_listed_with_a_description(listed: dict[str, str]) -> None:
    descriptions = {target: len(listed[target].split()) for target in TARGETS}

    assert min(descriptions.values()) > 2, descriptions


def test_every_listed_target_is_phony(listed: dict[str, str]) -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert set(listed) <= set(phony.split())
