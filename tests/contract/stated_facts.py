"""Lists the facts that the pages of the specification state: rows of tables, and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tests.contract.original_specification import EXPLANATIONS, NAMES_AND_NUMBERS
from tests.contract.specification import collapse_whitespace, split_row

# columns that explain, besides those of the original specification
EXPLAINING = EXPLANATIONS | {
    *("Applied to", "Body", "Fee", "Fields", "Next step", "Status values that appear", "Target"),
    *("The invoice", "What can be done", "Values of `type`", "Bands", "Type", "Moved by"),
    *("Appears in", "Limit", "Value", "State"),
}
TYPES = r"string|boolean|integer|double|object|required|optional|true|false"
# the number of a version or of a standard is part of its name
FACTS = rf"(?<![Vv]ersion )(?<!RFC )(?<!ISO )(?:{NAMES_AND_NUMBERS})|\b(?:{TYPES})\b"
# levels of versions that the service does not write; it reads columns by name, whatever their level
DESCRIPTIVE = {"1.0", "1.1", "Content", "Choice", "Mark", "Term", "Step", "Applies to"}
UNDECIDED = {"open", "none"}
MARKDOWN = re.compile(r"\]\([^)]*\)|\*\*")
ENUMERATION = re.compile(r"^(?:\d+\.|-) ")


@dataclass(frozen=True)
class FactPart:
    """A name, number or word of a fact, and its place in the line of the page."""

    column: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class Fact:
    """A row of a table or a sentence, with the line of its page that holds a row."""

    page: str
    heading: str
    text: str
    parts: tuple[FactPart, ...]
    line: int | None = None  # of a row
    columns: tuple[str, ...] = ()

    @property
    def is_row(self) -> bool:
        return self.line is not None

    def __str__(self) -> str:
        return f"{self.heading}: {self.text}"


def list_facts(pages: Mapping[str, str]) -> list[Fact]:
    """Every fact, in the order of the pages; points that a page leaves open are none.

    The second of two facts with the same text below a heading is numbered.
    """
    facts: dict[tuple[str, str], Fact] = {}
    for page, text in pages.items():
        for fact in _list_facts_of_page(page, text):
            name, count = fact.text, 1
            while (fact.heading, name) in facts:
                count += 1
                name = f"{fact.text} ({count})"
            facts[fact.heading, name] = replace(fact, text=name)
    return list(facts.values())


def _list_facts_of_page(page: str, text: str) -> Iterator[Fact]:
    heading, header, paragraph = "", [""], ""
    is_open = False
    for number, line in enumerate([*text.splitlines(), "#"]):
        ends = not line.strip() or line.startswith(("|", "#")) or ENUMERATION.match(line)
        if ends and paragraph:
            is_open = _is_open(paragraph) or (is_open and paragraph.startswith("- "))
            if not is_open:
                yield from _list_sentences(page, heading, paragraph)
            paragraph = ""
        if line.startswith("#"):
            heading, header, is_open = line.lstrip("#").strip(), [""], False
        elif not line.startswith("|"):
            header = [""] if not line.strip() else header
            paragraph = f"{paragraph} {line.strip()}".strip()
        elif header == [""]:
            header = split_row(line)
        elif not line.startswith("|---"):
            yield _read_row(page, heading, header, line, number)


def _is_open(paragraph: str) -> bool:
    return paragraph.startswith(("**Open:**", "Choices: ", "Choice: "))


def _list_sentences(page: str, heading: str, paragraph: str) -> Iterator[Fact]:
    text = MARKDOWN.sub("", re.sub(r"\[([^]]+)(?=\]\()", r"\1", ENUMERATION.sub("", paragraph)))
    for sentence in re.split(r"(?<=[.)]\s)(?=[A-Z`{])(?<=\.\s)", text):
        if not _is_open(sentence):
            parts = [
                FactPart("", found[0], found.start()) for found in re.finditer(FACTS, sentence)
            ]
            yield Fact(page, heading, sentence.strip(), tuple(parts))


def _read_row(page: str, heading: str, header: list[str], line: str, number: int) -> Fact:
    cells, parts, position = split_row(line), [], 0
    for column, cell in zip(header, cells, strict=True):
        written = cell if cell in line[position:] else cell.replace("|", "\\|")
        position = line.index(written, position)
        pattern = FACTS if column in EXPLAINING else r"[^,\s](?:[^,]|,(?! ))*"
        pattern = r".+" if column == "Required" else pattern
        parts += [
            FactPart(column, found[0], position + found.start())
            for found in re.finditer(pattern, written)
            if column not in DESCRIPTIVE and found[0] not in UNDECIDED
        ]
        position += len(written)
    key = cells[0] if header[0] not in ("Method", "Operation") else " ".join(cells[:2])
    return Fact(page, heading, collapse_whitespace(key), tuple(parts), number, tuple(header))
