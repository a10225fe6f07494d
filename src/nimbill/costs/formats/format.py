"""What a format is: a table of columns, a table of line types, and how its tags are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nimbill.costs.cost_line import EntryType, LineKind

# other ways to write nothing
NULLS = ("", "NULL", "\\N")


def squashed(name: str) -> str:
    """One spelling for the dialects of a header: `lineItem/UsageType` is `line_item_usage_type`.

    A localised header carries the English name in brackets, and that counts.
    """
    bracketed = re.search(r"\(([A-Za-z]+)\)\s*$", name)
    plain = bracketed[1] if bracketed else name
    return re.sub(r"[^a-z0-9]", "", plain.lower())


class Column(NamedTuple):
    """Where a field is found: the first of these names that the header has."""

    names: tuple[str, ...]
    required: bool = False
    clean: Callable[[str], str] | None = None


class Meaning(NamedTuple):
    """What a vendor's line type is to us."""

    kind: LineKind
    entry_type: EntryType | None = None


USAGE = Meaning(LineKind.usage)
TAX = Meaning(LineKind.tax)
DISCOUNT = Meaning(LineKind.discount)
UNKNOWN = Meaning(LineKind.unknown)


def entry(entry_type: EntryType) -> Meaning:
    return Meaning(LineKind.entry, entry_type)


def needs(*names: str) -> Column:
    return Column(names, required=True)


def may(*names: str) -> Column:
    return Column(names)


@dataclass(frozen=True, slots=True)
class Format:
    """One vendor's way to write a month; adding a format is adding a file with one of these."""

    name: str
    vendor: str | None  # None: any, and a column says which
    known_by: Collection[str]  # columns that no other format has together
    columns: Mapping[str, Column]
    meaning_of: Callable[[str], Meaning]
    is_marketplace: Callable[[str], bool]  # of the field `marketplace`
    tag_prefix: str | None = None  # one column per key, with this in front of it
    tag_key: Callable[[str], str] = str
    currency_default: str | None = None
    line_type_default: str | None = None
    refused_types: Mapping[str, str] = field(default_factory=dict)  # line type: the rule it breaks
