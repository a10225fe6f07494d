"""Detects sums that might overflow a decimal, and computes them in two parts.

A cost has 16 digits before and 22 digits after the decimal point, 38 in total, and a sum of costs
has no more in any engine. The statistics of the files tell, before any line is read, whether a sum
could overflow; this practically never happens. If it could, whole units and fractions are summed
separately and combined at the end.
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

LINES_TABLE = "cost_lines"
WHOLE_SUFFIX = "_whole"  # of the column with whole units
SUM_LIMIT = 10**16  # every sum and intermediate sum must be below
WIDE_MONEY = pa.decimal256(60, 22)


def may_overflow(files: Sequence[FileMetaData]) -> bool:
    """Assume the worst case: all lines have the same sign and the largest cost."""
    lines, largest = 0, Fraction(0)
    for file in files:
        lines += file.num_rows
        column = file.schema.names.index("cost") if file.num_row_groups else 0
        for number in range(file.num_row_groups):
            group = file.row_group(number)
            statistics = group.column(column).statistics
            if group.num_rows and (statistics is None or not statistics.has_min_max):
                return True
            if group.num_rows:
                largest = max(largest, abs(Fraction(statistics.min)), abs(Fraction(statistics.max)))
    return largest * lines >= SUM_LIMIT


def build_lines_table(*, split: bool) -> Table:
    """The table of cost lines under the name that the engines use; `split` splits the cost."""
    import ibis

    lines = ibis.table(ibis.Schema.from_pyarrow(SCHEMA), name=LINES_TABLE)
    return split_cost(lines) if split else lines


def split_cost(lines: Table) -> Table:
    """Split the cost into whole units, truncated towards zero, and the fraction."""
    cost = lines.cost
    # floor would give the most negative cost one digit too many, and negating a cost is unsafe
    # because Spark rounds the result to 34 digits
    whole = (cost < 0).ifelse(cost.ceil(), cost.floor())
    return lines.mutate(cost=lines.cost - whole, cost_whole=whole.cast("decimal(38, 0)"))


def merge_split_sums(sums: pa.Table) -> pa.Table:
    """Combine each pair of columns into one that is wide enough."""
    for whole in [name for name in sums.column_names if name.endswith(WHOLE_SUFFIX)]:
        name = whole.removesuffix(WHOLE_SUFFIX)
        total = pc.add(sums[whole].cast(WIDE_MONEY), sums[name].cast(WIDE_MONEY)).cast(WIDE_MONEY)
        sums = sums.set_column(sums.column_names.index(name), name, total).drop_columns([whole])
    return sums
