"""Which format a header is of, and where it keeps what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nimbill.costs.formats.aws_cur import AWS_CUR
from nimbill.costs.formats.aws_cur2 import AWS_CUR2
from nimbill.costs.formats.azure import AZURE
from nimbill.costs.formats.focus import FOCUS
from nimbill.costs.formats.format import Format, squashed
from nimbill.costs.formats.line_rules import refusal

# the most particular first
FORMATS = (AWS_CUR2, AWS_CUR, FOCUS, AZURE)


@dataclass(frozen=True, slots=True)
class Layout:
    """A header, read: the position of every field that it has, and of every tag."""

    format: Format
    width: int
    at: dict[str, int]
    names: dict[str, str]  # of the fields, as the header writes them
    tags: tuple[tuple[int, str], ...]  # position and key


def layout_of(file: str, header: Sequence[str]) -> Layout:
    """Broken where the header is of no format we know, lacks a column, or has one twice."""
    of = _format_of(file, header)
    tags = {
        position: of.tag_key(key)
        for position, name in enumerate(header)
        if (key := _tag(of, name)) is not None
    }
    names = [squashed(name) if at not in tags else "" for at, name in enumerate(header)]
    counts = Counter(names)
    at: dict[str, int] = {}
    for field, column in of.columns.items():
        found = next((name for name in map(squashed, column.names) if name in counts), None)
        if found is None and column.required:
            raise refusal(file, "column_missing", line=1, column=column.names[0])
        if found is not None:
            if counts[found] > 1:
                raise refusal(file, "column_twice", line=1, column=header[names.index(found)])
            at[field] = names.index(found)
    _refuse_tags_twice(file, header, tags)
    written = {field: header[position] for field, position in at.items()}
    return Layout(of, len(header), at, written, tuple(tags.items()))


def _format_of(file: str, header: Sequence[str]) -> Format:
    names = {squashed(name) for name in header}
    for one in FORMATS:
        if all(any(squashed(way) in names for way in need.split("|")) for need in one.known_by):
            return one
    raise refusal(file, "unknown_format", line=1)


def _tag(of: Format, name: str) -> str | None:
    """The key in a tag's column; its case counts, that of the prefix does not."""
    if of.tag_prefix is None:
        return None
    snake = "resource_tags_"
    for prefix in (of.tag_prefix, snake):
        if name.lower().startswith(prefix.lower()):
            return name[len(prefix) :]
    return None


def _refuse_tags_twice(file: str, header: Sequence[str], tags: dict[int, str]) -> None:
    seen: set[str] = set()
    for position, key in tags.items():
        if key in seen:
            raise refusal(file, "column_twice", line=1, column=header[position])
        seen.add(key)
