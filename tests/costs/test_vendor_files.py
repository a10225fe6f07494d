"""Invented months: the same for the same seed, and the same money in every dialect and split."""

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

from nimbill.costs.ingestion.delivery import Limits, deliver
from nimbill.demo.vendor_files.months import BLOCK_LINES, ONCE
from nimbill.demo.vendor_files.writing import (
    Dialect,
    Kind,
    Month,
    costs_of,
    costs_told,
    write_files,
)

COST = {
    "lineItem/UnblendedCost",
    "line_item_unblended_cost",
    "Cost",
    "costInBillingCurrency",
    "BilledCost",
}
ASSEMBLED = datetime(2026, 10, 3, 4, 5, 6, tzinfo=UTC)
EACH = [(dialect, vendor) for dialect in Dialect for vendor in dialect.vendors]


def month_of(vendor: str, lines: int = 500, seed: int = 1) -> Month:
    return Month(vendor=vendor, lines=lines, seed=seed)  # type: ignore[arg-type]


def text_in(path: Path) -> str:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0]).decode()
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def rows_in(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_in(path), newline=""), strict=True))


def money_in(paths: tuple[Path, ...]) -> Fraction:
    rows = [row for path in paths for row in rows_in(path)]
    (column,) = COST & set(rows[0])
    return sum((Fraction(row[column]) for row in rows), Fraction(0))


def expected(month: Month) -> Fraction:
    return sum((Fraction(cost) for cost in costs_of(month).values()), Fraction(0))


@pytest.mark.parametrize(("dialect", "vendor"), EACH)
def test_every_dialect_tells_the_same_money(tmp_path: Path, dialect: Dialect, vendor: str) -> None:
    month = month_of(vendor)

    written = write_files(month, dialect, tmp_path, form="csv", parts=3)

    assert money_in(written.parts) == expected(month) == expected(month_of("aws"))
    assert sum(len(rows_in(path)) for path in written.parts) == 500
    told = costs_told(month, dialect)
    assert sum(map(Fraction, told.values()), Fraction(0)) == expected(month)


@pytest.mark.parametrize(
    ("version", "columns"), [("focus_1_0", 43), ("focus_1_1", 50), ("focus_1_2", 57)]
)
def test_focus_has_the_columns_of_its_version(tmp_path: Path, version: str, columns: int) -> None:
    (path,) = write_files(month_of("aws", 1), Dialect(version), tmp_path, form="csv").parts

    assert len(rows_in(path)[0]) == columns


def test_every_form_holds_the_same_lines(tmp_path: Path) -> None:
    month = month_of("aws", 200)
    texts = {
        form: text_in(write_files(month, Dialect.aws_cur, tmp_path, form=form).parts[0])
        for form in ("csv", "csv.gz", "csv.zip")
    }

    assert len(set(texts.values())) == 1
    (parquet,) = write_files(month, Dialect.aws_cur_snake, tmp_path, form="parquet").parts
    table = pq.read_table(parquet)
    assert table.num_rows == 200
    assert table["line_item_unblended_cost"].to_pylist() == [
        Decimal(row["lineItem/UnblendedCost"]) for row in rows_in(tmp_path / "report-00001.csv")
    ]


def test_doubles_are_those_nearest_to_the_costs(tmp_path: Path) -> None:
    how = {"dialect": Dialect.aws_cur_snake, "form": "parquet"}
    month = month_of("aws", 2_000)
    exact, near = (
        pq.read_table(write_files(month, folder=tmp_path / kind, numbers=kind, **how).parts[0])  # type: ignore[arg-type]
        for kind in ("decimal", "double")
    )

    column = "line_item_unblended_cost"
    assert near[column].to_pylist() == [float(cost) for cost in exact[column].to_pylist()]


def test_the_same_seed_makes_the_same_files(tmp_path: Path) -> None:
    texts = [
        text_in(write_files(month_of("aws", seed=seed), Dialect.aws_cur, tmp_path).parts[0])
        for seed in (4, 4, 5)
    ]

    assert texts[0] == texts[1] != texts[2]


def test_a_longer_month_begins_like_a_shorter_one(tmp_path: Path) -> None:
    short, long = (
        text_in(write_files(month_of("aws", lines), Dialect.aws_cur, tmp_path, form="csv").parts[0])
        for lines in (100, 700)
    )

    assert long.startswith(short)


def test_parts_are_of_the_sizes_asked_for_and_a_whole_month_together(tmp_path: Path) -> None:
    month = month_of("aws", 100)
    (whole,) = write_files(month, Dialect.aws_cur, tmp_path / "a").parts
    parts = write_files(month, Dialect.aws_cur, tmp_path / "b", parts=[0, 99, 1]).parts

    assert [len(rows_in(part)) for part in parts] == [0, 99, 1]
    assert [row for part in parts for row in rows_in(part)] == rows_in(whole)


def test_another_order_has_the_same_lines(tmp_path: Path) -> None:
    month = month_of("aws", 300)
    plain, shuffled = (
        rows_in(write_files(month, Dialect.aws_cur, tmp_path, order=order).parts[0])
        for order in (None, 7)
    )

    def by_id(row: dict[str, str]) -> str:
        return row["identity/LineItemId"]

    assert plain != shuffled
    assert sorted(plain, key=by_id) == sorted(shuffled, key=by_id)


def test_each_customer_is_charged_everything_once_and_pairs_cancel_out() -> None:
    month = month_of("aws", BLOCK_LINES + 5_000)
    costs = costs_of(month)

    for customer in month.customer_ids:
        assert all(costs[customer, kind] for kind in ONCE)
        assert costs[customer, Kind.covered] == 0
        assert costs[customer, Kind.planned] == -costs[customer, Kind.negation]
    assert sum(costs.values()) > 0


def test_customers_and_payer_may_be_given(tmp_path: Path) -> None:
    month = Month(lines=80, payer="999999999999", customers=("111111111111", "222222222222"))
    rows = rows_in(write_files(month, Dialect.aws_cur, tmp_path).parts[0])

    assert {row["bill/PayerAccountId"] for row in rows} == {"999999999999"}
    assert {row["lineItem/UsageAccountId"] for row in rows} == set(month.customers)


@pytest.mark.parametrize(("dialect", "vendor"), EACH)
def test_manifests_are_understood(tmp_path: Path, dialect: Dialect, vendor: str) -> None:
    month = month_of(vendor, 50)
    written = write_files(month, dialect, tmp_path / "files", parts=2, assembled_at=ASSEMBLED)
    (tmp_path / "spool").mkdir()

    delivery = deliver(
        [str(tmp_path / "files")],
        spool=tmp_path / "spool",
        month=None,
        limits=Limits(),
        tell=lambda _: None,
    )

    assert written.manifest is not None
    assert json.loads(written.manifest.read_text())
    assert [part.path for part in delivery.parts] == list(written.parts)
    assert (delivery.month, delivery.assembled_at) == ("2026-09", ASSEMBLED)
    assert delivery.assembly is not None
