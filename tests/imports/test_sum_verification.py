"""A month counts only if the database returns the sums of the second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation import records as recalculation_records
from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.costs.lake import commitment_records
from nimbill.costs.lake import records as lake_records
from nimbill.costs.lake.bulk_copy import copy_sums
from tests.imports.aws_reports import CUSTOMER, PAYER, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter, load_totals, wait_for_import
from tests.imports.repeating_importer import RepeatingImporter

OTHER_CUSTOMER = "333333333333"
LINES = [
    report_line("1.5", Team="red"),
    report_line("2", Team="blue", UsageAccountId=OTHER_CUSTOMER),
    report_line("4", LineItemType="Tax"),
]

Change = Callable[[pa.RecordBatch], pa.RecordBatch]


def lose_a_row(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.slice(1)


def repeat_a_row(batch: pa.RecordBatch) -> pa.RecordBatch:
    table = pa.Table.from_batches([batch, batch.slice(0, 1)])
    return table.combine_chunks().to_batches()[0]


def alter_the_last_digit(batch: pa.RecordBatch) -> pa.RecordBatch:
    costs = batch["cost"].to_pylist()
    return _replace(batch, "cost", [costs[0] + Decimal("1e-22"), *costs[1:]])


def swap_accounts(batch: pa.RecordBatch) -> pa.RecordBatch:
    accounts = {CUSTOMER: OTHER_CUSTOMER, OTHER_CUSTOMER: CUSTOMER}
    return _replace(batch, "customer_id", [accounts[id_.as_py()] for id_ in batch["customer_id"]])


def make_everything_usage(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _replace(
        batch, "kind", ["usage" if kind != "usage" else "tax" for kind in _kinds(batch)]
    )


def _kinds(batch: pa.RecordBatch) -> list[str]:
    kinds: list[str] = batch["kind"].to_pylist()
    return kinds


def change_a_line_count(batch: pa.RecordBatch) -> pa.RecordBatch:
    lines = batch["lines"].to_pylist()
    return _replace(batch, "lines", [lines[0] + 1, *lines[1:]])


def change_the_currency(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _replace(batch, "currency", ["JPY"] * len(batch))


def _replace(batch: pa.RecordBatch, name: str, values: list[Any]) -> pa.RecordBatch:
    position = batch.schema.get_field_index(name)
    field = batch.schema.field(position)
    return batch.set_column(position, field, pa.array(values, field.type))


CHANGES = [
    lose_a_row,
    repeat_a_row,
    alter_the_last_digit,
    swap_accounts,
    make_everything_usage,
    change_a_line_count,
    change_the_currency,
]


@contextmanager
def faulty_copy(table_name: str, change: Change) -> Iterator[None]:
    """Change the rows on their way into this table."""

    async def copy(
        db: AsyncConnection,
        table: sa.Table,
        constants: Mapping[str, str],
        batches: Iterable[pa.RecordBatch],
    ) -> None:
        changed = map(change, batches) if table.name == table_name else batches
        await copy_sums(db, table, constants, changed)

    with (
        patch.object(lake_records, "copy_sums", copy),
        patch.object(commitment_records, "copy_sums", copy),
    ):
        yield


@pytest.mark.parametrize(
    ("table", "change"),
    [
        *((table, change) for table in ("cost_sums", "cost_tag_sums") for change in CHANGES),
        ("cost_tagged_sums", lose_a_row),
        ("cost_tagged_sums", alter_the_last_digit),
    ],
)
def test_a_row_changed_on_its_way_into_the_sums_parks_the_month(
    repeating_importer: RepeatingImporter, tmp_path: Path, table: str, change: Change
) -> None:
    importer = repeating_importer
    importer.set_report_tag_keys("Team")
    importer(write_report(tmp_path / "a.csv", [report_line("7")]))

    with faulty_copy(table, change):
        record = importer(write_report(tmp_path / "b.csv", LINES))

    assert record["state"] == "parked"
    assert record["parked_reason"] == "the sums in the database differ from the delivered files"
    assert {difference["table"] for difference in record["differences"]} == {table}
    assert load_totals(importer) == {CUSTOMER: Decimal(7)}  # the existing costs still count
    assert importer.query("SELECT count(*) AS n FROM parked_months")[0].n == 1


@pytest.mark.parametrize("change", [lose_a_row, change_a_line_count])
@pytest.mark.parametrize(
    ("table", "reservation_id"), [("commitment_usage", "arn:ri/1"), ("on_demand_usage", "")]
)
def test_a_row_changed_on_its_way_into_the_usage_parks_the_month(
    importer: InProcessImporter,
    tmp_path: Path,
    table: str,
    reservation_id: str,
    change: Change,
) -> None:
    lines = [report_line("1.5", ReservationARN=reservation_id)]

    with faulty_copy(table, change):
        record = importer(write_report(tmp_path / "a.csv", lines))

    assert record["state"] == "parked"
    assert {difference["table"] for difference in record["differences"]} == {table}


def test_usage_of_a_file_without_commitments_is_stored_too(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """Files without commitments are read for on-demand usage, and only for that."""
    on_demand = write_report(tmp_path / "a.csv", [report_line("1.5")])
    record = importer(on_demand)

    assert record["state"] == "done"
    assert importer.query("SELECT sum(cost) AS cost FROM on_demand_usage")[0].cost == Decimal("1.5")
    assert importer.query("SELECT count(*) AS n FROM commitment_usage")[0].n == 0


def test_a_difference_names_payer_account_currency_and_kind(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    def lose_tax(batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.filter(pa.array([kind != "tax" for kind in _kinds(batch)]))

    with faulty_copy("cost_sums", lose_tax):
        record = importer(write_report(tmp_path / "a.csv", LINES))

    assert record["differences"] == [
        {
            "table": "cost_sums",
            "payer_id": PAYER,
            "customer_id": CUSTOMER,
            "currency": "USD",
            "kind": "tax",
            "delivered": 4,
            "stored": 0,
            "delivered_lines": 1,
            "stored_lines": 0,
        }
    ]


def test_a_one_off_line_that_becomes_no_entry_parks_the_month(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    upsert = recalculation_records.upsert_entries

    async def lose_an_entry(db: Any, scope: Any, period: Any, entries: Any) -> None:
        await upsert(db, scope, period, dict(list(entries.items())[1:]))

    fees = [report_line("3", LineItemType="Fee"), report_line("5", LineItemType="Fee")]
    with patch.object(recalculation_records, "upsert_entries", lose_an_entry):
        record = importer(write_report(tmp_path / "a.csv", fees))

    assert record["state"] == "parked"
    assert [row["table"] for row in record["differences"]] == ["recalculation_entries"]
    assert importer.query("SELECT * FROM recalculation_entries") == []


def test_applied_entries_that_vanished_are_no_difference(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("3", LineItemType="Fee")]))
    importer.query(
        "UPDATE recalculation_entries SET applied_month = '2026-09', exchange_rate = 1 RETURNING 1"
    )

    record = importer(write_report(tmp_path / "b.csv", [report_line("4", LineItemType="Fee")]))

    assert record["state"] == "done"
    assert len(record["noticed"]["vanished_entries"]) == 1


@pytest.mark.usefixtures("preparation_in_thread")
def test_a_month_parked_for_lost_sums_is_stored_again_when_it_is_released(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    with faulty_copy("cost_sums", lose_a_row):
        import_id = importer(write_report(tmp_path / "a.csv", LINES))["import_id"]
        _release(importer, import_id)
        again = wait_for_import(importer.service, import_id, importer.headers)

    assert again["state"] == "parked", "a release does not make lost sums count"
    assert again["release_reason"] is None

    _release(importer, import_id)

    assert wait_for_import(importer.service, import_id, importer.headers)["state"] == "done"
    assert load_totals(importer) == {CUSTOMER: Decimal("5.5"), OTHER_CUSTOMER: Decimal(2)}
    assert importer.query("SELECT * FROM parked_months") == []


def _release(importer: InProcessImporter, import_id: str) -> None:
    path = f"/m/core/costs/imports/{import_id}/release"
    answer = importer.service.http.post(path, json={"reason": "ok"}, headers=importer.headers)
    assert answer.status_code == 202, answer.text


def test_the_second_reading_finds_lines_that_are_billed_as_another_kind(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """Cost and lines of the account are unchanged, but its tax would be billed as usage."""

    def change_kind(*args: Any, **options: Any) -> NormalizedBatch:
        batch = normalize(*args, **options)
        position = batch.lines.schema.get_field_index("kind")
        kinds = pa.array(["usage"] * len(batch.lines)).dictionary_encode()
        field = batch.lines.schema.field(position)
        lines = batch.lines.set_column(position, field, kinds.cast(field.type))
        return NormalizedBatch(lines, batch.warnings)

    with patch.object(conversion, "normalize", change_kind):
        record = importer(write_report(tmp_path / "a.csv", LINES))

    assert record["state"] == "parked"
    assert [(row["kind"], row["delivered"]) for row in record["differences"]] == [
        ("tax", 4),
        ("usage", 1.5),
    ]


def test_sums_and_tag_sums_that_overflow_a_decimal_are_verified(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    largest = "9999999999999999.9999999999999999999999"
    lines = [report_line(largest, Team=team) for team in ("red", "red", "blue")]

    record = importer(write_report(tmp_path / "a.csv", lines))

    assert (record["state"], record["differences"]) == ("done", [])
    assert load_totals(importer) == {CUSTOMER: Decimal("29999999999999999.9999999999999999999997")}
