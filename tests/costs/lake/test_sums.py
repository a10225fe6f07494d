"""Sums of every engine equal the sums computed in Python, digit for digit.

`make test` uses DuckDB only; `make test-cluster` runs this file with a Spark cluster as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nimbill.costs.lake import sums
from nimbill.costs.lake.engine_selection import open_engine
from nimbill.costs.lake.engines.engine import Engine
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import read_settings
from tests.costs.delivery_reader import read_delivery
from tests.costs.generated_months import (
    LARGEST_UNITS,
    REFERENCE_SUMS,
    Line,
    amount_of_units,
    build_line,
    generate_month,
    parse_sums,
    write_month,
)
from tests.imports.aws_reports import report_line, write_report

MASTER = os.environ.get("NIMBILL_SPARK_MASTER")
ENGINES = ("duckdb", "spark") if MASTER else ("duckdb",)
QUERIES = ("monthly_sums", "tag_sums", "entry_lines", "reservation_lines")


class EngineBench:
    """An engine with a lake of its own."""

    def __init__(self, engine: Engine, lake: Lake, spool: Path) -> None:
        self._engine, self._lake, self._spool = engine, lake, spool

    def store_lines(self, lines: list[Line], files: int = 2) -> list[str]:
        return self.store_files(write_month(lines, self._spool / new_id("spool"), files=files))

    def store_files(self, files: Sequence[Path]) -> list[str]:
        import_id = new_id("imp")
        folder = import_folder("org", vendor="aws", month="2026-09", import_id=import_id)
        return self._lake.put(files, folder=folder)

    def run(self, query: str, files: list[str]) -> pa.Table:
        return self._engine.run(getattr(sums, query), files)

    def run_tagged(self, keys: Sequence[str], files: list[str]) -> pa.Table:
        return self._engine.run(sums.TaggedSums(keys), files)

    def run_in_batches(self, query: str, files: list[str]) -> pa.Table:
        return pa.Table.from_batches(self._engine.batches(getattr(sums, query), files))


@pytest.fixture(scope="module", params=ENGINES)
def bench(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineBench]:
    data = Path(os.environ.get("NIMBILL_SHARED_FOLDER") or tmp_path_factory.mktemp("shared"))
    settings = read_settings(
        {
            "NIMBILL_DATA": str(data),
            "NIMBILL_ENGINE": request.param,
            "NIMBILL_SPARK_MASTER": MASTER or "",
        }
    )
    lake = Lake(settings.lake_url)
    with open_engine(settings, lake) as engine:
        yield EngineBench(engine, lake, data)


def test_the_requested_engine_is_used(bench: EngineBench, request: Any) -> None:
    name = type(bench._engine).__name__.lower()

    assert name == f"{request.node.callspec.params['bench']}engine"


@pytest.mark.parametrize("query", REFERENCE_SUMS)
@pytest.mark.parametrize("seed", range(6))
def test_sums_of_random_months_are_exact(bench: EngineBench, query: str, seed: int) -> None:
    lines = generate_month(seed, 700)
    compute_sums, amount = REFERENCE_SUMS[query]

    result = bench.run(query, bench.store_lines(lines, files=seed % 3 + 1))

    assert parse_sums(result, amount) == compute_sums(lines)


@pytest.mark.parametrize("query", REFERENCE_SUMS)
@pytest.mark.parametrize("seed", range(100, 103))
def test_sums_that_overflow_a_decimal_are_exact(bench: EngineBench, query: str, seed: int) -> None:
    lines = generate_month(seed, 700, largest=LARGEST_UNITS)
    compute_sums, amount = REFERENCE_SUMS[query]

    result = bench.run(query, bench.store_lines(lines))

    assert parse_sums(result, amount) == compute_sums(lines)


def test_a_thousand_times_the_largest_cost_is_exact(bench: EngineBench) -> None:
    lines = [build_line(cost=amount_of_units(LARGEST_UNITS)) for _ in range(1000)]

    result = bench.run("monthly_sums", bench.store_lines(lines))

    assert result["cost"].to_pylist() == [Decimal("9999999999999999999.9999999999999999999000")]


def test_costs_that_cancel_out_sum_to_zero(bench: EngineBench) -> None:
    lines = [
        build_line(cost=amount_of_units(units * sign))
        for units in (LARGEST_UNITS, 1, 7)
        for sign in (1, -1)
    ]

    result = bench.run("monthly_sums", bench.store_lines(lines))

    assert result["cost"].to_pylist() == [Decimal(0)]


def test_the_smallest_amount_is_not_lost_beside_the_largest(bench: EngineBench) -> None:
    lines = [
        build_line(cost=amount_of_units(10**37)),
        build_line(cost=amount_of_units(1)),
        build_line(cost=amount_of_units(-(10**37))),
    ]

    result = bench.run("monthly_sums", bench.store_lines(lines, files=1))

    assert result["cost"].to_pylist() == [Decimal("1E-22")]


@pytest.mark.parametrize("query", QUERIES)
def test_a_month_without_files_has_no_sums(bench: EngineBench, query: str) -> None:
    assert bench.run(query, []).num_rows == 0


@pytest.mark.parametrize("query", QUERIES)
def test_a_month_with_empty_files_has_no_sums(bench: EngineBench, query: str) -> None:
    assert bench.run(query, bench.store_lines([])).num_rows == 0


@pytest.mark.parametrize("query", QUERIES)
def test_batches_contain_the_complete_result(bench: EngineBench, query: str) -> None:
    files = bench.store_lines(generate_month(7, 500))

    complete, batched = bench.run(query, files), bench.run_in_batches(query, files)

    assert batched.column_names == complete.column_names
    assert sorted(map(repr, batched.to_pylist())) == sorted(map(repr, complete.to_pylist()))


def test_the_day_is_the_day_in_utc(bench: EngineBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    last = build_line()["usage_start"].replace(hour=23, minute=59, second=59, microsecond=999_999)

    result = bench.run("monthly_sums", bench.store_lines([build_line(usage_start=last)]))

    assert [str(day) for day in result["day"].to_pylist()] == ["2026-09-01"]


def test_tag_keys_are_case_sensitive(bench: EngineBench) -> None:
    lines = [build_line(tags=[("user:Team", "a")]), build_line(tags=[("user:team", "a")])]

    result = bench.run("tag_sums", bench.store_lines(lines))

    assert sorted(result["tag_key"].to_pylist()) == ["user:Team", "user:team"]


def test_entry_lines_are_all_one_off_lines(bench: EngineBench) -> None:
    lines = generate_month(3, 400)
    entries = [line for line in lines if line["kind"] == "entry"]

    result = bench.run("entry_lines", bench.store_lines(lines))

    names = result.column_names
    assert sorted(map(_comparable, result.to_pylist())) == sorted(
        _comparable({name: entry[name] for name in names}) for entry in entries
    )


def _comparable(row: Line) -> str:
    """Normalise trailing zeros of amounts and time zones of times."""
    times = {name: row[name] and row[name].timestamp() for name in ("usage_start", "usage_end")}
    return repr(row | {"cost": Fraction(row["cost"])} | times)


def test_product_names_are_those_of_marketplace_lines(bench: EngineBench) -> None:
    bought = {"marketplace": True, "service": "7g7dki2h"}
    lines = [
        build_line(**bought, service_name="Wall"),
        build_line(**bought, service_name="Wall", line_type="Fee", kind="entry", entry_type="Fee"),
        build_line(**bought, service_name="Guard"),
        build_line(**bought, service_name=""),
        build_line(**bought, service_name=None),
        build_line(service_name="Amazon Elastic Compute Cloud"),
    ]

    result = bench.run("product_names", bench.store_lines(lines))

    assert sorted(result["name"].to_pylist()) == ["Guard", "Wall"]
    assert result.column_names == ["payer_id", "customer_id", "service", "name"]


def test_attributes_of_a_reservation_come_from_the_line_of_its_fee(bench: EngineBench) -> None:
    reserved = {"reservation_id": "arn:ri/1"}
    covered = build_line(
        **reserved, line_type="DiscountedUsage", usage_type="z", reservation_number=9
    )
    fee = build_line(**reserved, line_type="RIFee", usage_type="a", reservation_number=2)

    (row,) = bench.run("reservation_lines", bench.store_lines([covered, fee])).to_pylist()

    assert (row["usage_type"], row["number"], row["fee_lines"], row["lines"]) == (
        "a",
        2,
        1,
        2,
    )


def test_converted_lines_are_read_by_every_engine(bench: EngineBench, tmp_path: Path) -> None:
    lines = [
        report_line("0.0000000001"),
        report_line("2.5") | {"resourceTags/user:Team": "a"},
        report_line("-1"),
    ]
    result = read_delivery([write_report(tmp_path / "report.csv", lines)], tmp_path, vendor="aws")
    files = bench.store_files([file.path for file in result.conversion.files])

    (monthly,) = bench.run("monthly_sums", files).to_pylist()
    (tag,) = bench.run("tag_sums", files).to_pylist()

    assert (monthly["cost"], monthly["lines"]) == (Decimal("1.5000000001"), 3)
    assert (tag["tag_key"], tag["tag_value"], tag["cost"]) == ("Team", "a", Decimal("2.5"))


def test_accounts_that_only_use_a_reservation_pay_no_fee(bench: EngineBench) -> None:
    reserved = {"reservation_id": "arn:ri/1"}
    covered = build_line(**reserved, customer_id="1", line_type="DiscountedUsage", cost=Decimal(0))
    upfront = build_line(**reserved, line_type="Fee", kind="entry", entry_type="Fee")

    rows = bench.run("reservation_lines", bench.store_lines([covered, upfront])).to_pylist()

    assert {(row["customer_id"], row["fee"], row["fee_lines"]) for row in rows} == {
        ("1", Decimal(0), 0),
        ("011254002932", Decimal(0), 1),
    }
