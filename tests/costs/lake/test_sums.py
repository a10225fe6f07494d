"""The sums over cost lines, on every engine there is, against sums by hand, digit for digit.

`make test` has DuckDB alone. `make test-spark` runs this same file with a Spark cluster beside it.
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
from nimbill.costs.lake.parquet_files import Lake, folder_of
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import read_settings
from tests.costs.generated_months import (
    BY_HAND,
    LARGEST,
    Line,
    as_sums,
    cost_of,
    line,
    month,
    write_month,
)
from tests.costs.reading import read_delivery
from tests.imports.small_files import cost, write

MASTER = os.environ.get("NIMBILL_SPARK_MASTER")
ENGINES = ("duckdb", "spark") if MASTER else ("duckdb",)
QUESTIONS = ("monthly_sums", "tag_sums", "entry_lines", "reservation_lines")


class Bench:
    """An engine over a lake of its own."""

    def __init__(self, engine: Engine, lake: Lake, spool: Path) -> None:
        self._engine, self._lake, self._spool = engine, lake, spool

    def store(self, lines: list[Line], files: int = 2) -> list[str]:
        return self.keep(write_month(lines, self._spool / new_id("spool"), files=files))

    def keep(self, files: Sequence[Path]) -> list[str]:
        import_id = new_id("imp")
        under = folder_of("org", vendor="aws", month="2026-09", import_id=import_id)
        return self._lake.put(files, under=under)

    def ask(self, question: str, files: list[str]) -> pa.Table:
        return self._engine.run(getattr(sums, question), files)

    def asked_in_pieces(self, question: str, files: list[str]) -> pa.Table:
        return pa.Table.from_batches(self._engine.batches(getattr(sums, question), files))


@pytest.fixture(scope="module", params=ENGINES)
def bench(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
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
        yield Bench(engine, lake, data)


def test_the_engine_is_the_one_that_was_asked_for(bench: Bench, request: Any) -> None:
    kind = type(bench._engine).__name__.lower()

    assert kind == f"{request.node.callspec.params['bench']}engine"


@pytest.mark.parametrize("question", BY_HAND)
@pytest.mark.parametrize("seed", range(6))
def test_sums_of_any_month_are_those_made_by_hand(bench: Bench, question: str, seed: int) -> None:
    lines = month(seed, 700)
    by_hand, amount = BY_HAND[question]

    answer = bench.ask(question, bench.store(lines, files=seed % 3 + 1))

    assert as_sums(answer, amount) == by_hand(lines)


@pytest.mark.parametrize("question", BY_HAND)
@pytest.mark.parametrize("seed", range(100, 103))
def test_sums_that_outgrow_a_decimal_keep_every_digit(
    bench: Bench, question: str, seed: int
) -> None:
    lines = month(seed, 700, largest=LARGEST)
    by_hand, amount = BY_HAND[question]

    answer = bench.ask(question, bench.store(lines))

    assert as_sums(answer, amount) == by_hand(lines)


def test_the_largest_cost_a_thousand_times_over(bench: Bench) -> None:
    many = [line(cost=cost_of(LARGEST)) for _ in range(1000)]

    answer = bench.ask("monthly_sums", bench.store(many))

    assert answer["cost"].to_pylist() == [Decimal("9999999999999999999.9999999999999999999000")]


def test_costs_that_cancel_out_leave_exactly_nothing(bench: Bench) -> None:
    both = [line(cost=cost_of(digits * sign)) for digits in (LARGEST, 1, 7) for sign in (1, -1)]

    answer = bench.ask("monthly_sums", bench.store(both))

    assert answer["cost"].to_pylist() == [Decimal(0)]


def test_the_smallest_amount_is_not_lost_beside_the_largest(bench: Bench) -> None:
    lines = [line(cost=cost_of(10**37)), line(cost=cost_of(1)), line(cost=cost_of(-(10**37)))]

    answer = bench.ask("monthly_sums", bench.store(lines, files=1))

    assert answer["cost"].to_pylist() == [Decimal("1E-22")]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_month_without_files_has_no_sums(bench: Bench, question: str) -> None:
    assert bench.ask(question, []).num_rows == 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_month_whose_files_hold_no_lines_has_no_sums(bench: Bench, question: str) -> None:
    assert bench.ask(question, bench.store([])).num_rows == 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_in_pieces_is_the_whole_answer(bench: Bench, question: str) -> None:
    files = bench.store(month(7, 500))

    whole, pieces = bench.ask(question, files), bench.asked_in_pieces(question, files)

    assert pieces.column_names == whole.column_names
    assert sorted(map(repr, pieces.to_pylist())) == sorted(map(repr, whole.to_pylist()))


def test_the_day_is_the_day_in_utc(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    last = line()["usage_start"].replace(hour=23, minute=59, second=59, microsecond=999_999)

    answer = bench.ask("monthly_sums", bench.store([line(usage_start=last)]))

    assert [str(day) for day in answer["day"].to_pylist()] == ["2026-09-01"]


def test_keys_that_differ_in_case_alone_are_two_keys(bench: Bench) -> None:
    tagged = [line(tags=[("user:Team", "a")]), line(tags=[("user:team", "a")])]

    answer = bench.ask("tag_sums", bench.store(tagged))

    assert sorted(answer["tag_key"].to_pylist()) == ["user:Team", "user:team"]


def test_entries_are_every_one_off_line_as_it_is(bench: Bench) -> None:
    lines = month(3, 400)
    entries = [one for one in lines if one["kind"] == "entry"]

    answer = bench.ask("entry_lines", bench.store(lines))

    names = answer.column_names
    assert sorted(map(_written, answer.to_pylist())) == sorted(
        _written({name: one[name] for name in names}) for one in entries
    )


def _written(row: Line) -> str:
    """Amounts to their last digit, however many zeros follow it; moments without their zone."""
    moments = {name: row[name] and row[name].timestamp() for name in ("usage_start", "usage_end")}
    return repr(row | {"cost": Fraction(row["cost"])} | moments)


def test_a_reservation_is_described_by_the_line_of_its_fee(bench: Bench) -> None:
    reserved = {"reservation_id": "arn:ri/1"}
    covered = line(**reserved, line_type="DiscountedUsage", usage_type="z", reservation_number=9)
    fee = line(**reserved, line_type="RIFee", usage_type="a", reservation_number=2)

    (found,) = bench.ask("reservation_lines", bench.store([covered, fee])).to_pylist()

    assert (found["usage_type"], found["number"], found["fee_lines"], found["lines"]) == (
        "a",
        2,
        1,
        2,
    )


def test_lines_as_an_import_writes_them_are_read_by_every_engine(
    bench: Bench, tmp_path: Path
) -> None:
    lines = [cost("0.0000000001"), cost("2.5") | {"resourceTags/user:Team": "a"}, cost("-1")]
    read = read_delivery([write(tmp_path / "report.csv", lines)], tmp_path, vendor="aws")
    files = bench.keep([file.path for file in read.converted.files])

    (monthly,) = bench.ask("monthly_sums", files).to_pylist()
    (tag,) = bench.ask("tag_sums", files).to_pylist()

    assert (monthly["cost"], monthly["lines"]) == (Decimal("1.5000000001"), 3)
    assert (tag["tag_key"], tag["tag_value"], tag["cost"]) == ("Team", "a", Decimal("2.5"))


def test_who_only_uses_a_reservation_pays_no_fee(bench: Bench) -> None:
    reserved = {"reservation_id": "arn:ri/1"}
    covered = line(**reserved, customer_id="1", line_type="DiscountedUsage", cost=Decimal(0))
    upfront = line(**reserved, line_type="Fee", kind="entry", entry_type="Fee")

    found = bench.ask("reservation_lines", bench.store([covered, upfront])).to_pylist()

    assert {(one["customer_id"], one["fee"], one["fee_lines"]) for one in found} == {
        ("1", Decimal(0), 0),
        ("011254002932", Decimal(0), 1),
    }
