"""Closing a month excludes everything that would change it, whichever comes first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.operations import replace_entries
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.costs.months import records
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import lock_invoices
from nimbill.invoicing.runs import invoice_run
from nimbill.invoicing.runs.invoice_inputs import load_invoice_inputs, load_month_context
from tests.adjustments.recalculation.entries import (
    FEE,
    apply_entries,
    get_only_entry,
    import_entries,
)
from tests.closing.steps.ready_month import ACCOUNT, build_ready_month
from tests.costs.months.month_requests import close_month, load_state, reopen_month
from tests.held_locks import InTransaction, call_while_locked, in_transaction
from tests.imports.aws_reports import report_line, write_report
from tests.imports.in_process_importer import InProcessImporter
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import HttpResponse

PERIOD = BillingPeriod(MONTH, "aws")


def lock_month(*, shared: bool = False) -> InTransaction:
    return lambda db, scope: records.lock_month(db, scope, PERIOD, shared=shared)


async def close(db: AsyncConnection, scope: TenantScope) -> None:
    """What a closing request writes while it holds the month's lock."""
    await records.save_month_state(db, scope, PERIOD, closed=True, closing_number=1)


@pytest.fixture
def entry(month_end: MonthEnd) -> str:
    month_end.create_group("BG-E", FEE.customer_id)
    import_entries(month_end.service, FEE, month=MONTH)
    entry_id: str = get_only_entry(month_end.service, MONTH)["id"]
    return entry_id


# ── a change waits for a closing that is under way, and is refused after it ──────────────────────


def assert_refused_after_closing(month_end: MonthEnd, call: Callable[[], HttpResponse]) -> None:
    outcome = call_while_locked(month_end.service, lock_month(), call, change=close)

    assert outcome.waited
    assert outcome.result.status_code == 409, outcome.result.text
    assert "month_closed" in outcome.result.text


def test_applying_an_entry_waits_for_closing(month_end: MonthEnd, entry: str) -> None:
    assert_refused_after_closing(
        month_end, lambda: apply_entries(month_end.service, [entry], month=MONTH)
    )

    assert get_only_entry(month_end.service, MONTH)["apply"] is False


def test_taking_an_entry_back_waits_for_closing(month_end: MonthEnd, entry: str) -> None:
    assert apply_entries(month_end.service, [entry], month=MONTH).status_code == 200

    assert_refused_after_closing(
        month_end, lambda: apply_entries(month_end.service, [entry], month=MONTH, apply=False)
    )

    assert get_only_entry(month_end.service, MONTH)["apply"] is True


