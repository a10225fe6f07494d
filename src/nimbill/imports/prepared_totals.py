"""Totals of the sums of an import, as they are compared and reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from nimbill.foundation.money import add_decimals

VERIFIED_COLUMNS = ("payer_id", "customer_id", "currency", "kind")


def write_tag_sums(batches: Iterator[Any], path: Path) -> list[dict[str, Any]]:
    """Return the totals of what is written; there is a row per tag value, maybe very many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nimbill.costs.parquet_output import open_parquet_output

    first = next(batches, None)
    if first is None:
        first = pa.record_batch({"payer_id": pa.nulls(0, pa.string())})
    totals: dict[tuple[str, ...], dict[str, Any]] = {}
    with open_parquet_output(path) as file, pq.ParquetWriter(file, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
            if len(batch):
                _add_totals(totals, batch)
    return format_totals(list(totals.values()), VERIFIED_COLUMNS)


def write_tagged_sums(
    engine: Any, files: Sequence[str], keys: Sequence[str], folder: Path
) -> list[str]:
    """Write the sums by these tag keys, and nothing without keys; return the keys.

    A line counts once, so that the totals are those of the lines.
    """
    if not keys:
        return []
    from nimbill.costs.lake.sums import TaggedSums
    from nimbill.costs.lake.tagged_batches import combine_tags

    batches = engine.batches(TaggedSums(keys), files)
    write_tag_sums(combine_tags(batches, keys), folder / "tagged_sums.parquet")
    return list(keys)


def _add_totals(totals: dict[tuple[str, ...], dict[str, Any]], batch: Any) -> None:
    """A line counts once for each of its tags, so that a total may exceed that of the lines."""
    import pyarrow as pa

    from nimbill.costs.lake.decimal_overflow import WIDE_MONEY

    table = pa.Table.from_batches([batch]).select([*VERIFIED_COLUMNS, "cost", "lines"])
    wide = table.set_column(len(VERIFIED_COLUMNS), "cost", table["cost"].cast(WIDE_MONEY))
    for row in _group(wide, VERIFIED_COLUMNS):
        key = tuple(row[name] for name in VERIFIED_COLUMNS)
        total = totals.setdefault(key, {**row, "cost": Decimal(0), "lines": 0})
        total["cost"] = add_decimals(total["cost"], row["cost"])
        total["lines"] += row["lines"]


def add_up(sums: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    rows = _group(sums, columns)
    return format_totals(sorted(rows, key=lambda row: [row[name] for name in columns]), columns)


def _group(sums: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    grouped = sums.group_by(list(columns)).aggregate([("cost", "sum"), ("lines", "sum")])
    return [
        {
            **{name: row[name] for name in columns},
            "cost": row["cost_sum"],
            "lines": row["lines_sum"],
        }
        for row in grouped.to_pylist()
    ]


def format_totals(totals: Sequence[dict[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Costs are written as text, so that no digit is lost in JSON."""
    return [
        {
            **{name: total[name] for name in columns},
            "cost": f"{total['cost']:f}",
            "lines": total["lines"],
        }
        for total in totals
    ]
