"""Which engine is used, what it reads from, and what it leaves behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from nimbill.costs.lake import sums
from nimbill.costs.lake.decimal_overflow import WIDE, may_outgrow, put_together
from nimbill.costs.lake.engine_selection import open_engine
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.costs.lake.engines.engine import EngineError
from nimbill.costs.lake.parquet_files import Lake
from nimbill.foundation.settings import read_settings
from tests.costs.generated_months import (
    LARGEST,
    Line,
    as_sums,
    cost_of,
    line,
    month,
    monthly_sums_by_hand,
    tag_sums_by_hand,
    write_month,
)
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store
from tests.costs.reading import read_delivery
from tests.imports.small_files import cost, write


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with pytest.MonkeyPatch.context() as environment, object_store() as running:
        for name, value in CREDENTIALS.items():
            environment.setenv(name, value)
        yield running


def asked(lake: Lake, lines: list[Line], folder: Path, memory: str = "512MB") -> list[pa.Table]:
    names = lake.put(write_month(lines, folder / "spool"), under="org/aws/2026-09/imp")
    engine = DuckDBEngine(lake, scratch=folder / "scratch", memory=memory)
    try:
        return [engine.run(question, names) for question in (sums.monthly_sums, sums.tag_sums)]
    finally:
        engine.close()


@pytest.mark.parametrize("largest", [10**30, LARGEST])
def test_sums_over_an_object_store_are_those_made_by_hand(
    store: ObjectStore, tmp_path: Path, largest: int
) -> None:
    lines = month(21, 400, largest=largest)
    bucket = store.bucket(f"sums-{len(str(largest))}")

    monthly, tags = asked(Lake(store.address(bucket)), lines, tmp_path)

    assert as_sums(monthly) == monthly_sums_by_hand(lines)
    assert as_sums(tags) == tag_sums_by_hand(lines)


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    lines = month(22, 50)

    monthly, _ = asked(Lake(str(tmp_path / "it's a [lake]*?")), lines, tmp_path)

    assert as_sums(monthly) == monthly_sums_by_hand(lines)


def test_sums_that_do_not_fit_into_memory_are_right_all_the_same(tmp_path: Path) -> None:
    lines = [line(line=number, service=f"service {number}" * 20) for number in range(30_000)]

    monthly, _ = asked(Lake(str(tmp_path / "lake")), lines, tmp_path, memory="24MB")

    assert as_sums(monthly) == monthly_sums_by_hand(lines)


def test_nothing_is_left_in_the_scratch_folder(tmp_path: Path) -> None:
    asked(Lake(str(tmp_path / "lake")), [line()], tmp_path)

    assert list((tmp_path / "scratch").iterdir()) == []


def test_nothing_is_fetched_from_anywhere(tmp_path: Path) -> None:
    engine = DuckDBEngine(Lake(str(tmp_path)), scratch=tmp_path / "scratch")

    for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
        (value,) = engine._connection.execute(
            "SELECT value FROM duckdb_settings() WHERE name = ?", [setting]
        ).fetchall()[0]
        assert value == "false", setting
    engine.close()


def test_duckdb_is_used_unless_another_is_named(tmp_path: Path) -> None:
    settings = read_settings({"NIMBILL_DATA": str(tmp_path)})

    with open_engine(settings, Lake(settings.lake_url)) as engine:
        assert isinstance(engine, DuckDBEngine)


def test_spark_without_its_extra_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as where it is not installed
    named = {"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": "spark://127.0.0.1:7077"}
    settings = read_settings({"NIMBILL_DATA": str(tmp_path), **named})

    with (
        pytest.raises(EngineError, match=r"nimbill\[spark\]"),
        open_engine(settings, Lake(settings.lake_url)),
    ):
        pass


# ── whether a sum may outgrow a decimal ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("costs", "outgrows"),
    [
        ([], False),
        ([1, -1, 10**30], False),
        ([5 * 10**37 - 1, 0], False),  # twice that is just below 10^16 units
        ([5 * 10**37, 0], True),
        ([-5 * 10**37, 0], True),
        ([LARGEST], False),
        ([LARGEST, 1], True),
    ],
)
def test_the_files_themselves_tell_whether_a_sum_may_outgrow_a_decimal(
    tmp_path: Path, costs: list[int], outgrows: bool
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    files = write_month([line(cost=cost_of(cost)) for cost in costs], tmp_path)

    assert may_outgrow(lake.metadata(lake.put(files, under="org"))) == outgrows


def test_sums_that_fit_stay_as_they_are() -> None:
    plain = pa.table({"cost": pa.array([1], pa.decimal128(38, 22))})
    parts = plain.append_column("cost_whole", pa.array([10**20], pa.decimal128(38, 0)))

    assert put_together(plain) == plain
    assert put_together(parts).schema.field("cost").type == WIDE
    assert put_together(parts)["cost"].to_pylist() == [10**20 + 1]


def test_files_of_an_import_tell_enough_for_the_quick_way(tmp_path: Path) -> None:
    """Without what they say of their costs every sum would be made in two parts."""
    read = read_delivery([write(tmp_path / "report.csv", [cost("1.5")])], tmp_path, vendor="aws")
    lake = Lake(str(tmp_path / "lake"))
    names = lake.put([file.path for file in read.converted.files], under="org")

    assert not may_outgrow(lake.metadata(names))
