"""Compares docs/specification with the original specification: tables, names and numbers.

NIMBILL_SPEC names the folder of the original; ../shared/spec is the default. Tests that need it
are skipped where the folder is absent.
"""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.contract.specification import ROOT, collapse_whitespace, parse_tables

FOLDER = ROOT / os.environ.get("NIMBILL_SPEC", "../shared/spec")
ABSENT = "the original specification is not present"
# the deepest level of heading that begins a section
ORIGINAL, OURS = 4, 2

TITLE = (
    "Cloud Cost Billing, Access Control and Lifecycle Management Service: Interface Specification"
)
# headings of ours that differ from the original's; a remark in brackets after a heading is ignored
HEADINGS = {
    TITLE: "What the service does",
    "Billing group": "Billing group create body",
    "Records whose fields are otherwise unknown": "Open records",
}
# columns that explain; our pages explain in their own words and must keep the names and numbers
EXPLANATIONS = frozenset(
    {
        "Notes",
        "Controls",
        "Meaning",
        "Condition",
        "Next state",
        "Other effects",
        "Effect",
        "Response",
        "Path",
    }
)
# the original refers to a part of its own document here
REFERENCES = {("Limits", "Text fields of billing group update", "Applies to")}
NAMES_AND_NUMBERS = (
    r"`[^`]+`"  # whatever is written as code
    r"|<[A-Z_]+>|\{\w+\}[\w/]*|(?<![\w}])/[\w/.{}:?=\[\]-]+"  # placeholders and paths
    r"|\b\w+_\w+\b|\b[A-Z]+[a-z]+[A-Z]\w*\b"  # identifiers
    r"|−?\d+(?:,\d{3})*(?:\.\d+)?"
)
RULES = (
    r"`[^`]+`|\b(?:string|boolean|integer|double|number|object|array|required|optional|conditional|length"
    r"|digits|letters|characters|aws|azure|gcp|true|false|Auto|Custom)\b"
)
FACTS = f"{NAMES_AND_NUMBERS}|{RULES}"


class Cell(NamedTuple):
    heading: str
    row: str
    column: str
    text: str

    def __str__(self) -> str:
        return f"{self.heading}, {self.row}, {self.column}: {self.text}"


def read_original(name: str) -> str:
    """A file of the original; skips the test where the original is absent."""
    if not FOLDER.is_dir():
        pytest.skip(ABSENT)
    return (FOLDER / name).read_text()


def differing_cells(original: str, pages: str) -> list[str]:
    """Cells of the original's tables that our pages lack or contradict."""
    ours = {
        (cell.heading, cell.row, cell.column): cell.text for cell in list_cells(pages, deepest=OURS)
    }
    complaints = []
    for cell in list_cells(original, deepest=ORIGINAL):
        text = ours.get((HEADINGS.get(cell.heading, cell.heading), cell.row, cell.column))
        if text is None:
            complaints.append(f"missing: {cell}")
        elif not _same(cell, text):
            complaints.append(f"different: {cell} / {text}")
    return complaints


def missing_names_and_numbers(original: str, pages: str) -> list[str]:
    """Names and numbers in a section of the original that our section of that heading lacks."""
    ours = dict(list_sections(pages, deepest=OURS))
    complaints = []
    for heading, text in list_sections(original, deepest=ORIGINAL):
        section = ours.get(HEADINGS.get(heading, heading), "")
        missing = list_names_and_numbers(text) - list_names_and_numbers(section)
        complaints += [f"{heading} lacks {fact}" for fact in sorted(missing)]
    return complaints


def list_names_and_numbers(text: str) -> set[str]:
    without_numbering = re.sub(r"^\d+\. ", "", text.replace("\\|", "|"), flags=re.MULTILINE)
    return {fact.strip("`") for fact in re.findall(NAMES_AND_NUMBERS, without_numbering)}


def list_cells(text: str, deepest: int) -> Iterator[Cell]:
    """Every cell of every table, with its heading, the first cells of its row and its column.

    Rows with the same first cell, such as a method, are told apart by the second one.
    """
    for heading, section in list_sections(text, deepest):
        for header, rows in parse_tables(section):
            for cells in rows:
                first, *others = (_normalise(cell) for cell in cells)
                row = f"{first} {_path(others[0])}" if header[0] == "Method" else first
                yield Cell(heading, row, header[0], first)
                yield from (
                    Cell(heading, row, column, cell)
                    for column, cell in zip(header[1:], others, strict=True)
                )


def list_sections(text: str, deepest: int) -> Iterator[tuple[str, str]]:
    """Heading and text of each section; sections of the same heading are one.

    In our pages a heading of the third level divides a section of the original.
    """
    sections: dict[str, str] = {}
    for part in re.split(rf"^#{{1,{deepest}}} ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        name = heading.partition(" (")[0].strip()
        sections[name] = sections.get(name, "") + body
    yield from sections.items()


def _normalise(cell: str) -> str:
    """Without the addresses of links; what the original does not show is open."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", cell)
    return collapse_whitespace(re.sub(r"\b(?:response: )?not shown\b", "open", text))


def _path(cell: str) -> str:
    return re.split(r" where |; ", cell)[0]


def _same(cell: Cell, ours: str) -> bool:
    if (cell.heading, cell.row, cell.column) in REFERENCES:
        return True
    if cell.text == "open":
        return ours == "open"
    if cell.column == "Request":
        return _rules_of_fields(cell.text) == _rules_of_fields(ours)
    if cell.column == "Rule":
        return re.findall(FACTS, cell.text) == re.findall(FACTS, ours)
    if cell.column in EXPLANATIONS:
        return list_names_and_numbers(cell.text) == list_names_and_numbers(ours)
    return cell.text.replace("`", "") == ours.replace("`", "")


def _rules_of_fields(text: str) -> list[tuple[str, set[str]]]:
    """Names and numbers of the text, then the rules of each `name (string, required)` in it."""
    rules = [
        (name, {word.strip("`") for word in re.findall(RULES, remark)})
        for name, remark in re.findall(r"(\w+) \(([^()]*)\)", text)
    ]
    return [("", list_names_and_numbers(text)), *((name, words) for name, words in rules if words)]
