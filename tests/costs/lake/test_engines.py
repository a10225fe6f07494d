"""Selection of the engine, DuckDB over folders and object stores, and decimal overflow."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake import sums
from nimbill.costs.lake.decimal_overflow import (
    WIDE_MONEY,
    build_lines_table,
    may_overflow,
    merge_split_sums,
)
from nimbill.costs.lake.engine_selection import open_engine
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.costs.lake.engines.engine import EngineError
from nimbill.costs.lake.engines.spark import read_lines, select_columns
from nimbill.costs.lake.parquet_files import Lake
from nimbill.foundation.settings import read_settings
from tests.costs.delivery_reader import read_delivery
from tests.costs.generated_months import (
    LARGEST_UNITS,
    Line,
    amount_of_units,
    build_line,
    compute_monthly_sums,
    compute_tag_sums,
    generate_month,
    parse_sums,
    write_month,
)
from tests.costs.object_store_server import ObjectStore
from tests.imports.aws_reports import report_line, write_report


def run_queries(lake: Lake, lines: list[Line], folder: Path) -> list[pa.Table]:
    names = lake.put(write_month(lines, folder / "spool"), folder="org/aws/2026-09/imp")
    engine = DuckDBEngine(lake, scratch=folder / "scratch")
    try:
        return [engine.run(query, names) for query in (sums.monthly_sums, sums.tag_sums)]
    finally:
        engine.close()


@pytest.mark.usefixtures("store_credentials")
@pytest.mark.parametrize("largest", [10**30, LARGEST_UNITS])
def test_sums_over_an_object_store_are_exact(
    store: ObjectStore, tmp_path: Path, largest: int
) -> None:
    lines = generate_month(21, 400, largest=largest)
    bucket = store.bucket(f"sums-{len(str(largest))}")

    monthly, tags = run_queries(Lake(store.address(bucket)), lines, tmp_path)

    assert parse_sums(monthly) == compute_monthly_sums(lines)
    assert parse_sums(tags) == compute_tag_sums(lines)


def test_the_folder_name_may_contain_special_characters(tmp_path: Path) -> None:
    lines = generate_month(22, 50)

    monthly, _ = run_queries(Lake(str(tmp_path / "it's a [lake]*?")), lines, tmp_path)

    assert parse_sums(monthly) == compute_monthly_sums(lines)


def test_sums_that_exceed_the_memory_limit_are_exact(tmp_path: Path) -> None:
    lines = [build_line(line=number, service=f"service {number}" * 120) for number in range(10_000)]
    lake = Lake(str(tmp_path / "lake"))
    names = lake.put(write_month(lines, tmp_path / "spool"), folder="org/aws/2026-09/imp")
    engine = DuckDBEngine(lake, scratch=tmp_path / "scratch", memory="24MB")

    monthly = engine.run(sums.monthly_sums, names)

    assert parse_sums(monthly) == compute_monthly_sums(lines)
    engine._connection.execute("SET max_temp_directory_size = '0KB'")
    with pytest.raises(duckdb.OutOfMemoryException):
        engine.run(sums.monthly_sums, names)
    engine.close()


def test_the_scratch_folder_is_empty_afterwards(tmp_path: Path) -> None:
    run_queries(Lake(str(tmp_path / "lake")), [build_line()], tmp_path)

    assert list((tmp_path / "scratch").iterdir()) == []


def test_no_extensions_are_downloaded(tmp_path: Path) -> None:
    engine = DuckDBEngine(Lake(str(tmp_path)), scratch=tmp_path / "scratch")

    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        (value,) = engine._connection.execute(
            "SELECT value FROM duckdb_settings() WHERE name = ?", [setting]
        ).fetchall()[0]
        assert value == "false", setting
    engine.close()


def test_duckdb_is_the_default_engine(tmp_path: Path) -> None:
    settings = read_settings({"NIMBILL_DATA": str(tmp_path)})

    with open_engine(settings, Lake(settings.lake_url)) as engine:
        assert isinstance(engine, DuckDBEngine)


def test_spark_without_its_extra_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as if it were not installed
    environment = {"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": "spark://127.0.0.1:7077"}
    settings = read_settings({"NIMBILL_DATA": str(tmp_path), **environment})

    with (
        pytest.raises(EngineError, match=r"nimbill\[spark\]"),
        open_engine(settings, Lake(settings.lake_url)),
    ):
        pass


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("monthly_sums", {"cost", "usage_start", "service"}),
        ("tag_sums", {"cost", "tags"}),
        ("reservation_lines", {"reservation_id", "reservation_start"}),
    ],
)
def test_workers_read_the_columns_that_a_query_names(query: str, needed: set[str]) -> None:
    columns = set(select_columns(getattr(sums, query)(build_lines_table(split=False))).names)

    assert needed <= columns < set(SCHEMA.names)


def test_workers_read_the_files_that_a_task_names(tmp_path: Path) -> None:
    lines = [build_line(line=number, service=f"service {number}") for number in range(4)]
    lake = Lake(str(tmp_path / "lake"))
    names = lake.put(write_month(lines, tmp_path / "spool"), folder="org/aws/2026-09/imp")
    all_of, one_of = [0, 1], [1]

    def read(numbers: list[int]) -> pa.Table:
        tasks = iter([pa.record_batch({"id": numbers})])
        return pa.Table.from_batches(read_lines(lake.url, names, ["line", "service"], tasks))

    assert read(all_of).column_names == ["line", "service"]
    assert sorted(read(all_of)["line"].to_pylist()) == [0, 1, 2, 3]
    assert len(read(one_of)) == 2


# ── decimal overflow ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("costs", "overflows"),
    [
        ([], False),
        ([1, -1, 10**30], False),
        ([5 * 10**37 - 1, 0], False),  # twice that is just below 10^16 units
        ([5 * 10**37, 0], True),
        ([-5 * 10**37, 0], True),
        ([LARGEST_UNITS], False),
        ([LARGEST_UNITS, 1], True),
    ],
)
def test_file_statistics_show_whether_a_sum_may_overflow(
    tmp_path: Path, costs: list[int], overflows: bool
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    files = write_month([build_line(cost=amount_of_units(cost)) for cost in costs], tmp_path)

    assert may_overflow(lake.read_metadata(lake.put(files, folder="org"))) == overflows


def test_split_sums_are_merged() -> None:
    plain = pa.table({"cost": pa.array([1], pa.decimal128(38, 22))})
    split = plain.append_column("cost_whole", pa.array([10**20], pa.decimal128(38, 0)))

    assert merge_split_sums(plain) == plain
    assert merge_split_sums(split).schema.field("cost").type == WIDE_MONEY
    assert merge_split_sums(split)["cost"].to_pylist() == [10**20 + 1]


def test_converted_files_have_the_statistics_that_avoid_split_sums(tmp_path: Path) -> None:
    """Without statistics of the costs every sum would be split."""
    result = read_delivery(
        [write_report(tmp_path / "report.csv", [report_line("1.5")])], tmp_path, vendor="aws"
    )
    lake = Lake(str(tmp_path / "lake"))
    names = lake.put([file.path for file in result.conversion.files], folder="org")

    assert not may_overflow(lake.read_metadata(names))
