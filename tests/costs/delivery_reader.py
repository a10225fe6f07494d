"""Reads a delivery as an import does and returns lines and sums for assertions."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.ingestion.conversion import ConversionResult, convert_delivery
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.second_reading import (
    SecondReading,
    SumDifference,
    find_differences,
    sum_stored_lines,
)
from nimbill.demo.vendor_files.charges import SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.dialects import Dialect

LIMITS = Limits()


class DeliveryResult:
    def __init__(self, conversion: ConversionResult, differences: list[SumDifference]) -> None:
        self.conversion = conversion
        self.differences = differences  # between the delivery and the stored lines
        tables = [pq.read_table(file.path) for file in conversion.files]
        self.lines = pa.concat_tables(tables) if tables else SCHEMA.empty_table()

    @property
    def rows(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self.lines.to_pylist())

    def sums(self, *columns: str) -> dict[Any, Decimal]:
        """Return exact costs by these columns; the key is a tuple unless there is one column."""
        sums = self.lines.group_by(list(columns)).aggregate([("cost", "sum")]).to_pylist()
        return {
            row[columns[0]] if len(columns) == 1 else tuple(row[name] for name in columns): row[
                "cost_sum"
            ]
            for row in sums
        }


def read_delivery(
    sources: Sequence[Path | str], folder: Path, *, vendor: str, month: str | None = None
) -> DeliveryResult:
    spool = folder / "spool"
    spool.mkdir(parents=True, exist_ok=True)
    delivery = fetch_delivery(
        [str(source) for source in sources],
        spool=spool,
        month=month,
        limits=LIMITS,
        notify=lambda _: None,
    )
    with SecondReading(delivery, vendor=vendor, limits=LIMITS) as second_reading:
        conversion = convert_delivery(
            delivery, vendor=vendor, month=month, into=folder / "lines", limits=LIMITS
        )
        delivered = second_reading.sums(lambda _: None)
    stored = sum_stored_lines([file.path for file in conversion.files])
    return DeliveryResult(conversion, find_differences(delivered, stored))


def sum_costs_by_line_type(
    month: SyntheticMonth, dialect: Dialect
) -> dict[tuple[str, str], Decimal]:
    """Exact totals by customer and the dialect's line type."""
    totals: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for (customer, kind), cost in sum_costs(month).items():
        totals[customer, dialect.line_types[kind]] += cost
    return dict(totals)
