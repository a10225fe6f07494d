"""A delivery read as an import reads it, down to sums that tests can look at."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.ingestion.conversion import Converted, convert
from nimbill.costs.ingestion.delivery import Limits, deliver
from nimbill.costs.ingestion.second_reading import SumDifference, differences, sums_of_lines
from nimbill.costs.ingestion.second_reading_process import SecondReading

LIMITS = Limits()


class Read:
    """What came out of a delivery."""

    def __init__(self, converted: Converted, wrong: list[SumDifference]) -> None:
        self.converted = converted
        self.wrong = wrong  # as the independent check sees it
        tables = [pq.read_table(file.path) for file in converted.files]
        self.lines = pa.concat_tables(tables) if tables else SCHEMA.empty_table()

    @property
    def rows(self) -> list[dict[str, Any]]:
        return cast("list[dict[str, Any]]", self.lines.to_pylist())

    def sums(self, *by: str) -> dict[Any, Decimal]:
        """Exact costs by these columns; one column's values stand by themselves."""
        added = self.lines.group_by(list(by)).aggregate([("cost", "sum")]).to_pylist()
        return {
            row[by[0]] if len(by) == 1 else tuple(row[name] for name in by): row["cost_sum"]
            for row in added
        }


def read_delivery(
    sources: Sequence[Path | str], folder: Path, *, vendor: str, month: str | None = None
) -> Read:
    spool = folder / "spool"
    spool.mkdir(parents=True, exist_ok=True)
    delivery = deliver(
        [str(source) for source in sources],
        spool=spool,
        month=month,
        limits=LIMITS,
        tell=lambda _: None,
    )
    into = folder / "lines"
    with SecondReading(delivery, vendor=vendor, limits=LIMITS) as second:
        converted = convert(delivery, vendor=vendor, month=month, into=into, limits=LIMITS)
        delivered = second.sums(lambda _: None)
    stored = sums_of_lines([file.path for file in converted.files])
    return Read(converted, differences(delivered, stored))
