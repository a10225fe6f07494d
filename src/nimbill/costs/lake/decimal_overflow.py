"""Sums that outgrow a decimal: when they might, and how they are added up in two parts.

A cost has 16 digits before the point and 22 after it, 38 in all, and so has a sum of costs in every
engine. What the files themselves say of their smallest and largest cost tells, before anything is
read, whether a sum could ever need more. It practically never does. Where it could, whole units and
the rest are summed apart, each with room to spare, and put together at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import SCHEMA

if TYPE_CHECKING:
    from ibis.expr.types import Table
    from pyarrow.parquet import FileMetaData

LINES = "cost_lines"
WHOLE = "_whole"
ROOM = 10**16  # a sum must stay below it, on the way too
WIDE = pa.decimal256(60, 22)


def may_outgrow(files: Sequence[FileMetaData]) -> bool:
    """Whether all lines of one sign, each as large as the largest, would be too much."""
    lines, largest = 0, Fraction(0)
    for file in files:
        lines += file.num_rows
        column = file.schema.names.index("cost") if file.num_row_groups else 0
        for number in range(file.num_row_groups):
            group = file.row_group(number)
            known = group.column(column).statistics
            if group.num_rows and (known is None or not known.has_min_max):
                return True
            if group.num_rows:
                largest = max(largest, abs(Fraction(known.min)), abs(Fraction(known.max)))
    return largest * lines >= ROOM


def lines_to_ask(*, wide: bool) -> Table:
    """The lines to ask about, under the name by which an engine knows them."""
    import ibis

    lines = ibis.table(ibis.Schema.from_pyarrow(SCHEMA), name=LINES)
    return in_two_parts(lines) if wide else lines


def in_two_parts(lines: Table) -> Table:
    """The cost as whole units, cut off towards nothing, and the rest, smaller than one."""
    cost = lines.cost
    # rounded down, the most negative cost would have one digit too many; and a minus sign before
    # a cost is not safe either: Spark's rounds to 34 digits
    whole = (cost < 0).ifelse(cost.ceil(), cost.floor())
    return lines.mutate(cost=lines.cost - whole, cost_whole=whole.cast("decimal(38, 0)"))


def put_together(sums: pa.Table) -> pa.Table:
    """Each pair of columns as one, wide enough for both."""
    for whole in [name for name in sums.column_names if name.endswith(WHOLE)]:
        name = whole.removesuffix(WHOLE)
        both = pc.add(sums[whole].cast(WIDE), sums[name].cast(WIDE)).cast(WIDE)
        sums = sums.set_column(sums.column_names.index(name), name, both).drop_columns([whole])
    return sums
