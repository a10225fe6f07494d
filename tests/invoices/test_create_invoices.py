"""Making a month's invoices, one by one and in bulk."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.invoices import created_records, run_records, runs
from nimbill.invoices.drawing_up import drawn_up
from nimbill.invoices.operations import finished_run
from nimbill.months.records import park
from nimbill.storage import Scope, transaction
from tests.answers import problem_of, violations_of
from tests.billing_groups.bodies import SOUND_SETTING
from tests.imports.small_files import PAYER, cost
from tests.invoices.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.months.closing import close, inside, reopen


def of_a(month_end: MonthEnd) -> str:
    """The group of worked example A, ready."""
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)
    return group


def numbers(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["invoice_no"] for one in answer.json()["created"]]


def missing(answer: Any) -> dict[str, str]:
    return {v["field"]: v["rule"] for v in problem_of(answer, 409)["violations"]}


def stored(month_end: MonthEnd, question: str) -> Any:
    async def ask(db: Any, _scope: Scope) -> Any:
        return (await db.execute(sa.text(question))).all()

    return inside(month_end.service, ask)


def test_a_month_from_the_vendors_file_to_the_last_yen(month_end: MonthEnd) -> None:
    group = of_a(month_end)

    answer = month_end.create(group)

    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "status": "success",
        "created": [{"company_id": group, "vendor": "aws", "invoice_no": "202609-0001"}],
        "skipped": [],
    }
    sheet = month_end.invoice(group)["sheet"]
    printed = [(line["charge"], line["after"]) for line in sheet["lines"]]
    assert printed == [(150269, 142755), (7550, 7173), (3055, 2902)]
    assert (sheet["support"]["charge"], sheet["support"]["after"]) == (16087, 15283)
    assert sheet["agency"]["after"] == 5043
    assert (sheet["pre_tax"], sheet["tax"], sheet["total"]) == (173156, 17316, 190472)


def test_every_amount_of_an_invoice_says_how_it_came_about(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)

    sheet = month_end.invoice(group)["sheet"]

    for one in (*sheet["lines"], sheet["support"], sheet["agency"]):
        assert {"rule", "base", "working", "sources"} <= one["why"].keys()
    for name in ("pre_tax_why", "tax_why", "total_why"):
        assert sheet[name]["working"]


def test_groups_may_come_as_the_keys_of_an_object(month_end: MonthEnd) -> None:
    group = of_a(month_end)

    assert numbers(month_end.create(group, group={group: {}})) == ["202609-0001"]


@pytest.mark.parametrize("field", ["vendor", "group", "bulk"])
def test_every_stated_field_is_required(month_end: MonthEnd, field: str) -> None:
    body = {"vendor": "aws", "group": {}, "bulk": True}
    del body[field]

    answer = month_end.post(f"/invoices/calculation/{MONTH}", body)

    assert violations_of(answer) == [(field, "required")]


@pytest.mark.parametrize("nobody", [[], {}], ids=["list", "object"])
def test_without_bulk_a_group_must_be_named(month_end: MonthEnd, nobody: Any) -> None:
    answer = month_end.create("x", group=nobody)

    assert violations_of(answer) == [("group", "at least one billing group")]


def test_a_named_group_that_is_not_there_is_refused(month_end: MonthEnd) -> None:
    group = of_a(month_end)

    answer = month_end.create(group, "cmp_" + "a" * 26)

    assert violations_of(answer) == [("group", "existing billing groups")]
    assert stored(month_end, "SELECT 1 FROM invoices") == []


# ── what is missing for whom ─────────────────────────────────────────────────────────────────────


def test_named_groups_must_all_be_ready_or_none_is_made(month_end: MonthEnd) -> None:
    ready = of_a(month_end)
    without_accounts = month_end.group("BG-1")
    without_settings = month_end.group("BG-2", "000000000002")
    without_rate = month_end.group("BG-3", "000000000003")
    month_end.save(without_rate)

    answer = month_end.create(ready, without_accounts, without_settings, without_rate)

    assert missing(answer) == {
        without_accounts: "no_accounts",
        without_settings: "settings_missing",
        without_rate: "rate_missing",
    }
    assert stored(month_end, "SELECT 1 FROM invoices") == []


def test_in_bulk_those_that_are_ready_are_made_and_the_others_named(month_end: MonthEnd) -> None:
    ready = of_a(month_end)
    without_accounts = month_end.group("BG-1")
    without_rate = month_end.group("BG-3", "000000000003")
    month_end.save(without_rate)

    answer = month_end.create()

    assert [one["company_id"] for one in answer.json()["created"]] == [ready]
    assert {one["company_id"]: one["reason"] for one in answer.json()["skipped"]} == {
        without_accounts: "no_accounts",
        without_rate: "rate_missing",
    }


def test_in_bulk_it_is_a_conflict_only_when_no_group_is_ready(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")

    problem = problem_of(month_end.create(), 409)

    assert problem["code"] == "no_group_ready"
    assert problem["violations"] == [{"field": group, "rule": "settings_missing"}]


def test_gcp_is_accepted_and_every_group_has_no_accounts(month_end: MonthEnd) -> None:
    group = of_a(month_end)

    assert missing(month_end.create(vendor="gcp")) == {group: "no_accounts"}
    assert missing(month_end.create(group, vendor="gcp")) == {group: "no_accounts"}


def test_lines_of_two_currencies_cannot_be_on_one_invoice(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.costs(
        cost("1", UsageAccountId="000000000001"),
        cost("1", UsageAccountId="000000000001", CurrencyCode="JPY"),
    )
    month_end.ready(group)

    assert missing(month_end.create(group)) == {group: "mixed_currency"}


def test_a_currency_nobody_has_a_rate_for_cannot_be_billed(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.costs(cost("1", UsageAccountId="000000000001", CurrencyCode="EUR"))
    month_end.ready(group)

    assert missing(month_end.create(group)) == {group: "unsupported_currency"}


def test_a_usage_table_that_is_not_there_cannot_be_asked(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.save(group, substitution_fee="usagetable")

    assert missing(month_end.create(group)) == {group: "usage_table_missing"}


def test_an_invoice_by_tag_needs_to_know_which(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.save(group, calc_type="tag")

    assert missing(month_end.create(group)) == {group: "tag_key_missing"}


def test_a_parked_month_is_not_billed(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    inside(month_end.service, lambda db, scope: park(db, scope, "aws", MONTH, "imp_x", "sums"))

    assert missing(month_end.create(group)) == {group: "month_parked"}
    assert missing(month_end.create()) == {group: "month_parked"}


def test_a_closed_month_is_not_billed_until_it_is_reopened(month_end: MonthEnd) -> None:
    group = of_a(month_end)
    month_end.create(group)
    assert close(month_end.service, MONTH).status_code == 200

    for answer in (month_end.create(group), month_end.create()):
        assert problem_of(answer, 409)["code"] == "month_closed"
    assert reopen(month_end.service, MONTH).status_code == 200
    assert numbers(month_end.create(group)) == ["202609-0001"]


def test_one_group_that_goes_wrong_does_not_stop_the_others(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = month_end.group("BG-1", "000000000001")
    good = month_end.group("BG-2", "000000000002")
    month_end.ready(bad, good)

    def failing(found: Any, *args: Any, **named: Any) -> Any:
        if found.group.company_id == bad:
            raise ZeroDivisionError
        return drawn_up(found, *args, **named)

    monkeypatch.setattr(runs, "drawn_up", failing)

    answer = month_end.create()

    assert numbers(answer) == ["202609-0001"]
    assert answer.json()["skipped"] == [{"company_id": bad, "reason": "failed"}]
    assert answer.json()["created"][0]["company_id"] == good


# ── what counts ──────────────────────────────────────────────────────────────────────────────────


def test_by_tag_what_has_no_value_stands_under_the_empty_one(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.costs(
        cost("10", UsageAccountId="000000000001", Team="web"),
        cost("20", UsageAccountId="000000000001", Team="data"),
        cost("5", UsageAccountId="000000000001"),
        cost("0", UsageAccountId="000000000001", ProductCode="AmazonS3"),
    )
    month_end.put("/settings", {"cost_tag_key": "Team"})
    month_end.ready(group, calc_type="tag", discount_rate=0)

    assert month_end.create(group).status_code == 200

    invoice = month_end.invoice(group)
    lines = [(one["tag"], one["service"], one["cost"]) for one in invoice["sheet"]["lines"]]
    assert lines == [
        ("data", "AmazonEC2", 20),
        ("web", "AmazonEC2", 10),
        ("", "AmazonEC2", 5),
        ("", "AmazonS3", 0),
    ]
    assert invoice["tag_key"] == "Team"


def test_the_vendors_tax_and_what_is_not_applied_are_on_no_invoice(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.costs(
        cost("10", UsageAccountId="000000000001"),
        cost("1", UsageAccountId="000000000001", LineItemType="Tax"),
        cost("-2", UsageAccountId="000000000001", LineItemType="EdpDiscount"),
        cost("672", UsageAccountId="000000000001", LineItemType="Fee"),
    )
    month_end.ready(group, support_fee="fix", discount_rate=0, substitution_rate=0)

    month_end.create(group)

    invoice = month_end.invoice(group)
    assert [line["cost"] for line in invoice["sheet"]["lines"]] == [10]
    assert invoice["sheet"]["entries"] == []
    assert invoice["stock"] == [{"currency": "USD", "amount": 680}]


def test_an_applied_entry_stands_on_the_invoice(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.costs(cost("672", UsageAccountId="000000000001", LineItemType="Fee"))
    entries = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    body = {
        "data": [entries[0]["id"]],
        "month": MONTH,
        "exchange_rate": 0,
        "tax_free": True,
        "apply": True,
        "vendor": "aws",
    }
    assert month_end.post("/billinggroup/recalculation", body).status_code == 200
    month_end.ready(group)

    month_end.create(group)

    sheet = month_end.invoice(group)["sheet"]
    assert [entry["amount"] for entry in sheet["entries"]] == [100968]
    assert (sheet["tax_free"], sheet["tax"], sheet["total"]) == (100968, 0, 100968)


def test_a_moved_reservations_fee_is_billed_to_its_new_owner(month_end: MonthEnd) -> None:
    owner = month_end.group("BG-1", "000000000001")
    other = month_end.group("BG-2", "000000000002")
    month_end.costs(
        cost(
            "100",
            UsageAccountId="000000000001",
            LineItemType="RIFee",
            ReservationARN="arn:aws:ec2:x:000000000001:reserved-instances/1",
            NumberOfReservations="4",
            StartTime="2026-01-01T00:00:00Z",
            EndTime="2027-01-01T00:00:00Z",
        )
    )
    record = month_end.get("/ri/purchased?vendor=aws").json()[0]
    moved = {"customer_id": "000000000002", "number": 1, "vendor": "aws"}
    assert month_end.post(f"/ri/purchased/{record['id']}", moved).status_code == 200
    month_end.ready(owner, other)

    month_end.create()

    costs = [month_end.invoice(group)["sheet"]["lines"][0]["cost"] for group in (owner, other)]
    assert costs == [75, 25]


def test_free_format_items_are_read_when_the_invoice_is_made(month_end: MonthEnd) -> None:
    group = month_end.group("BG-1", "000000000001")
    month_end.ready(group)
    item = {"enabled": True, "label": "setup", "unit_cost": 500, "quantity": 2, "total": 1000}
    month_end.post(f"/billinggroup/{group}/freeformat/aws", {"additional_items": [item]})

    month_end.create(group)
    month_end.service.http.delete(
        f"/m/core/billinggroup/{group}/freeformat", headers=month_end.service.root()
    )

    sheet = month_end.invoice(group)["sheet"]
    assert [one["total"] for one in sheet["items"]] == [1000]
    assert sheet["total"] == 1100


# ── numbers and revisions ────────────────────────────────────────────────────────────────────────


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
    add_revision = created_records.add_revision

    async def failing(db: Any, scope: Any, run_id: str, number: int, document: Any) -> None:
        await add_revision(db, scope, run_id, number, document)
        if document.company_id == groups[0]:
            raise ZeroDivisionError

    monkeypatch.setattr(created_records, "add_revision", failing)

    assert numbers(month_end.create()) == ["202609-0001", "202609-0002"]


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


# ── who may, and what is left behind ─────────────────────────────────────────────────────────────


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
    made_one, left = runs._made_one, [1]

    async def dying(*args: Any) -> Any:
        if not left:
            raise ConnectionError
        left.pop()
        return await made_one(*args)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_made_one", dying)
        waiting = month_end.service.run(lambda: _asked(month_end, groups))
    assert len(stored(month_end, "SELECT 1 FROM invoices")) == 1

    answer = month_end.service.run(lambda: _finished(month_end, waiting))

    assert [one.invoice_no for one in answer.created] == [f"202609-000{n}" for n in range(1, 4)]
    assert stored(month_end, "SELECT max(revision) AS most FROM invoices")[0].most == 1


async def _asked(month_end: MonthEnd, groups: list[str]) -> str:
    """Started, and given up on the way."""
    service = month_end.service
    scope = Scope(service.organisation.organisation_id)
    asked = run_records.Asked(
        month=MONTH,
        vendor="aws",
        company_ids=groups,
        groups_hash=b"x",
        actor={"actor": "usr", "actor_name": "test", "request_id": "req"},
    )
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        run_id = await run_records.start_or_join(db, scope, asked, None)
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        run = await run_records.find_run(db, scope, run_id)
    assert run is not None
    await service.resources.do_now(scope, run.work_id)
    return run_id


async def _finished(month_end: MonthEnd, run_id: str) -> Any:
    service = month_end.service
    scope = Scope(service.organisation.organisation_id)
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
