"""Parts that are converted in tasks give the lines and errors of a conversion on one machine.

The tasks run in this process, and everything that a cluster would transfer is pickled.
`make test-cluster` runs them on a cluster.
"""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.parts import Delivery, Limits
from nimbill.costs.ingestion.second_reading import SecondReading, UnreadableBySecondReader
from nimbill.costs.lake.parquet_files import Lake
from nimbill.imports import cluster_conversion
from nimbill.imports.cluster_conversion import (
    PartResult,
    PartTask,
    convert_on_cluster,
    convert_part,
)
from nimbill.imports.preparation import ImportRequest, PreparedImport, prepare_import
from nimbill.imports.stored_conversion import ConversionOrder, StoredConversion, convert_and_store
from tests.costs.inbox import Inbox
from tests.imports.aws_reports import build_report, report_line, write_report

CLUSTER = {"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": "spark://127.0.0.1:7077"}


@pytest.fixture(autouse=True)
def unlimited_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task limits the memory of its process, which here is that of all tests."""
    monkeypatch.setattr(cluster_conversion, "limit_memory", lambda _size: None)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def run_here(tasks: Sequence[PartTask]) -> list[PartResult]:
    return [pickle.loads(pickle.dumps(convert_part(_transfer(task)))) for task in tasks]


def _transfer(task: PartTask) -> PartTask:
    transferred: PartTask = pickle.loads(pickle.dumps(task))
    return transferred


def run_twice(tasks: Sequence[PartTask]) -> list[PartResult]:
    """As if every worker died after its task had written its lines."""
    run_here(tasks)
    return run_here(tasks)


class TwoConversions:
    """The same delivery, converted on one machine and in tasks."""

    def __init__(self, delivery: Delivery, folder: Path, limits: Limits | None = None) -> None:
        self.delivery, self.folder = delivery, folder
        self.limits = limits or Limits()

    def order(self, lake: str) -> ConversionOrder:
        url = str(self.folder / lake)
        return ConversionOrder("org", "imp", "aws", None, None, url, self.limits)

    def on_one_machine(self) -> StoredConversion:
        return convert_and_store(
            self.delivery,
            self.order("one"),
            folder=self.folder / "lines",
            on_progress=lambda _progress: None,
            on_file=lambda _name: None,
        )

    def in_tasks(
        self, run_tasks: Callable[[Sequence[PartTask]], list[PartResult]] = run_here
    ) -> StoredConversion:
        return convert_on_cluster(
            self.delivery, self.order("many"), memory_mib=1536, run_tasks=run_tasks
        )

    def lines(self, lake: str, conversion: StoredConversion) -> pa.Table:
        names = [file["path"] for file in conversion.files]
        order = [("part", "ascending"), ("line", "ascending")]
        return Lake(str(self.folder / lake)).open_dataset(names).to_table().sort_by(order)

    def list_names(self) -> list[str]:
        return Lake(str(self.folder / "many")).list_names("org")


def put_parts(inbox: Inbox, count: int = 3) -> None:
    for number in range(count):
        lines = [
            report_line(f"{number}.{line:03}7", UsageAccountId=f"{line % 5:012}", Team=f"t{line}")
            for line in range(40 + number)
        ]
        inbox.put(f"{number}.csv.gz", gzip.compress(build_report(lines), mtime=0))


# ── lines ────────────────────────────────────────────────────────────────────────────────────────


def test_lines_and_sums_are_those_of_one_machine(inbox: Inbox, tmp_path: Path) -> None:
    put_parts(inbox)
    both = TwoConversions(inbox.fetch(), tmp_path)

    one, many = both.on_one_machine(), both.in_tasks()

    assert both.lines("many", many) == both.lines("one", one)
    assert many.lines == 40 + 41 + 42
    assert many.stored == many.delivered == one.stored == one.delivered
    for field in ("month", "lines", "warnings", "rows", "unpacked_bytes", "unreadable_file"):
        assert getattr(many, field) == getattr(one, field), field


def test_nothing_but_the_lines_remains_in_the_lake(inbox: Inbox, tmp_path: Path) -> None:
    put_parts(inbox)
    both = TwoConversions(inbox.fetch(), tmp_path)

    many = both.in_tasks()

    assert both.list_names() == sorted(file["path"] for file in many.files)
    assert len(many.files) == 3
    assert all(part.path.is_file() for part in both.delivery.parts)


def test_a_part_that_was_converted_twice_counts_once(inbox: Inbox, tmp_path: Path) -> None:
    put_parts(inbox)
    both = TwoConversions(inbox.fetch(), tmp_path)

    one, many = both.on_one_machine(), both.in_tasks(run_twice)

    assert both.lines("many", many) == both.lines("one", one)
    assert both.list_names() == sorted(file["path"] for file in many.files)


def test_parts_without_lines_have_no_file(inbox: Inbox, tmp_path: Path) -> None:
    put_parts(inbox, 1)
    inbox.put("empty.csv", build_report([]))
    both = TwoConversions(inbox.fetch(), tmp_path)

    many = both.in_tasks()

    assert (len(many.files), many.month, many.lines) == (1, "2026-09", 40)


def test_a_file_that_only_the_second_reading_cannot_read_is_named(
    inbox: Inbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_parts(inbox)
    both = TwoConversions(inbox.fetch(), tmp_path)
    real_sums = SecondReading.sums

    def fail_for_second(reading: Any, notify: Callable[[str], None]) -> Any:
        if reading._delivery.parts[0].name == "1.csv.gz":
            raise UnreadableBySecondReader("1.csv.gz")
        return real_sums(reading, notify)

    monkeypatch.setattr(SecondReading, "sums", fail_for_second)

    many = both.in_tasks()

    assert (many.delivered, many.unreadable_file, many.lines) == (None, "1.csv.gz", 123)


# ── errors ───────────────────────────────────────────────────────────────────────────────────────


def _line_of_another_month(inbox: Inbox) -> Delivery:
    line = {"bill/BillingPeriodStartDate": "2026-08-01T00:00:00Z"}
    inbox.put("later.csv", build_report([line]))
    return inbox.fetch()


def _two_invalid_costs(inbox: Inbox) -> Delivery:
    inbox.put("x.csv", build_report([report_line("1"), report_line("one")]))
    inbox.put("y.csv", build_report([report_line("two")]))
    return inbox.fetch()


def _truncated_part(inbox: Inbox) -> Delivery:
    inbox.put("1.csv.gz", (inbox.folder / "1.csv.gz").read_bytes()[:-9])
    return inbox.fetch()


def _fewer_rows_than_stated(inbox: Inbox) -> Delivery:
    delivery = inbox.fetch()
    parts = [replace(part, rows=41) for part in delivery.parts]
    return replace(delivery, parts=tuple(parts))


def _part_that_changes(inbox: Inbox) -> Delivery:
    delivery = inbox.fetch()
    inbox.put("2.csv.gz", gzip.compress(build_report([report_line("1")])))
    return delivery


@pytest.mark.parametrize(
    ("spoil", "rule", "file", "line"),
    [
        (_line_of_another_month, "several_months", "0.csv.gz", None),
        (_two_invalid_costs, "number", "x.csv", 3),
        (_truncated_part, "truncated", "1.csv.gz", None),
        (_fewer_rows_than_stated, "part_rows", "0.csv.gz", None),
        (_part_that_changes, "changed", "2.csv.gz", None),
    ],
)
def test_the_error_is_that_of_one_machine(
    inbox: Inbox,
    tmp_path: Path,
    spoil: Callable[[Inbox], Delivery],
    rule: str,
    file: str,
    line: int | None,
) -> None:
    put_parts(inbox)
    both = TwoConversions(spoil(inbox), tmp_path)

    with pytest.raises(CostFileError) as here:
        both.on_one_machine()
    with pytest.raises(CostFileError) as there:
        both.in_tasks()

    assert (there.value.rule, there.value.file, there.value.line) == (rule, file, line)
    assert there.value.args == here.value.args
    assert not [name for name in both.list_names() if "/parts/" in name]


@pytest.mark.parametrize(
    ("limits", "rule"),
    [
        (Limits(delivery_bytes_max=30_000), "delivery_too_large"),
        (Limits(bomb_bytes_min=30_000, bomb_ratio_max=2), "bomb"),
    ],
)
def test_the_size_of_all_parts_is_limited(
    inbox: Inbox, tmp_path: Path, limits: Limits, rule: str
) -> None:
    """Each part is within the limits, so that no task can notice."""
    put_parts(inbox, 4)
    both = TwoConversions(inbox.fetch(), tmp_path, limits)

    with pytest.raises(CostFileError) as here:
        both.on_one_machine()
    with pytest.raises(CostFileError) as there:
        both.in_tasks()

    assert there.value.args == here.value.args
    assert there.value.rule == rule


def test_a_part_that_needs_too_much_memory_is_named(
    inbox: Inbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> StoredConversion:
        raise MemoryError

    monkeypatch.setattr(cluster_conversion, "convert_and_store_part", fail)
    put_parts(inbox)

    with pytest.raises(CostFileError) as refused:
        TwoConversions(inbox.fetch(), tmp_path).in_tasks()

    assert (refused.value.rule, refused.value.file) == ("memory", "0.csv.gz")
    assert "1536 MiB" in refused.value.detail


# ── selection ────────────────────────────────────────────────────────────────────────────────────


def prepare(folder: Path, *files: Path, **environment: str) -> PreparedImport:
    request = ImportRequest(
        organisation_id="org",
        import_id="imp",
        vendor="aws",
        month=None,
        sources=[str(file) for file in files],
        roots=None,
        folder=str(folder / "work"),
        known_deliveries={},
    )
    with patch.dict(os.environ, {"NIMBILL_DATA": str(folder / "data"), **environment}):
        return prepare_import(request, lambda _: None)


@pytest.mark.parametrize(
    ("parts", "environment", "on_cluster"),
    [(2, CLUSTER, True), (1, CLUSTER, False), (2, {}, False)],
)
def test_the_cluster_converts_several_parts_if_the_settings_name_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parts: int,
    environment: dict[str, str],
    *,
    on_cluster: bool,
) -> None:
    masters: list[str] = []

    def run_tasks(master: str, tasks: Sequence[PartTask]) -> list[PartResult]:
        masters.append(master)
        return run_here(tasks)

    monkeypatch.setattr(cluster_conversion, "run_on_spark", run_tasks)
    monkeypatch.setattr("nimbill.imports.preparation._compute_sums", lambda *_: [])
    files = [
        write_report(tmp_path / f"{number}.csv", [report_line(f"{number}.5")])
        for number in range(parts)
    ]

    prepared = prepare(tmp_path, *files, **environment)

    assert masters == ([CLUSTER["NIMBILL_SPARK_MASTER"]] if on_cluster else [])
    assert (prepared.problem, prepared.month, prepared.lines) == (None, "2026-09", parts)
    assert (prepared.differences, len(prepared.verified_totals)) == ([], 1)
    assert len(prepared.files) == (2 if on_cluster else 1)
