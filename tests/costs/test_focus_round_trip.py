"""Real files in, out as FOCUS, and in again: the same sums."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.focus_export import write_focus
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CountingFile
from tests.costs.reading import Read, read_delivery

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

BY = (
    "payer_id",
    "customer_id",
    "line_type",
    "kind",
    "entry_type",
    "service",
    "marketplace",
    "billing_entity",
    "invoice_id",
    "usage_start",
    "reservation_id",
    "savings_plan_id",
    "currency",
)


def tags_of(read: Read) -> dict[tuple[str, str], Decimal]:
    sums: dict[tuple[str, str], Decimal] = {}
    for row in read.rows:
        for pair in row["tags"]:
            sums[pair] = sums.get(pair, Decimal(0)) + row["cost"]
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
def test_import_export_import_gives_the_same_sums(tmp_path: Path, source: str, vendor: str) -> None:
    first = read_delivery([DATA / source], tmp_path / "first", vendor=vendor)
    month, lake = first.converted.month, Lake(str(tmp_path / "lake"))
    assert month is not None
    names = lake.put([file.path for file in first.converted.files], under="org")
    payers = frozenset(row["payer_id"] for row in first.rows)
    files = [CountingFile(vendor, name, payers) for name in names]

    lines = write_focus(lake, files, month, tmp_path / "out.parquet")
    again = read_delivery([tmp_path / "out.parquet"], tmp_path / "again", vendor=vendor)

    assert lines == first.converted.lines == again.converted.lines > 0
    assert again.converted.month == month
    assert again.wrong == []
    assert not differing(first.sums(*BY), again.sums(*BY))
    assert tags_of(again) == tags_of(first)


def differing(first: dict[Any, Decimal], again: dict[Any, Decimal]) -> list[Any]:
    return [
        (key, first.get(key), again.get(key))
        for key in first.keys() | again.keys()
        if first.get(key) != again.get(key)
    ]
