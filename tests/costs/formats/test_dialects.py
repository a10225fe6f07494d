"""A month has the same sums in every dialect, file format, split and order of lines."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.demo.vendor_files.charges import SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from tests.costs.delivery_reader import DeliveryResult, read_delivery, sum_costs_by_line_type

FILE_FORMATS = ("csv", "csv.gz", "csv.zip", "parquet")


def write_and_read(
    month: SyntheticMonth, dialect: Dialect, folder: Path, **options: Any
) -> DeliveryResult:
    files = write_files(month, dialect, folder / "files", **options)
    return read_delivery(files.parts, folder, vendor=month.vendor)


@pytest.mark.parametrize("file_format", FILE_FORMATS)
@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_in_every_file_format_has_the_same_sums(
    tmp_path: Path, dialect: Dialect, file_format: str
) -> None:
    for vendor in dialect.vendors:
        month = SyntheticMonth(vendor=vendor, lines=400, seed=7)

        result = write_and_read(month, dialect, tmp_path / vendor, file_format=file_format)

        assert result.sums("customer_id", "line_type") == sum_costs_by_line_type(month, dialect)
        assert result.differences == []
        assert result.conversion.month == "2026-09"
        assert {row["payer_id"] for row in result.rows} == {month.payer_id}


@pytest.mark.parametrize("dialect", [Dialect.aws_cur_snake, Dialect.azure_ea, Dialect.focus_1_2])
def test_doubles_are_restored_to_the_printed_amounts(tmp_path: Path, dialect: Dialect) -> None:
    month = SyntheticMonth(vendor=dialect.vendors[0], lines=2_000, seed=3)

    result = write_and_read(month, dialect, tmp_path, file_format="parquet", cost_type="double")

    assert sum(result.sums("kind").values(), Decimal(0)) == sum(
        sum_costs(month).values(), Decimal(0)
    )
    assert result.differences == []


@settings(max_examples=12)
@given(st.data())
def test_any_split_and_any_order_gives_the_same_sums(data: st.DataObject) -> None:
    """Takes more than 5 s: every example writes and reads a delivery twice."""
    dialect = data.draw(st.sampled_from(list(Dialect)))
    month = SyntheticMonth(vendor=dialect.vendors[0], lines=300, seed=data.draw(st.integers(0, 99)))
    cuts = sorted(data.draw(st.lists(st.integers(0, 300), max_size=5)))
    parts = [after - before for before, after in zip([0, *cuts], [*cuts, 300], strict=True)]
    options = {
        "file_format": data.draw(st.sampled_from(FILE_FORMATS)),
        "parts": [size for size in parts if size],
        "shuffle_seed": data.draw(st.none() | st.integers(0, 9)),
    }
    with TemporaryDirectory() as folder:
        result = write_and_read(month, dialect, Path(folder), **options)

        assert result.sums("customer_id", "line_type") == sum_costs_by_line_type(month, dialect)
        assert result.differences == []


def test_tags_and_services_are_the_same_in_every_dialect_of_a_vendor(tmp_path: Path) -> None:
    month = SyntheticMonth(lines=500, seed=11)
    lines = []
    for dialect in (Dialect.aws_cur, Dialect.aws_cur2):
        result = write_and_read(month, dialect, tmp_path / dialect)
        lines.append(
            sorted(
                (str(row["cost"]), row["service"], tuple(sorted(dict(row["tags"]).items())))
                for row in result.rows
            )
        )

    assert lines[0] == lines[1]
