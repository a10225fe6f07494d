"""Reads the pages of docs/specification for tests: headings, sections and tables."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "specification"
CHOICES = ROOT / "docs" / "choices.md"


@cache
def read_pages() -> dict[str, str]:
    """The text of each page of the specification, by file name."""
    return {page.name: page.read_text() for page in sorted(PAGES.glob("*.md"))}


def read_page(name: str) -> str:
    return read_pages()[name]


def read_specification() -> str:
    """All pages of the specification as one text."""
    return "\n".join(read_pages().values())


def read_table(heading: str, first_column: str = "Field") -> list[list[str]]:
    """The rows of the first such table under a heading of the specification."""
    return parse_table(find_section(read_specification(), heading), first_column)


def read_choice(name: str) -> str:
    """The text of one entry of docs/choices.md."""
    return find_section(CHOICES.read_text(), name)


def list_headings(text: str) -> list[str]:
    return [line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")]


def collapse_whitespace(text: str) -> str:
    return " ".join(text.split())


def find_section(text: str, heading: str) -> str:
    """The text between a heading and the next one."""
    section = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert section, f"no heading {heading}"
    return section[1]


def parse_table(text: str, first_column: str) -> list[list[str]]:
    """The rows of the first table whose header begins with this column."""
    for header, rows in parse_tables(text):
        if header[0] == first_column:
            return rows
    raise AssertionError(f"no table with the first column {first_column}")


def parse_tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of each Markdown table."""
    for block in re.findall(r"^\|.*\n\|[-|]+\|\n(?:\|.*\n?)*", text, re.MULTILINE):
        header, _, *rows = block.splitlines()
        yield split_row(header), [split_row(row) for row in rows]


def split_row(line: str) -> list[str]:
    """The cells of a table row; a bar between backticks or after a backslash separates nothing."""
    cells = re.findall(r"\|((?:`[^`]*`|\\\||[^|`])*)(?=\|)", line)
    return [cell.strip().replace("\\|", "|") for cell in cells]
