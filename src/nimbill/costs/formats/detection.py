"""Detects the format of a file from its header and locates its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nimbill.costs.cost_line import EXPORTED_TEXTS
from nimbill.costs.formats.aws_cur import AWS_CUR
from nimbill.costs.formats.aws_cur2 import AWS_CUR2
from nimbill.costs.formats.azure import AZURE
from nimbill.costs.formats.azure_partner_center import AZURE_PARTNER_CENTER
from nimbill.costs.formats.focus import FOCUS
from nimbill.costs.formats.format import Format, normalize_column_name
from nimbill.costs.formats.gcp import GCP_EXPORT
from nimbill.costs.formats.line_rules import line_error
from nimbill.costs.formats.unknown_headers import (
    describe_separators,
    describe_unknown_header,
    find_format,
)

# the most specific first
FORMATS = (GCP_EXPORT, AWS_CUR2, AWS_CUR, FOCUS, AZURE_PARTNER_CENTER, AZURE)
SNAKE_CASE_TAG_PREFIX = "resource_tags_"


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The positions of all fields and tags in a file's header."""

    format: Format
    width: int
    positions: dict[str, int]
    names: dict[str, str]  # field to its column name as written in the header
    tags: tuple[tuple[int, str], ...]  # position and key


def detect_layout(file: str, header: Sequence[str]) -> FileLayout:
    """Refuse an unknown format, a missing required column and a duplicate column.

    A duplicate of a column that only exports use is not read.
    """
    format_ = _detect_format(file, header)
    tags = {
        position: format_.normalize_tag_key(key)
        for position, name in enumerate(header)
        if (key := _tag_key(format_, name)) is not None
    }
    names = [
        normalize_column_name(name) if position not in tags else ""
        for position, name in enumerate(header)
    ]
    counts = Counter(names)
    positions: dict[str, int] = {}
    for field, column in format_.columns.items():
        candidates = map(normalize_column_name, column.names)
        match = next((name for name in candidates if name in counts), None)
        if match is None and column.required:
            raise line_error(file, "column_missing", format_.title, line=1, column=column.names[0])
        if match is not None and not (counts[match] > 1 and field in EXPORTED_TEXTS):
            if counts[match] > 1:
                raise line_error(file, "column_twice", line=1, column=header[names.index(match)])
            positions[field] = names.index(match)
    _refuse_duplicate_tags(file, header, tags)
    original_names = {field: header[position] for field, position in positions.items()}
    return FileLayout(format_, len(header), positions, original_names, tuple(tags.items()))


def _detect_format(file: str, header: Sequence[str]) -> Format:
    format_ = find_format(FORMATS, header)
    if format_ is None:
        raise line_error(file, "unknown_format", describe_unknown_header(FORMATS, header), line=1)
    return format_


def refuse_separators(file: str, text: str) -> None:
    """Refuse a header that is no CSV text because other separators follow quoted names."""
    description = describe_separators(FORMATS, text)
    if description is not None:
        raise line_error(file, "unknown_format", description, line=1)


def _tag_key(format_: Format, name: str) -> str | None:
    """Return the key of a tag column; the key is case-sensitive, the prefix is not."""
    if format_.tag_prefix is None:
        return None
    for prefix in (format_.tag_prefix, SNAKE_CASE_TAG_PREFIX):
        if name.lower().startswith(prefix.lower()):
            return name[len(prefix) :]
    return None


def _refuse_duplicate_tags(file: str, header: Sequence[str], tags: dict[int, str]) -> None:
    seen: set[str] = set()
    for position, key in tags.items():
        if key in seen:
            raise line_error(file, "column_twice", line=1, column=header[position])
        seen.add(key)
