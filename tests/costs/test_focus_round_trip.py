"""Importing, exporting as FOCUS and importing second gives the same sums."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from tests.costs.delivery_reader import DeliveryResult, read_delivery
from tests.costs.focus_rows import write_focus_file

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

COLUMNS = (
    "payer_id",
    "customer_id",
    "line_type",
    "kind",
    "entry_type",
    "service",
    "service_name",
    "marketplace",
    "billing_entity",
    "invoice_id",
    "usage_start",
    "reservation_id",
    "savings_plan_id",
    "currency",
)


def sum_by_tag(result: DeliveryResult) -> dict[tuple[str, str], Decimal]:
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    lines = result.lines.select(["tags", "cost"])
    for tags, cost in zip(lines["tags"].to_pylist(), lines["cost"].to_pylist(), strict=True):
        for tag in tags:
            sums[tag] += cost
    return sums


@pytest.mark.parametrize(
    ("source", "vendor"),
    [
        ("aws/wa-labs/Nov2018-WorkshopCUR-00001.snappy.parquet", "aws"),
        ("aws/nise", "aws"),
        ("aws/keboola/cur_2_0_sample_billing_data_v2.csv", "aws"),
        ("azure/ea/EA_ActualCost_Small.csv", "azure"),
        ("focus/focus_sample_1.0.csv", "aws"),
        ("focus/focus_sample_1.0.csv", "azure"),
    ],
)
def test_a_round_trip_gives_the_same_sums(tmp_path: Path, source: str, vendor: str) -> None:
    """The largest real file takes more than 5 s: it is read twice and written once."""
    first = read_delivery([DATA / source], tmp_path / "first", vendor=vendor)
    month, lake = first.conversion.month, Lake(str(tmp_path / "lake"))
    assert month is not None
    names = lake.put([file.path for file in first.conversion.files], folder="org")
    payers = frozenset(first.lines["payer_id"].unique().to_pylist())
    files = [CurrentLakeFile(vendor, name, payers) for name in names]

    lines = write_focus_file(lake, files, month, tmp_path / "out.parquet")
    second = read_delivery([tmp_path / "out.parquet"], tmp_path / "second", vendor=vendor)

    assert lines == first.conversion.lines == second.conversion.lines > 0
    assert second.conversion.month == month
    assert second.differences == []
    assert not find_differing_sums(first.sums(*COLUMNS), second.sums(*COLUMNS))
    assert sum_by_tag(second) == sum_by_tag(first)


def find_differing_sums(first: dict[Any, Decimal], second: dict[Any, Decimal]) -> list[Any]:
    return [
        (key, first.get(key), second.get(key))
        for key in first.keys() | second.keys()
        if first.get(key) != second.get(key)
    ]
