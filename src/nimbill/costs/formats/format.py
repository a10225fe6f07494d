"""The definition of a vendor's file format: columns, line types and tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.formats.line_rules import parse_month

# texts that mean "no value"
NULLS = ("", "NULL", "\\N")


def normalize_column_name(name: str) -> str:
    """Return the same text for all spellings: `lineItem/UsageType` and `line_item_usage_type`.

    A localised header has the English name in brackets; that name is used.
    """
    bracketed = re.search(r"\(([A-Za-z]+)\)\s*$", name)
    plain = bracketed[1] if bracketed else name
    return re.sub(r"[^a-z0-9]", "", plain.lower())


class Cleaner(NamedTuple):
    """Removes what a vendor writes around a value, said twice so that each reading has its own.

    The second reading replaces the pattern, in any case; DuckDB's syntax is that of RE2.
    """

    clean: Callable[[str], str]  # of the first reading
    pattern: str
    replacement: str


class NestedColumns(NamedTuple):
    """The columns of Parquet files with structs, which are read as columns with dotted names."""

    mark: str  # a struct that only files of this format have
    credits: str  # a list of amounts that are added to the cost
    labels: str  # a list of keys and values


class Column(NamedTuple):
    """Column names of a field; the first name that the header contains is used."""

    names: tuple[str, ...]
    required: bool = False
    cleaner: Cleaner | None = None


class LineClass(NamedTuple):
    """How lines of a vendor's line type are billed."""

    kind: LineKind
    entry_type: EntryType | None = None


USAGE = LineClass(LineKind.usage)
TAX = LineClass(LineKind.tax)
DISCOUNT = LineClass(LineKind.discount)
UNKNOWN = LineClass(LineKind.unknown)


def entry_class(entry_type: EntryType) -> LineClass:
    return LineClass(LineKind.entry, entry_type)


def required(*names: str) -> Column:
    return Column(names, required=True)


def optional(*names: str) -> Column:
    return Column(names)


@dataclass(frozen=True, slots=True)
class AmortisedCosts:
    """How to recognise amortised costs in a format: usage paid in advance has a cost.

    In actual costs it costs nothing, because the purchase of the reservation or savings plan is a
    line of its own. Importing amortised costs would bill the purchase a second time.
    """

    line_types: Collection[str]  # of usage
    instead: str  # what to import instead, for messages
    field: str | None = None  # says whether usage is covered; None: all usage of these types is
    values: Collection[str] = ()  # of the field for covered usage, in lower case without spaces
    id_field: str | None = None  # if the field is empty, usage with such an id is covered
    equals_field: str | None = None  # only a cost that equals this field is amortised
    vendors: Collection[str] | None = None  # None: all vendors of the format


@dataclass(frozen=True, slots=True)
class Format:
    """A vendor's file format. To add a format, add a file with one of these."""

    name: str
    title: str  # for messages
    vendor: str | None  # None: a column names the vendor of each line
    identifying_columns: Collection[str]  # combination of columns that no other format has
    columns: Mapping[str, Column]
    classify: Callable[[str], LineClass]
    is_marketplace: Callable[[str], bool]  # receives the field `marketplace`
    tag_prefix: str | None = None  # prefix of the tag columns, if there is one column per key
    normalize_tag_key: Callable[[str], str] = str
    project_tag: str | None = None  # key of a tag with the value of the field `project_id`
    nested: NestedColumns | None = None
    line_type_default: str | None = None
    parse_month: Callable[[str], str] = parse_month  # of the field `period_start`
    amortised: AmortisedCosts | None = None  # None: the vendor has no amortised files
    amortised_types: Collection[str] = ()  # line types that only amortised files have
    # the vendor states ids of invoices: without one, a line is not invoiced yet
    states_invoices: bool = False
    # lines of earlier months are on the same invoice, if the month of the import is specified
    has_late_usage: bool = False
