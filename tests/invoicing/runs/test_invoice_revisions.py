"""Invoice numbers, revisions, interrupted runs and permissions of invoice runs."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import decode_document, encode_document
from nimbill.invoicing.runs import invoice_run, records
from nimbill.invoicing.runs.operations import wait_for_run
from nimbill.jobs.records import jobs
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.imports.aws_reports import PAYER, report_line
from tests.invoicing.invoice_runs import (
    build_scope,
    list_invoice_numbers,
    prepare_example_a,
    query_rows,
    start_run,
)
from tests.invoicing.month_end import ACCOUNTS_OF_A, MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations


def test_numbers_have_no_gaps_across_groups_and_runs(month_end: MonthEnd) -> None:
    groups = [month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in range(1, 6)]
    month_end.prepare_groups(*groups)

    first = list_invoice_numbers(month_end.create_invoices(*groups[3:]))
    all_numbers = list_invoice_numbers(month_end.create_invoices())

    assert first == ["202609-0001", "202609-0002"]
    assert all_numbers == [f"202609-000{n}" for n in range(1, 6)]


def test_an_invoice_that_cannot_be_stored_uses_no_number(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in range(1, 4)]
    month_end.prepare_groups(*groups)
    add_revisions = stored_invoices.add_revisions

    async def add_and_fail(db: Any, *args: Any) -> None:
        await add_revisions(db, *args)
        if groups[0] in [numbered.draft.company_id for numbered in args[-1]]:
            raise ZeroDivisionError

    monkeypatch.setattr(stored_invoices, "add_revisions", add_and_fail)
    response = month_end.create_invoices()

    assert list_invoice_numbers(response) == ["202609-0001", "202609-0002"]
    assert response.json()["skipped"] == [{"company_id": groups[0], "reason": "failed"}]


def test_creating_again_keeps_the_number_and_the_earlier_revision(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    before = month_end.get_invoice(group)
    month_end.save_settings(group, discount_rate=Decimal(0))

    month_end.create_invoices()

    invoice = month_end.get_invoice(group)
    earlier = month_end.get(f"/invoices/{MONTH}/{group}/aws/revisions")
    assert (invoice["invoice_no"], invoice["revision"]) == ("202609-0001", 2)
    assert [revision["revision"] for revision in earlier.json()] == [1]
    assert earlier.json()[0]["invoice"]["sheet"]["total"] == before["sheet"]["total"] == 190472


def test_a_changed_rate_never_changes_a_created_invoice(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    path = f"/invoices/{MONTH}/{group}/aws"
    before = month_end.get(path).text

    month_end.save_rate(group, rate=200)
    month_end.import_costs(report_line("1", UsageAccountId=ACCOUNTS_OF_A[0]))

    assert month_end.get(path).text == before


@pytest.mark.parametrize("table", ["invoice_revisions", "invoice_pdfs", "invoice_run_keys"])
@pytest.mark.parametrize("change", ["UPDATE {} SET organisation_id = 'x'", "DELETE FROM {}"])
def test_the_service_cannot_change_stored_revisions(
    month_end: MonthEnd, table: str, change: str
) -> None:
    with pytest.raises(sa.exc.DBAPIError, match=r"permission denied|cannot be changed"):
        query_rows(month_end, change.format(table))


def test_a_group_with_invoices_cannot_be_deleted(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.prepare_groups(group)
    month_end.create_invoices(group)
    service = month_end.service
    service.http.delete(f"/m/core/accts/aws/000000000001|{PAYER}", headers=service.root())

    response = service.http.delete(f"/m/core/billinggroup/{group}", headers=service.root())

    assert read_problem(response, 409)["code"] == "billing_group_in_use"


def test_a_deleted_account_stays_on_existing_invoices(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    service = month_end.service
    service.http.delete(f"/m/core/accts/aws/{ACCOUNTS_OF_A[1]}|{PAYER}", headers=service.root())

    assert len(month_end.get_invoice(group)["sheet"]["accounts"]) == 2


def test_restricted_users_create_only_invoices_of_their_groups(month_end: MonthEnd) -> None:
    seen = month_end.create_group("BG-1", "000000000001")
    hidden = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(seen, hidden)
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[seen])

    response = month_end.create_invoices(headers=restricted)

    assert [invoice["company_id"] for invoice in response.json()["created"]] == [seen]
    assert response.json()["skipped"] == []
    assert read_violations(month_end.create_invoices(hidden, headers=restricted)) == [
        ("group", "existing billing groups")
    ]


def test_every_invoice_and_the_run_are_audited(month_end: MonthEnd) -> None:
    groups = [month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in range(1, 3)]
    month_end.prepare_groups(*groups)

    month_end.create_invoices()

    rows = month_end.get("/audit").json()
    entries = rows if isinstance(rows, list) else rows["entries"]
    created = [
        (entry["action"], entry["resource"])
        for entry in entries
        if "create_invoice" in entry["action"]
    ]
    assert created == [
        ("create_invoices", f"invoices/{MONTH}/aws"),
        ("create_invoice", f"invoice/{MONTH}/{groups[1]}/aws"),
        ("create_invoice", f"invoice/{MONTH}/{groups[0]}/aws"),
    ]


def test_repeating_a_request_with_the_same_key_creates_no_second_revision(
    month_end: MonthEnd,
) -> None:
    group = prepare_example_a(month_end)
    headers = month_end.service.root() | {"Idempotency-Key": "month-end"}

    first, again = (month_end.create_invoices(group, headers=headers) for _ in range(2))

    assert again.text == first.text
    assert month_end.get_invoice(group)["revision"] == 1


def test_a_request_repeated_after_a_crash_joins_the_same_run(
    month_end: MonthEnd,
) -> None:
    group = prepare_example_a(month_end)
    headers = month_end.service.root() | {"Idempotency-Key": "month-end"}
    first = month_end.create_invoices(group, headers=headers)
    # as if the process had died between the run's last commit and that of the response
    query_rows(month_end, "DELETE FROM idempotency_keys WHERE key = 'month-end' RETURNING 1")

    again = month_end.create_invoices(group, headers=headers)

    assert again.json() == first.json()
    assert month_end.get_invoice(group)["revision"] == 1


def test_an_interrupted_run_continues_and_creates_nothing_twice(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in range(1, 4)]
    month_end.prepare_groups(*groups)
    store, successful_calls = invoice_run._InvoiceRun._store, [1]

    async def store_once(*args: Any) -> Any:
        if not successful_calls:
            raise ConnectionError
        successful_calls.pop()
        return await store(*args)

    monkeypatch.setattr(invoice_run, "FIRST_BATCH_GROUPS", 1)
    with monkeypatch.context() as patch:
        patch.setattr(invoice_run._InvoiceRun, "_store", store_once)
        run_id = month_end.service.run(lambda: _start_and_interrupt(month_end, groups))
    assert len(query_rows(month_end, "SELECT 1 FROM invoices")) == 1

    response = month_end.service.run(lambda: _resume(month_end, run_id))

    assert [invoice.invoice_no for invoice in response.created] == [
        f"202609-000{n}" for n in range(1, 4)
    ]
    assert query_rows(month_end, "SELECT max(revision) AS most FROM invoices")[0].most == 1


async def _start_and_interrupt(month_end: MonthEnd, groups: list[str]) -> str:
    """Start a run and execute it until it fails, here or in the job loop of the service."""
    service, scope = month_end.service, build_scope(month_end)
    run_id = await start_run(month_end, groups)
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        run = await records.find_run(db, scope, run_id)
    assert run is not None
    await service.resources.hooks.run_job_now(scope, run.job_id)
    await asyncio.wait_for(_wait_until_released(month_end, run.job_id), 60)
    return run_id


async def _wait_until_released(month_end: MonthEnd, job_id: str) -> None:
    """Wait until an attempt has ended and no process leases the job."""
    scope = build_scope(month_end)
    stmt = sa.select(jobs.c.job_id).where(
        jobs.c.job_id == job_id, jobs.c.attempts > 0, jobs.c.leased_until.is_(None)
    )
    while True:
        async with transaction(month_end.service.resources.engine, scope.organisation_id) as db:
            if (await db.execute(stmt)).one_or_none() is not None:
                return
        await asyncio.sleep(0.02)


async def _resume(month_end: MonthEnd, run_id: str) -> Any:
    service = month_end.service
    scope = TenantScope(service.organisation.organisation_id)
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        await db.execute(sa.text("UPDATE jobs SET due = now() WHERE kind = 'create_invoices'"))
    waiting = wait_for_run(
        service.resources.engine, service.resources.hooks.run_job_now, scope, run_id
    )
    return await asyncio.wait_for(waiting, 60)


def test_runs_are_listed_with_their_progress(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)

    (run,) = month_end.get(f"/invoices/runs/{MONTH}").json()

    assert (run["state"], run["groups"], run["done"], run["skipped"]) == ("done", 1, 1, 0)


def test_restricted_users_see_only_their_groups_in_runs(month_end: MonthEnd) -> None:
    """A run tells how many groups the organisation has and how many are not ready."""
    seen, hidden = (month_end.create_group(f"BG-{n}", f"00000000000{n}") for n in (1, 2))
    month_end.prepare_groups(seen, hidden)
    for groups in ([seen], [hidden], [seen, hidden]):
        assert month_end.create_invoices(*groups).status_code == 200

    def list_run_sizes(*groups: str) -> list[tuple[int, int, int]]:
        headers = month_end.service.caller(RoleAction.ReadInvoice, billing_groups=list(groups))
        response = month_end.get(f"/invoices/runs/{MONTH}", headers)
        assert response.status_code == 200, response.text
        return [(run["groups"], run["done"], run["skipped"]) for run in response.json()]

    assert list_run_sizes(seen) == [(1, 1, 0), (1, 1, 0)], "of the last run, one group counts"
    assert list_run_sizes(seen, hidden) == [(2, 2, 0), (1, 1, 0), (1, 1, 0)]
    assert list_run_sizes("cmp_unknown") == []


def test_a_group_without_costs_gets_an_invoice_over_zero(
    month_end: MonthEnd,
) -> None:
    group = month_end.create_group("BG-1", "000000000001", invoices={"aws": VALID_SETTING})
    month_end.prepare_groups(group)

    month_end.create_invoices(group)

    sheet = month_end.get_invoice(group)["sheet"]
    assert (sheet["lines"], sheet["support"], sheet["agency"], sheet["total"]) == (
        [],
        None,
        None,
        0,
    )


def test_a_stored_invoice_is_decoded_without_floats(month_end: MonthEnd) -> None:
    month_end.create_invoices(prepare_example_a(month_end))
    (row,) = query_rows(month_end, "SELECT document FROM invoice_revisions")

    def find_floats(value: Any) -> list[float]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list | tuple):
            return [found for item in value for found in find_floats(item)]
        return [value] if isinstance(value, float) else []

    stored = decode_document(row.document)
    assert find_floats(msgspec.to_builtins(stored, builtin_types=(Decimal,))) == []
    assert stored.setting.discount_rate == Decimal("0.05")
    assert encode_document(stored) == row.document
