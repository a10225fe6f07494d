"""The independent check: what was stored against a second reading of the vendor's own files.

The second reading shares nothing with the first but the names of the columns: another program
unpacks, parses and adds up. Only sums that agree to the last digit pass.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.formats.detection import Layout
from nimbill.costs.formats.focus import NAMES
from nimbill.costs.formats.format import NULLS
from nimbill.costs.ingestion.delivery import Delivery, Limits, Part
from nimbill.costs.ingestion.raw_lines import header_of
from nimbill.foundation.basis import chosen

basis = chosen("independent-check")

MEMORY_MAX = "384MB"
THREADS_MAX = 4


class UnreadableBySecondReader(Exception):
    """The second program cannot read this file, though the first could."""


class Whose(NamedTuple):
    payer_id: str
    customer_id: str
    currency: str


class Sum(NamedTuple):
    cost: Decimal
    lines: int


Sums = dict[Whose, Sum]


@dataclass(frozen=True, slots=True)
class SumDifference:
    whose: Whose
    delivered: Sum
    stored: Sum


NOTHING = Sum(Decimal(0), 0)


def differences(delivered: Sums, stored: Sums) -> list[SumDifference]:
    """None, if all is well."""
    return [
        SumDifference(whose, delivered.get(whose, NOTHING), stored.get(whose, NOTHING))
        for whose in sorted(delivered.keys() | stored.keys())
        if delivered.get(whose, NOTHING) != stored.get(whose, NOTHING)
    ]


def sums_of_lines(files: Sequence[Path]) -> Sums:
    """Of what was stored."""
    if not files:
        return {}
    names = ", ".join(_quoted(str(file)) for file in files)
    whose = "payer_id, customer_id, currency"
    with second_program() as db:
        return _added_up(db, whose, "cost", f"read_parquet([{names}])")


def sums_of_delivery(
    delivery: Delivery,
    db: duckdb.DuckDBPyConnection,
    *,
    vendor: str,
    limits: Limits,
    tell: Callable[[str], None],
) -> Sums:
    """Of what the vendor delivered; Unreadable where the second program cannot make sense of it."""
    costs: dict[Whose, Decimal] = {}
    lines: Counter[Whose] = Counter()
    for part in delivery.parts:
        tell(part.name)
        for whose, found in _sums_of_part(db, part, vendor, limits).items():
            costs[whose] = EXACT.add(costs.get(whose, Decimal(0)), found.cost)
            lines[whose] += found.lines
    return {whose: Sum(cost, lines[whose]) for whose, cost in costs.items()}


EXACT = Context(prec=100)  # the usual one would keep 28 digits
# what is wrong with a file, or with this program's reading of it; a full disk is another matter
UNREADABLE = (duckdb.DataError, duckdb.NotSupportedError, duckdb.ProgrammingError)


def _sums_of_part(db: duckdb.DuckDBPyConnection, part: Part, vendor: str, limits: Limits) -> Sums:
    """In the words of the second program; its own ways of unpacking, parsing and adding."""
    layout = header_of(part, limits)
    where = ""
    if layout.format.vendor is None:
        names = ", ".join(map(_quoted, NAMES.get(vendor, ())))
        where = f" WHERE lower({_cell(part, layout, 'provider')}) IN ({names})"
    payer, customer = (_cleaned(part, layout, field) for field in ("payer_id", "customer_id"))
    whose = f"{payer}, {customer}, upper({_cell(part, layout, 'currency')})"
    cost = _cost(part, layout)

    def sums(*, by_one_thread: bool) -> Sums:
        lines = _file(part, layout, limits, by_one_thread=by_one_thread)
        return _added_up(db, whose, cost, lines + where)

    try:
        try:
            return sums(by_one_thread=part.form == "csv.gz")
        except duckdb.NotSupportedError:
            return sums(by_one_thread=True)
    except UNREADABLE:
        raise UnreadableBySecondReader(part.name) from None


def _added_up(db: duckdb.DuckDBPyConnection, whose: str, cost: str, lines: str) -> Sums:
    """Where a sum outgrows a decimal on its way, whole units and the rest are summed apart."""

    def sums(of_costs: str) -> Sums:
        asked = f"SELECT {whose}, {of_costs}, count(*) FROM {lines} GROUP BY ALL"  # noqa: S608
        return _read(db.execute(asked).fetchall())

    try:
        return sums(f"sum({cost}), 0")
    except duckdb.OutOfRangeException:
        return sums(f"sum(trunc({cost})), sum({cost} - trunc({cost}))")


def _file(part: Part, layout: Layout, limits: Limits, *, by_one_thread: bool) -> str:
    """Of some long files its threads cannot tell where one of them left off, and it refuses them.
    Several gain little where one of them has to unpack.
    """
    if part.form == "parquet":
        return f"read_parquet({_quoted(str(part.path))})"
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(layout.width))
    nulls = ", ".join(map(_quoted, NULLS))
    return (
        f"read_csv({_quoted(str(part.path))}, columns = {{{columns}}}, nullstr = [{nulls}], "
        f"compression = '{'gzip' if part.form == 'csv.gz' else 'none'}', header = false, skip = 1, "
        "auto_detect = false, delim = ',', quote = '\"', escape = '\"', strict_mode = false, "
        f"null_padding = false, max_line_size = {limits.line_bytes_max}, "
        f"parallel = {'false' if by_one_thread else 'true'})"
    )


def _cell(part: Part, layout: Layout, field: str) -> str:
    if part.form == "parquet":
        return '"' + layout.names[field].replace('"', '""') + '"'
    return f"c{layout.at[field]}"


def _cleaned(part: Part, layout: Layout, field: str) -> str:
    """Ids as we know them: never null, and without the path that some vendors put before them."""
    if field not in layout.at:
        return "''"
    cell = f"coalesce({_cell(part, layout, field)}, '')"
    if layout.format.columns[field].clean is None:
        return cell
    path = "^/(subscriptions|providers/microsoft\\.billing/billingaccounts)/([^/]*).*$"
    return f"regexp_replace({cell}, '{path}', '\\2', 'i')"


def _cost(part: Part, layout: Layout) -> str:
    cell = _cell(part, layout, "cost")
    if part.form == "parquet" and _is_double(part, layout):
        # printed to ten decimals first, which gives back what the vendor printed
        return f"CAST(format('{{:.10f}}', {cell}) AS DECIMAL(38, 22))"
    return f"CAST({cell} AS DECIMAL(38, 22))"


def _is_double(part: Part, layout: Layout) -> bool:
    kind = pq.read_schema(part.path).field(layout.at["cost"]).type
    return bool(pa.types.is_floating(kind))


def _read(rows: Sequence[tuple[object, ...]]) -> Sums:
    return {
        Whose(str(payer), str(customer), str(currency)): Sum(
            EXACT.add(Decimal(str(cost)), Decimal(str(rest))), int(str(lines))
        )
        for payer, customer, currency, cost, rest, lines in rows
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def second_program() -> Iterator[duckdb.DuckDBPyConnection]:
    threads = min(os.cpu_count() or 1, THREADS_MAX)
    with duckdb.connect(":memory:") as db:
        db.execute(f"SET memory_limit = '{MEMORY_MAX}'; SET threads = {threads}")
        db.execute("SET autoinstall_known_extensions = false")
        yield db
