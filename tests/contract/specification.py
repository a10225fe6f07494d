"""The specification as tests read it: its headings, its words, its tables."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared" / "spec"
NOT_HERE = "the specification is not beside this checkout"


def specification() -> str:
    """The whole text; the test is skipped where the specification is not beside the checkout."""
    if not FOLDER.is_dir():
        pytest.skip(NOT_HERE)
    return (FOLDER / "service.md").read_text()


def choices_beside_it() -> str:
    """The answers agreed on before this project began; docs/choices.md is what holds here."""
    if not FOLDER.is_dir():
        pytest.skip(NOT_HERE)
    return (FOLDER / "choices.md").read_text()


def headings(text: str) -> list[str]:
    return [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]


def words(text: str) -> str:
    """The words alone: where a line ends makes no difference, anything else does."""
    return " ".join(text.split())


def section(text: str, heading: str) -> str:
    """What stands between a heading, which may go on in brackets, and the next one."""
    found = re.search(
        rf"^#+ {re.escape(heading)}(?: \([^\n]*\))?\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"no heading {heading}"
    return found[1]


def table(text: str, first_column: str) -> list[list[str]]:
    """The rows of the table whose header begins with this word, cell by cell."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return rows