def test_saving_settings_waits_for_closing(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", ACCOUNT)

    assert_refused_after_closing(month_end, lambda: month_end.save_settings(group))


def test_copying_default_settings_waits_for_closing(month_end: MonthEnd) -> None:
    month_end.create_group("BG-1", ACCOUNT)
    body = {"settings": {}, "internal": True}

    assert_refused_after_closing(month_end, lambda: month_end.put(f"/invoices/save/{MONTH}", body))

    (group,) = month_end.get(f"/invoices/{MONTH}").json()["billinggroup"]
    assert group["saved_data"]["aws"] is None


def test_saving_rates_waits_for_closing(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", ACCOUNT)
    month_end.save_settings(group)

    assert_refused_after_closing(month_end, lambda: month_end.save_rate(group))


def test_reading_the_inputs_of_invoices_waits_for_closing(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end, invoiced=False)

    assert_refused_after_closing(month_end, lambda: month_end.create_invoices(group))


def test_storing_invoices_waits_for_closing(month_end: MonthEnd) -> None:
    """The inputs were read before; only storing needs the lock here."""
    group = build_ready_month(month_end, invoiced=False)

    async def load_without_lock(
        db: Any, scope: Any, period: Any, company_ids: Any, context: Any = None
    ) -> invoice_run.InputBatch:
        state = await records.load_month_state(db, scope, period)
        context = context or await load_month_context(db, scope, period, state)
        inputs = await load_invoice_inputs(db, scope, period, context, company_ids)
        return invoice_run.InputBatch(company_ids, context, inputs)

    with patch.object(invoice_run, "load_batch", load_without_lock):
        assert_refused_after_closing(month_end, month_end.create_invoices)

    assert month_end.get(f"/invoices/{MONTH}/{group}/aws").status_code == 404


@pytest.mark.parametrize("with_context", [False, True])
def test_every_batch_of_inputs_is_read_under_the_lock(
    month_end: MonthEnd, *, with_context: bool
) -> None:
    async def load(db: AsyncConnection, scope: TenantScope) -> None:
        context = None
        if with_context:
            state = await records.load_month_state(db, scope, PERIOD)
            context = await load_month_context(db, scope, PERIOD, state)
        await invoice_run.load_batch(db, scope, PERIOD, [], context)

    outcome = call_while_locked(
        month_end.service, lock_month(), in_transaction(month_end.service, load)
    )

    assert outcome.waited


@pytest.mark.parametrize("path", [f"/invoices/tie-out/{MONTH}", f"/months/{MONTH}?vendor=aws"])
def test_reports_wait_for_a_change_that_is_under_way(month_end: MonthEnd, path: str) -> None:
    outcome = call_while_locked(month_end.service, lock_month(), lambda: month_end.get(path))

    assert outcome.waited
    assert outcome.result.status_code == 200


def test_an_import_waits_for_closing_and_reports_drift(month_end: MonthEnd, tmp_path: Path) -> None:
    importer = InProcessImporter(month_end.service, month_end.service.organisation, tmp_path)
    import_id = importer.start(write_report(tmp_path / "a.csv", [report_line("1")]))
    prepared = importer.prepare(import_id)

    outcome = call_while_locked(
        month_end.service,
        lock_month(),
        lambda: importer.commit(import_id, prepared),
        change=close,
    )

    assert outcome.waited
    assert importer.get_record(import_id)["state"] == "drift"
    assert importer.query("SELECT * FROM cost_sums") == []


def test_an_import_without_lines_waits_for_closing_and_does_not_park(
    month_end: MonthEnd, tmp_path: Path
) -> None:
    def lose_lines(*args: Any, **options: Any) -> NormalizedBatch:
        return NormalizedBatch(normalize(*args, **options).lines.slice(0, 0), ImportWarnings())

    importer = InProcessImporter(month_end.service, month_end.service.organisation, tmp_path)
    source = write_report(tmp_path / "a.csv", [report_line("1")])
    import_id = importer.start(source, month=MONTH)
    with patch.object(conversion, "normalize", lose_lines):
        prepared = importer.prepare(import_id)

    outcome = call_while_locked(
        month_end.service,
        lock_month(),
        lambda: importer.commit(import_id, prepared),
        change=close,
    )

    assert outcome.waited
    assert importer.get_record(import_id)["state"] == "refused"
    assert not load_state(month_end.service, MONTH).is_parked


def test_releasing_an_import_waits_for_closing(month_end: MonthEnd, tmp_path: Path) -> None:
    importer = InProcessImporter(month_end.service, month_end.service.organisation, tmp_path)
    import_id = importer.start(write_report(tmp_path / "a.csv", [report_line("1")]))
    prepared = importer.prepare(import_id)
    prepared.unverified_file = "a.csv"
    importer.commit(import_id, prepared)
    path = f"/costs/imports/{import_id}/release"

    assert_refused_after_closing(month_end, lambda: month_end.post(path, {"reason": "ok"}))

    assert importer.get_record(import_id)["state"] == "parked"


@pytest.mark.parametrize("replace", [replace_entries, replace_reservations])
def test_replacing_adjustments_waits_for_whatever_needs_the_month_unchanged(
    month_end: MonthEnd, replace: Any
) -> None:
    call = in_transaction(
        month_end.service, lambda db, scope: replace(db, scope, PERIOD, "000000000042", [])
    )

    assert call_while_locked(month_end.service, lock_month(shared=True), call).waited


# ── closing waits for a change that is under way ─────────────────────────────────────────────────

SHARED_LOCKS: dict[str, InTransaction] = {
    "month": lock_month(shared=True),
    "closings": lambda db, scope: records.lock_closing_count(db, scope, "aws"),
}


@pytest.mark.parametrize("locks", ["month", "closings"])
def test_closing_waits_for_a_change_that_is_under_way(month_end: MonthEnd, locks: str) -> None:
    """The month's lock is held by imports, invoices and entries; the other one by moves."""
    outcome = call_while_locked(
        month_end.service,
        SHARED_LOCKS[locks],
        lambda: close_month(month_end.service, MONTH),
    )

    assert outcome.waited
    assert outcome.result.status_code == 200


@pytest.mark.parametrize("locks", ["month", "closings"])
def test_reopening_waits_for_a_change_that_is_under_way(month_end: MonthEnd, locks: str) -> None:
    close_month(month_end.service, MONTH)

    outcome = call_while_locked(
        month_end.service,
        SHARED_LOCKS[locks],
        lambda: reopen_month(month_end.service, MONTH),
    )

    assert outcome.waited
    assert outcome.result.status_code == 200


def test_of_two_closings_the_second_is_refused(month_end: MonthEnd) -> None:
    assert_refused_after_closing(month_end, lambda: close_month(month_end.service, MONTH))


def test_closing_sees_the_invoices_that_were_being_stored(month_end: MonthEnd) -> None:
    """A closing that starts before the last invoice is stored finds the month ready."""
    group = build_ready_month(month_end, invoiced=False)
    storing: list[HttpResponse] = []

    async def store_under_lock(db: AsyncConnection, scope: TenantScope) -> None:
        """The run is complete before the closing begins to wait for this transaction."""
        await records.lock_month(db, scope, PERIOD, shared=True)
        storing.append(await asyncio.to_thread(month_end.create_invoices, group))

    outcome = call_while_locked(
        month_end.service,
        store_under_lock,
        lambda: close_month(month_end.service, MONTH, override=None, reason=None),
    )

    assert storing[0].status_code == 200
    assert outcome.waited
    assert outcome.result.status_code == 200, outcome.result.text


# ── creating invoices ────────────────────────────────────────────────────────────────────────────


def test_invoices_of_a_period_are_stored_by_one_run_at_a_time(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end, invoiced=False)

    outcome = call_while_locked(
        month_end.service,
        lambda db, scope: lock_invoices(db, scope, PERIOD, [group], "run_other"),
        lambda: month_end.create_invoices(group),
    )

    assert outcome.waited
    assert outcome.result.status_code == 200
