"""Invoices are made in batches; what befalls one of a batch befalls no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace as replace_in

from nimbill.invoicing.documents.document import draft_of, read, written
from nimbill.invoicing.runs import invoice_run
from nimbill.jobs.runner import Job
from tests.invoicing.made import ACTOR, numbers, of_a, scope_of, started, stored
from tests.invoicing.month_end import MONTH, MonthEnd


def groups_of(month_end: MonthEnd, count: int) -> list[str]:
    groups = [month_end.group(f"BG-{n}", f"{n:012}") for n in range(1, count + 1)]
    month_end.ready(*groups)
    return groups


async def made(month_end: MonthEnd, groups: list[str], run_id: str) -> list[int]:
    """Makes the run's invoices; how many groups were done each time it told."""
    told = []

    async def tell(progress: dict[str, Any]) -> None:
        told.append(progress["done"])

    payload = {
        "month": MONTH,
        "vendor": "aws",
        "company_ids": groups,
        "actor": ACTOR,
    }
    taken = Job(scope_of(month_end), "wrk", "create_invoices", run_id, payload, {}, 1)
    await invoice_run.make_invoices(month_end.service.resources.engine, taken, tell)
    return told


def test_the_first_batch_is_small_and_the_others_are_not() -> None:
    names = [str(number) for number in range(450)]

    found = list(invoice_run.in_batches(names))

    assert [len(some) for some in found] == [10, 200, 200, 40]
    assert [name for some in found for name in some] == names
    assert list(invoice_run.in_batches([])) == []


def test_progress_is_told_with_every_batch(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = groups_of(month_end, 6)
    monkeypatch.setattr(invoice_run, "GROUPS_AT_FIRST", 1)
    monkeypatch.setattr(invoice_run, "GROUPS_AT_ONCE", 2)

    async def run() -> list[int]:
        return await made(month_end, groups, await started(month_end, groups))

    assert month_end.service.run(run) == [1, 3, 5, 6]


def test_long_invoices_are_stored_apart(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, short = of_a(month_end), month_end.group("BG-B", "000000000001")
    month_end.ready(short)
    monkeypatch.setattr(invoice_run, "LINES_AT_ONCE", 3)

    async def run() -> list[int]:
        return await made(month_end, [long, short], await started(month_end, [long, short]))

    assert month_end.service.run(run) == [1, 2]


def test_two_processes_on_one_run_make_every_invoice_once(month_end: MonthEnd) -> None:
    groups = groups_of(month_end, 5)

    async def run() -> None:
        run_id = await started(month_end, groups)
        await asyncio.gather(*(made(month_end, groups, run_id) for _ in range(3)))

    month_end.service.run(run)

    heads = stored(month_end, "SELECT number, revision FROM invoices ORDER BY number")
    assert [tuple(row) for row in heads] == [(number, 1) for number in range(1, 6)]
    audited = "SELECT 1 FROM audit_log WHERE entry LIKE '%\"create_invoice\"%'"
    assert len(stored(month_end, audited)) == len(groups)


def test_an_invoice_that_a_rival_made_meanwhile_keeps_its_number(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = groups_of(month_end, 3)
    stored_all, rivals = invoice_run._Run._stored, [[groups[2]]]

    async def after_a_rival(self: invoice_run._Run, *args: Any) -> Any:
        if rivals:
            rival = rivals.pop()
            await made(month_end, rival, await started(month_end, rival, b"rival"))
        return await stored_all(self, *args)

    monkeypatch.setattr(invoice_run._Run, "_stored", after_a_rival)

    answer = month_end.create()

    made_by_all = {one["company_id"]: one["invoice_no"] for one in answer.json()["created"]}
    assert made_by_all[groups[2]] == "202609-0001"
    assert sorted(numbers(answer)) == [f"202609-000{n}" for n in range(1, 4)]
    assert [month_end.invoice(group)["revision"] for group in groups] == [1, 1, 2]


def test_a_batch_gathered_before_an_import_came_in_is_gathered_again(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = of_a(month_end)
    other = month_end.group("BG-B")  # without accounts: named with its reason all the same
    ready_batch, before = invoice_run.ready_batch, [True]

    async def ready(*args: Any) -> invoice_run.Batch:
        batch = await ready_batch(*args)
        if not before:
            return batch
        before.pop()
        batch.found[group].usage.clear()
        return replace(batch, whole=replace(batch.whole, imports=[]))

    monkeypatch.setattr(invoice_run, "ready_batch", ready)

    answer = month_end.create()

    assert numbers(answer) == ["202609-0001"]
    assert answer.json()["skipped"] == [{"company_id": other, "reason": "no_accounts"}]
    assert month_end.invoice(group)["sheet"]["total"] == Decimal(190472)


def test_a_draft_that_gets_its_number_is_the_document_as_it_is_written(
    month_end: MonthEnd,
) -> None:
    tricky = 'a memo of "invoice_no":"","revision":0, and more'
    group = of_a(month_end)
    month_end.save(group, memo=tricky)
    month_end.create(group)
    (row,) = stored(month_end, "SELECT document FROM invoice_revisions")
    kept = read(row.document)

    draft = draft_of(replace_in(kept, invoice_no="", revision=0))

    assert kept.memo == tricky
    assert draft.numbered("202609-0001", 1) == written(kept) == row.document
    with pytest.raises(AssertionError, match="not numbered yet"):
        draft_of(kept)


# ── one is worked on while another is in use ─────────────────────────────────────────────────────


async def _steps(did: list[str], count: int, *, fails: bool = False) -> AsyncGenerator[int, None]:
    try:
        for number in range(1, count + 1):
            await asyncio.sleep(0)
            did.append(f"begun {number}")
            yield number
        if fails:
            raise ZeroDivisionError
    finally:
        did.append("closed")


def test_the_next_is_begun_while_one_is_in_use() -> None:
    did: list[str] = []

    async def run() -> None:
        async for number in invoice_run.ahead(_steps(did, 3)):
            await asyncio.sleep(0.01)
            did.append(f"used {number}")

    asyncio.run(run())

    assert did == ["begun 1", "begun 2", "used 1", "begun 3", "used 2", "closed", "used 3"]


def test_what_fails_ahead_is_raised_when_its_turn_comes() -> None:
    used = []

    async def run() -> None:
        async for number in invoice_run.ahead(_steps([], 2, fails=True)):
            used.append(number)  # what was used before it failed counts

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    assert used == [1, 2]


def test_whoever_stops_leaves_nothing_running() -> None:
    did: list[str] = []

    async def run() -> set[asyncio.Task[Any]]:
        async with aclosing(invoice_run.ahead(_steps(did, 3))) as steps:
            async for _ in steps:
                break
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(run()) == set()
    assert did[-1] == "closed"
