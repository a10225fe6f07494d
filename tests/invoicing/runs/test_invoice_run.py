"""Invoice runs: batches, concurrent and interrupted runs, and the draft of a document."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace as replace_in

from nimbill.invoicing.documents.document import build_draft, decode_document, encode_document
from nimbill.invoicing.runs import invoice_run
from nimbill.jobs.runner import Job
from tests.invoicing.invoice_runs import (
    ACTOR,
    build_scope,
    list_invoice_numbers,
    prepare_example_a,
    query_rows,
    start_run,
)
from tests.invoicing.month_end import MONTH, MonthEnd


def create_groups(month_end: MonthEnd, count: int) -> list[str]:
    groups = [month_end.create_group(f"BG-{n}", f"{n:012}") for n in range(1, count + 1)]
    month_end.prepare_groups(*groups)
    return groups


async def execute_run(month_end: MonthEnd, groups: list[str], run_id: str) -> list[int]:
    """Create the invoices of the run; return the number of done groups of each progress report."""
    reported = []

    async def report_progress(progress: dict[str, Any]) -> None:
        reported.append(progress["done"])

    payload = {
        "month": MONTH,
        "vendor": "aws",
        "company_ids": groups,
        "actor": ACTOR,
    }
    job = Job(build_scope(month_end), "wrk", "create_invoices", run_id, payload, {}, 1)
    await invoice_run.create_invoices(month_end.service.resources.engine, job, report_progress)
    return reported


def test_the_first_batch_is_smaller_than_the_others() -> None:
    names = [str(number) for number in range(450)]

    batches = list(invoice_run.split_into_batches(names))

    assert [len(batch) for batch in batches] == [10, 200, 200, 40]
    assert [name for batch in batches for name in batch] == names
    assert list(invoice_run.split_into_batches([])) == []


def test_progress_is_reported_after_every_batch(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = create_groups(month_end, 6)
    monkeypatch.setattr(invoice_run, "FIRST_BATCH_GROUPS", 1)
    monkeypatch.setattr(invoice_run, "BATCH_GROUPS", 2)

    async def run() -> list[int]:
        return await execute_run(month_end, groups, await start_run(month_end, groups))

    assert month_end.service.run(run) == [1, 3, 5, 6]


def test_long_invoices_are_stored_separately(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, short = prepare_example_a(month_end), month_end.create_group("BG-B", "000000000001")
    month_end.prepare_groups(short)
    monkeypatch.setattr(invoice_run, "BATCH_LINES", 3)

    async def run() -> list[int]:
        return await execute_run(
            month_end, [long, short], await start_run(month_end, [long, short])
        )

    assert month_end.service.run(run) == [1, 2]


def test_concurrent_executions_of_a_run_create_every_invoice_once(month_end: MonthEnd) -> None:
    groups = create_groups(month_end, 5)

    async def run() -> None:
        run_id = await start_run(month_end, groups)
        await asyncio.gather(*(execute_run(month_end, groups, run_id) for _ in range(3)))

    month_end.service.run(run)

    invoices = query_rows(month_end, "SELECT number, revision FROM invoices ORDER BY number")
    assert [tuple(row) for row in invoices] == [(number, 1) for number in range(1, 6)]
    audit_query = "SELECT 1 FROM audit_log WHERE entry LIKE '%\"create_invoice\"%'"
    assert len(query_rows(month_end, audit_query)) == len(groups)


def test_an_invoice_created_by_a_concurrent_run_keeps_its_number(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = create_groups(month_end, 3)
    store, concurrent_groups = invoice_run._InvoiceRun._store, [groups[2]]

    async def store_after_another_run(self: invoice_run._InvoiceRun, *args: Any) -> Any:
        if concurrent_groups:
            others = [concurrent_groups.pop()]
            await execute_run(month_end, others, await start_run(month_end, others, b"other"))
        return await store(self, *args)

    monkeypatch.setattr(invoice_run._InvoiceRun, "_store", store_after_another_run)

    response = month_end.create_invoices()

    numbers = {
        invoice["company_id"]: invoice["invoice_no"] for invoice in response.json()["created"]
    }
    assert numbers[groups[2]] == "202609-0001"
    assert sorted(list_invoice_numbers(response)) == [f"202609-000{n}" for n in range(1, 4)]
    assert [month_end.get_invoice(group)["revision"] for group in groups] == [1, 1, 2]


def test_a_batch_loaded_before_an_import_is_loaded_again(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = prepare_example_a(month_end)
    other = month_end.create_group("BG-B")  # without accounts: skipped with its reason
    load_batch, outdated_batches = invoice_run.load_batch, [1]

    async def load_outdated_batch(*args: Any) -> invoice_run.InputBatch:
        batch = await load_batch(*args)
        if not outdated_batches:
            return batch
        outdated_batches.pop()
        batch.inputs[group].usage.clear()
        return replace(batch, context=replace(batch.context, imports=[]))

    monkeypatch.setattr(invoice_run, "load_batch", load_outdated_batch)

    response = month_end.create_invoices()

    assert list_invoice_numbers(response) == ["202609-0001"]
    assert response.json()["skipped"] == [{"company_id": other, "reason": "no_accounts"}]
    assert month_end.get_invoice(group)["sheet"]["total"] == Decimal(190472)


def test_a_numbered_draft_equals_the_encoded_document(
    month_end: MonthEnd,
) -> None:
    memo = 'a memo of "invoice_no":"","revision":0, and more'
    group = prepare_example_a(month_end)
    month_end.save_settings(group, memo=memo)
    month_end.create_invoices(group)
    (row,) = query_rows(month_end, "SELECT document FROM invoice_revisions")
    stored = decode_document(row.document)

    draft = build_draft(replace_in(stored, invoice_no="", revision=0))

    assert stored.memo == memo
    assert draft.encode_with_number("202609-0001", 1) == encode_document(stored) == row.document
    with pytest.raises(AssertionError, match="has a number already"):
        build_draft(stored)
