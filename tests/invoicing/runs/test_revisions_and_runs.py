"""Numbers without gaps, revisions that stay, runs that go on; who may make them."""

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
from nimbill.invoicing.documents.document import read, written
from nimbill.invoicing.runs import invoice_run, records
from nimbill.invoicing.runs.operations import finished_run
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.imports.small_files import PAYER, cost
from tests.invoicing.made import numbers, of_a, scope_of, started, stored
from tests.invoicing.month_end import ACCOUNTS_OF_A, MONTH, MonthEnd


def test_numbers_are_without_gaps_over_groups_and_runs(month_end: MonthEnd) -> None:
    groups = [month_end.group(f"BG-{n}", f"00000000000{n}") for n in range(1, 6)]
    month_end.ready(*groups)

    first = numbers(month_end.create(*groups[3:]))
    everybody = numbers(month_end.create())

    assert first == ["202609-0001", "202609-0002"]
    assert everybody == [f"202609-000{n}" for n in range(1, 6)]


def test_an_invoice_that_could_not_be_stored_takes_no_number(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [month_end.group(f"BG-{n}", f"00000000000{n}") for n in range(1, 4)]
    month_end.ready(*groups)
    add_revisions = stored_invoices.add_revisions

    async def failing(db: Any, *of_month: Any) -> None:
        await add_revisions(db, *of_month)
        if groups[0] in [one.draft.company_id for one in of_month[-1]]:
            raise ZeroDivisionError

    monkeypatch.setattr(stored_invoices, "add_revisions", failing)
    answer = month_end.create()

    assert numbers(answer) == ["202609-0001", "202609-0002"]
    assert answer.json()["skipped"] == [{"company_id": groups[0], "reason": "failed"}]


def test_creating_again_keeps_the_number_and_the_earlier_invoice(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)
    before = month_end.invoice(group)
    month_end.save(group, discount_rate=Decimal(0))

    month_end.create()

    invoice = month_end.invoice(group)
    earlier = month_end.get(f"/invoices/{MONTH}/{group}/aws/revisions")
    assert (invoice["invoice_no"], invoice["revision"]) == ("202609-0001", 2)
    assert [one["revision"] for one in earlier.json()] == [1]
    assert earlier.json()[0]["invoice"]["sheet"]["total"] == before["sheet"]["total"] == 190472


def test_a_changed_rate_never_changes_a_created_invoice(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)
    path = f"/invoices/{MONTH}/{group}/aws"
    before = month_end.get(path).text

    month_end.rate(group, rate=200)
    month_end.costs(cost("1", UsageAccountId=ACCOUNTS_OF_A[0]))

    assert month_end.get(path).text == before


@pytest.mark.parametrize("table", ["invoice_revisions", "invoice_papers", "invoice_run_keys"])
@pytest.mark.parametrize("change", ["UPDATE {} SET organisation_id = 'x'", "DELETE FROM {}"])
def test_what_was_sent_cannot_be_changed_by_the_service(
    month_end: MonthEnd, table: str, change: str
) -> None:
    with pytest.raises(sa.exc.DBAPIError, match=r"permission denied|never changes"):
        stored(month_end, change.format(table))


def test_a_group_with_invoices_cannot_be_deleted(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.ready(group)
    month_end.create(group)
    service = month_end.service
    service.http.delete(f"/m/core/accts/aws/000000000001|{PAYER}", headers=service.root())

    answer = service.http.delete(f"/m/core/billinggroup/{group}", headers=service.root())

    assert problem_of(answer, 409)["code"] == "billing_group_in_use"


def test_a_deleted_account_stays_on_the_invoices_it_was_on(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)
    service = month_end.service
    service.http.delete(f"/m/core/accts/aws/{ACCOUNTS_OF_A[1]}|{PAYER}", headers=service.root())

    assert len(month_end.invoice(group)["sheet"]["accounts"]) == 2


def test_who_sees_some_groups_makes_their_invoices_and_no_others(month_end: MonthEnd) -> None:
    seen = month_end.group("BG-1", "000000000001")
    hidden = month_end.group("BG-2", "000000000002")
    month_end.ready(seen, hidden)
    narrowed = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[seen])

    answer = month_end.create(headers=narrowed)

    assert [one["company_id"] for one in answer.json()["created"]] == [seen]
    assert answer.json()["skipped"] == []
    assert violations_of(month_end.create(hidden, headers=narrowed)) == [
        ("group", "existing billing groups")
    ]


def test_every_invoice_leaves_an_audit_row_and_the_run_one(month_end: MonthEnd) -> None:
    groups = [month_end.group(f"BG-{n}", f"00000000000{n}") for n in range(1, 3)]
    month_end.ready(*groups)

    month_end.create()

    rows = month_end.get("/audit").json()
    entries = rows if isinstance(rows, list) else rows["entries"]
    made = [
        (one["action"], one["resource"]) for one in entries if "create_invoice" in one["action"]
    ]
    assert made == [
        ("create_invoices", f"invoices/{MONTH}/aws"),
        ("create_invoice", f"invoice/{MONTH}/{groups[1]}/aws"),
        ("create_invoice", f"invoice/{MONTH}/{groups[0]}/aws"),
    ]


def test_a_repeat_with_the_same_key_makes_no_second_revision(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    headers = month_end.service.root() | {"Idempotency-Key": "month-end"}

    first, again = (month_end.create(group, headers=headers) for _ in range(2))

    assert again.text == first.text
    assert month_end.invoice(group)["revision"] == 1


def test_a_repeat_whose_first_answer_was_lost_in_a_crash_joins_the_same_run(
    month_end: MonthEnd,
) -> None:
    group = of_a(month_end)
    headers = month_end.service.root() | {"Idempotency-Key": "month-end"}
    first = month_end.create(group, headers=headers)
    # as if the process had died between the run's last commit and that of the answer
    stored(month_end, "DELETE FROM idempotency_keys WHERE key = 'month-end' RETURNING 1")

    again = month_end.create(group, headers=headers)

    assert again.json() == first.json()
    assert month_end.invoice(group)["revision"] == 1


def test_a_run_that_was_interrupted_goes_on_and_makes_nothing_twice(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [month_end.group(f"BG-{n}", f"00000000000{n}") for n in range(1, 4)]
    month_end.ready(*groups)
    stored_one, left = invoice_run._Run._stored, [1]

    async def dying(*args: Any) -> Any:
        if not left:
            raise ConnectionError
        left.pop()
        return await stored_one(*args)

    monkeypatch.setattr(invoice_run, "GROUPS_AT_FIRST", 1)
    with monkeypatch.context() as patch:
        patch.setattr(invoice_run._Run, "_stored", dying)
        waiting = month_end.service.run(lambda: _asked(month_end, groups))
    assert len(stored(month_end, "SELECT 1 FROM invoices")) == 1

    answer = month_end.service.run(lambda: _finished(month_end, waiting))

    assert [one.invoice_no for one in answer.created] == [f"202609-000{n}" for n in range(1, 4)]
    assert stored(month_end, "SELECT max(revision) AS most FROM invoices")[0].most == 1


async def _asked(month_end: MonthEnd, groups: list[str]) -> str:
    """Started, and given up on the way."""
    service, scope = month_end.service, scope_of(month_end)
    run_id = await started(month_end, groups)
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        run = await records.find_run(db, scope, run_id)
    assert run is not None
    await service.resources.do_now(scope, run.work_id)
    return run_id


async def _finished(month_end: MonthEnd, run_id: str) -> Any:
    service = month_end.service
    scope = TenantScope(service.organisation.organisation_id)
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        await db.execute(sa.text("UPDATE work SET due = now() WHERE kind = 'create_invoices'"))
    waiting = finished_run(service.resources.engine, service.resources.do_now, scope, run_id)
    return await asyncio.wait_for(waiting, 30)


def test_the_runs_of_a_month_are_listed_with_how_far_they_are(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)

    (run,) = month_end.get(f"/invoices/runs/{MONTH}").json()

    assert (run["state"], run["groups"], run["done"], run["skipped"]) == ("done", 1, 1, 0)


def test_a_group_whose_accounts_cost_nothing_gets_an_invoice_of_nothing(
    month_end: MonthEnd,
) -> None:
    group = month_end.group("BG-1", "000000000001", invoices={"aws": SOUND_SETTING})
    month_end.ready(group)

    month_end.create(group)

    sheet = month_end.invoice(group)["sheet"]
    assert (sheet["lines"], sheet["support"], sheet["agency"], sheet["total"]) == (
        [],
        None,
        None,
        0,
    )


def test_a_kept_invoice_is_read_back_without_a_float_in_it(month_end: MonthEnd) -> None:
    month_end.create(of_a(month_end))
    (row,) = stored(month_end, "SELECT document FROM invoice_revisions")

    def floats(value: Any) -> list[float]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list | tuple):
            return [one for item in value for one in floats(item)]
        return [value] if isinstance(value, float) else []

    kept = read(row.document)
    assert floats(msgspec.to_builtins(kept, builtin_types=(Decimal,))) == []
    assert kept.setting.discount_rate == Decimal("0.05")
    assert written(kept) == row.document
