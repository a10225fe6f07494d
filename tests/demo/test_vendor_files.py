"""Generated vendor files are reproducible; every dialect, format and split has the same costs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Limits
from nimbill.demo.vendor_files.charges import (
    BLOCK_LINES,
    ONE_OFF_KINDS,
    ChargeKind,
    SyntheticMonth,
    sum_costs,
)
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from tests.costs.delivery_reader import sum_costs_by_line_type

COST_COLUMNS = {
    "lineItem/UnblendedCost",
    "line_item_unblended_cost",
    "Cost",
    "costInBillingCurrency",
    "BilledCost",
}
ASSEMBLED_AT = datetime(2026, 10, 3, 4, 5, 6, tzinfo=UTC)
DIALECTS_AND_VENDORS = [(dialect, vendor) for dialect in Dialect for vendor in dialect.vendors]


def build_month(vendor: str, lines: int = 500, seed: int = 1) -> SyntheticMonth:
    return SyntheticMonth(vendor=vendor, lines=lines, seed=seed)


def read_text(path: Path) -> str:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0]).decode()
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def read_rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True))


def sum_files(paths: tuple[Path, ...]) -> Fraction:
    rows = [row for path in paths for row in read_rows(path)]
    (column,) = COST_COLUMNS & set(rows[0])
    return sum((Fraction(row[column]) for row in rows), Fraction(0))


def sum_month(month: SyntheticMonth) -> Fraction:
    return sum((Fraction(cost) for cost in sum_costs(month).values()), Fraction(0))


@pytest.mark.parametrize(("dialect", "vendor"), DIALECTS_AND_VENDORS)
def test_every_dialect_has_the_same_total(tmp_path: Path, dialect: Dialect, vendor: str) -> None:
    month = build_month(vendor)

    files = write_files(month, dialect, tmp_path, file_format="csv", parts=3)

    assert sum_files(files.parts) == sum_month(month) == sum_month(build_month("aws"))
    assert sum(len(read_rows(path)) for path in files.parts) == 500
    totals = sum_costs_by_line_type(month, dialect)
    assert sum(map(Fraction, totals.values()), Fraction(0)) == sum_month(month)


@pytest.mark.parametrize(
    ("version", "columns"), [("focus_1_0", 43), ("focus_1_1", 50), ("focus_1_2", 57)]
)
def test_focus_has_the_columns_of_its_version(tmp_path: Path, version: str, columns: int) -> None:
    month = build_month("aws", 1)

    (path,) = write_files(month, Dialect(version), tmp_path, file_format="csv").parts

    assert len(read_rows(path)[0]) == columns


def test_every_file_format_has_the_same_lines(tmp_path: Path) -> None:
    month = build_month("aws", 200)
    texts = {
        file_format: read_text(
            write_files(month, Dialect.aws_cur, tmp_path, file_format=file_format).parts[0]
        )
        for file_format in ("csv", "csv.gz", "csv.zip")
    }
    (parquet,) = write_files(month, Dialect.aws_cur_snake, tmp_path, file_format="parquet").parts

    assert len(set(texts.values())) == 1
    table = pq.read_table(parquet)
    assert table.num_rows == 200
    assert table["line_item_unblended_cost"].to_pylist() == [
        Decimal(row["lineItem/UnblendedCost"]) for row in read_rows(tmp_path / "report-00001.csv")
    ]


def test_double_costs_are_the_nearest_to_the_exact_costs(tmp_path: Path) -> None:
    month = build_month("aws", 2_000)
    exact, rounded = (
        pq.read_table(
            write_files(
                month,
                Dialect.aws_cur_snake,
                tmp_path / cost_type,
                file_format="parquet",
                cost_type=cost_type,
            ).parts[0]
        )
        for cost_type in ("decimal", "double")
    )

    column = "line_item_unblended_cost"
    assert rounded[column].to_pylist() == [float(cost) for cost in exact[column].to_pylist()]


def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    texts = [
        read_text(write_files(build_month("aws", seed=seed), Dialect.aws_cur, tmp_path).parts[0])
        for seed in (4, 4, 5)
    ]

    assert texts[0] == texts[1] != texts[2]


def test_a_longer_month_starts_like_a_shorter_one(tmp_path: Path) -> None:
    short, long = (
        read_text(write_files(build_month("aws", lines), Dialect.aws_cur, tmp_path).parts[0])
        for lines in (100, 700)
    )

    assert long.startswith(short)


def test_parts_have_the_requested_sizes_and_add_up_to_the_month(tmp_path: Path) -> None:
    month = build_month("aws", 100)
    (single,) = write_files(month, Dialect.aws_cur, tmp_path / "a").parts

    parts = write_files(month, Dialect.aws_cur, tmp_path / "b", parts=[0, 99, 1]).parts

    assert [len(read_rows(part)) for part in parts] == [0, 99, 1]
    assert [row for part in parts for row in read_rows(part)] == read_rows(single)


def test_shuffling_keeps_the_lines(tmp_path: Path) -> None:
    month = build_month("aws", 300)
    ordered, shuffled = (
        read_rows(write_files(month, Dialect.aws_cur, tmp_path, shuffle_seed=seed).parts[0])
        for seed in (None, 7)
    )

    def line_id(row: dict[str, str]) -> str:
        return row["identity/LineItemId"]

    assert ordered != shuffled
    assert sorted(ordered, key=line_id) == sorted(shuffled, key=line_id)


def test_each_customer_has_every_one_off_kind_and_negations_cancel_out() -> None:
    month = build_month("aws", BLOCK_LINES + 5_000)
    costs = sum_costs(month)

    for customer in month.customer_ids:
        assert all(costs[customer, kind] for kind in ONE_OFF_KINDS)
        assert costs[customer, ChargeKind.reserved_usage] == 0
        negation = costs[customer, ChargeKind.savings_plan_negation]
        assert costs[customer, ChargeKind.savings_plan_usage] == -negation
    assert sum(costs.values()) > 0


def test_customers_and_payer_can_be_chosen(tmp_path: Path) -> None:
    month = SyntheticMonth(
        lines=80, payer="999999999999", customers=("111111111111", "222222222222")
    )

    rows = read_rows(write_files(month, Dialect.aws_cur, tmp_path).parts[0])

    assert {row["bill/PayerAccountId"] for row in rows} == {"999999999999"}
    assert {row["lineItem/UsageAccountId"] for row in rows} == set(month.customers)


@pytest.mark.parametrize(("dialect", "vendor"), DIALECTS_AND_VENDORS)
def test_the_import_reads_the_manifests(tmp_path: Path, dialect: Dialect, vendor: str) -> None:
    month = build_month(vendor, 50)
    files = write_files(month, dialect, tmp_path / "files", parts=2, assembled_at=ASSEMBLED_AT)
    (tmp_path / "spool").mkdir()

    delivery = fetch_delivery(
        [str(tmp_path / "files")],
        spool=tmp_path / "spool",
        month=None,
        limits=Limits(),
        notify=lambda _: None,
    )

    assert files.manifest is not None
    assert json.loads(files.manifest.read_text())
    assert [part.path for part in delivery.parts] == list(files.parts)
    assert (delivery.month, delivery.assembled_at) == ("2026-09", ASSEMBLED_AT)
    assert delivery.assembly is not None
