"""Recording payments of sent invoices, taking them back, and what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.invoicing.documents.stored_invoices import lock_invoices
from nimbill.receivables.payments import records
from tests.held_locks import call_while_locked
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations
from tests.receivables.payments.paid_invoices import (
    INVOICE_NO,
    TOTAL,
    create_empty_invoice,
    create_sent_invoice,
    credit,
    path_of,
    pay,
    read_amounts,
    read_payments,
    request_payment,
    reverse,
    send_invoice,
    set_clock,
)
from tests.temporary_database import execute_sql

REVERSAL = "reversed_time = now(), reversed_by = 'r', reverse_reason = 'r'"
PERIOD = BillingPeriod(MONTH, "aws")


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return create_sent_invoice(month_end)


def test_an_invoice_is_paid_in_parts(month_end: MonthEnd, group: str) -> None:
    assert read_amounts(month_end, group) == (0, 0, TOTAL, "open")

    first = pay(month_end, group, 100000, note="bank transfer")
    assert read_amounts(month_end, group) == (0, 100000, 90472, "partly_paid")
    second = pay(month_end, group, 90472, paid_on="2026-10-01")
    found = read_payments(month_end, group)

    assert read_amounts(month_end, group) == (0, TOTAL, 0, "paid")
    assert found["payments"] == [second, first]  # by the date of payment
    assert (found["invoice_no"], found["invoice_state"]) == (INVOICE_NO, "sent")
    assert (found["total"], found["currency"], found["due_date"]) == (TOTAL, "jpy", None)
    assert (found["overdue"], found["days_overdue"]) == (False, 0)
    assert (first["amount"], first["paid_on"], first["note"]) == (
        100000,
        "2026-10-05",
        "bank transfer",
    )
    assert (first["invoice_no"], first["created_by"]) == (INVOICE_NO, "root")
    assert (first["reversed_time"], first["reversed_by"], first["reverse_reason"]) == (None,) * 3


def test_more_than_the_open_balance_must_be_confirmed(month_end: MonthEnd, group: str) -> None:
    pay(month_end, group, 190000)

    problem = read_problem(request_payment(month_end, group, 473), 409)

    assert problem["code"] == "exceeds_balance"
    assert "472 JPY" in problem["detail"]
    assert read_amounts(month_end, group) == (0, 190000, 472, "partly_paid")
    pay(month_end, group, 473, overpaid=True)
    assert read_amounts(month_end, group) == (0, 190473, -1, "overpaid")
    problem = read_problem(request_payment(month_end, group, 1), 409)
    assert "-1 JPY" in problem["detail"]


def test_a_credit_note_reduces_the_open_balance(month_end: MonthEnd, group: str) -> None:
    assert credit(month_end, group, 1000).status_code == 201

    refused = request_payment(month_end, group, TOTAL)
    pay(month_end, group, TOTAL - 1100)

    assert read_problem(refused, 409)["code"] == "exceeds_balance"
    assert read_amounts(month_end, group) == (1100, TOTAL - 1100, 0, "paid")
    assert credit(month_end, group, 100).status_code == 201
    assert read_amounts(month_end, group) == (1210, TOTAL - 1100, -110, "overpaid")


def test_a_payment_is_reversed_once_and_stays_in_the_list(month_end: MonthEnd, group: str) -> None:
    payment = pay(month_end, group, TOTAL)

    reversed_once = reverse(month_end, group, payment)
    again = reverse(month_end, group, payment, "again")

    assert reversed_once.status_code == 200, reversed_once.text
    assert reversed_once.json()["reverse_reason"] == "bounced"
    assert reversed_once.json()["reversed_by"] == "root"
    assert read_problem(again, 409)["code"] == "already_reversed"
    assert read_amounts(month_end, group) == (0, 0, TOTAL, "open")
    (listed,) = read_payments(month_end, group)["payments"]
    assert (listed["payment_id"], listed["reverse_reason"]) == (payment["payment_id"], "bounced")
    pay(month_end, group, TOTAL)


def test_a_payment_is_reversed_by_the_path_of_its_own_invoice(
    month_end: MonthEnd, group: str
) -> None:
    payment = pay(month_end, group, 1)
    other = create_empty_invoice(month_end)
    send_invoice(month_end, other)

    read_problem(reverse(month_end, other, payment), 404)
    read_problem(reverse(month_end, group, {"payment_id": "pay_unknown"}), 404)
    assert read_amounts(month_end, group)[1] == 1


def test_only_a_sent_invoice_that_is_not_cancelled_is_paid(month_end: MonthEnd) -> None:
    missing = month_end.create_group("BG-3")
    read_problem(request_payment(month_end, missing, 1), 404)
    read_problem(month_end.get(path_of(missing)), 404)
    group = create_empty_invoice(month_end)

    assert read_problem(request_payment(month_end, group, 1), 409)["code"] == "not_sent"
    assert read_payments(month_end, group)["invoice_state"] == "created"

    send_invoice(month_end, group)
    assert month_end.put(path_of(group, "/cancelled"), {"reason": "x"}).status_code == 200
    assert read_problem(request_payment(month_end, group, 1), 409)["code"] == "invoice_cancelled"
    assert read_payments(month_end, group)["payments"] == []


def test_a_paid_invoice_is_cancelled_only_after_its_payments_are_reversed(
    month_end: MonthEnd, group: str
) -> None:
    payment = pay(month_end, group, 1)

    refused = month_end.put(path_of(group, "/cancelled"), {"reason": "x"})
    reverse(month_end, group, payment)
    cancelled = month_end.put(path_of(group, "/cancelled"), {"reason": "x"})

    assert read_problem(refused, 409)["code"] == "has_payments"
    assert cancelled.status_code == 200
    assert read_payments(month_end, group)["invoice_state"] == "cancelled"


BAD_FIELDS: tuple[tuple[str, Any], ...] = (
    ("amount", 0),
    ("amount", -1),
    ("amount", Decimal("0.5")),
    ("amount", 10**15 + 1),
    ("amount", "1"),
    ("amount", None),
    ("paid_on", "2026-02-29"),
    ("paid_on", "2026/10/05"),
    ("paid_on", 20261005),
    ("paid_on", "9999-12-31"),
    ("paid_on", None),
    ("note", ""),
    ("note", "n" * 1001),
    ("overpaid", "yes"),
)


def test_bad_requests_are_refused(month_end: MonthEnd, group: str) -> None:
    for field, value in BAD_FIELDS:
        body = {"amount": 1, "paid_on": "2026-10-05", field: value}

        violations = read_violations(month_end.post(path_of(group), body))

        assert [name for name, _ in violations] == [field], value
        assert read_payments(month_end, group)["payments"] == [], value


def test_a_reversal_needs_a_reason(month_end: MonthEnd, group: str) -> None:
    payment = pay(month_end, group, 1)

    for reason in ("", "r" * 1001):
        ((field, _),) = read_violations(reverse(month_end, group, payment, reason))
        assert field == "reason"
    assert read_amounts(month_end, group)[1] == 1


def test_today_is_the_day_in_the_time_zone_of_the_organisation(
    month_end: MonthEnd, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert month_end.put("/settings", {"time_zone": "Asia/Tokyo"}).status_code == 200
    set_clock(monkeypatch, datetime(2026, 10, 5, 15, 0, tzinfo=UTC))  # midnight in Tokyo

    pay(month_end, group, 1, paid_on="2026-10-06")
    ((field, _),) = read_violations(request_payment(month_end, group, 1, "2026-10-07"))

    assert field == "paid_on"


def test_cents_are_paid_in_dollars(month_end: MonthEnd) -> None:
    group = create_sent_invoice(month_end, amount=100, currency="usd")
    total = read_payments(month_end, group)["total"]

    payment = pay(month_end, group, Decimal("0.5"))
    ((field, _),) = read_violations(request_payment(month_end, group, Decimal("0.001")))

    assert field == "amount"
    assert (payment["currency"], str(payment["amount"])) == ("usd", "0.50")
    assert read_amounts(month_end, group)[2] == total - Decimal("0.50")


def test_others_see_and_change_nothing(month_end: MonthEnd, group: str) -> None:
    payment = pay(month_end, group, 1000)
    other = month_end.create_group("BG-2", "000000000002")
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])
    reader = month_end.service.caller(RoleAction.ReadInvoice)

    read_problem(month_end.get(path_of(group), restricted), 404)
    read_problem(request_payment(month_end, group, 1, headers=restricted), 404)
    read_problem(reverse(month_end, group, payment, headers=restricted), 404)
    for path in ("/payments", "/receivables"):
        hidden = month_end.get(path, restricted)
        assert (hidden.json(), hidden.headers["x-total-count"]) == ([], "0")
        assert len(month_end.get(path, reader).json()) == 1
    assert month_end.get(path_of(group), reader).status_code == 200
    read_problem(request_payment(month_end, group, 1, headers=reader), 403)
    read_problem(reverse(month_end, group, payment, headers=reader), 403)
    assert read_amounts(month_end, group)[1] == 1000


def test_not_even_the_owner_changes_a_payment(
    month_end: MonthEnd, group: str, superuser: Address
) -> None:
    pay(month_end, group, 1)

    for change in (
        "UPDATE payments SET amount = 7",
        "UPDATE payments SET note = 'n'",
        f"UPDATE payments SET amount = 7, {REVERSAL}",
        f"UPDATE payments SET company_id = 'x', {REVERSAL}",
        "DELETE FROM payments",
        "TRUNCATE payments",
    ):
        with pytest.raises(Exception, match="cannot be changed"):
            execute_sql(superuser, change)
    assert read_amounts(month_end, group)[1] == 1


def test_not_even_the_owner_changes_a_reversal(
    month_end: MonthEnd, group: str, superuser: Address
) -> None:
    payment = pay(month_end, group, 1)
    assert reverse(month_end, group, payment).status_code == 200

    for change in (
        "reverse_reason = 'another'",
        "reversed_time = NULL, reversed_by = NULL, reverse_reason = NULL",
    ):
        stmt = f"UPDATE payments SET {change} WHERE payment_id = $1"
        with pytest.raises(Exception, match="cannot be changed"):
            execute_sql(superuser, stmt, payment["payment_id"])


def test_both_changes_are_audited_with_the_request(month_end: MonthEnd, group: str) -> None:
    payment = pay(month_end, group, 5, note="cash")
    reverse(month_end, group, payment)

    (recorded,) = month_end.get("/audit?action=record_payment").json()
    (taken_back,) = month_end.get("/audit?action=reverse_payment").json()

    resource = f"invoice/{MONTH}/{group}/aws/payments/{payment['payment_id']}"
    assert [recorded["resource"], taken_back["resource"]] == [resource, resource]
    assert recorded["company_id"] == taken_back["company_id"] == group
    assert recorded["sent"] == {"amount": 5, "paid_on": "2026-10-05", "note": "cash"}
    assert taken_back["sent"] == {"reason": "bounced"}


def test_a_repeated_request_with_its_key_records_one_payment(
    month_end: MonthEnd, group: str
) -> None:
    headers = month_end.service.root() | {"Idempotency-Key": "transfer-1"}

    first, second = (request_payment(month_end, group, 5, headers=headers) for _ in range(2))

    assert first.json() == second.json()
    assert read_amounts(month_end, group)[1] == 5


@pytest.mark.parametrize("seed", range(3))
def test_open_paid_and_credited_always_add_up_to_the_total(
    month_end: MonthEnd, group: str, seed: int
) -> None:
    """Random payments, reversals and credit notes, compared with sums of their own."""
    random, paid, credited = Random(seed), dict[str, Any](), Decimal(0)
    for _ in range(40):
        action = random.choice(("pay", "pay", "reverse", "credit"))
        if action == "pay":
            amount, overpaid = random.randint(1, 60000), random.random() < 0.3
            response = request_payment(month_end, group, amount, overpaid=overpaid)
            fits = amount <= TOTAL - credited - sum(paid.values())
            assert response.status_code == (201 if fits or overpaid else 409), response.text
            if response.status_code == 201:
                paid[response.json()["payment_id"]] = amount
        elif action == "reverse" and paid:
            payment_id = random.choice(sorted(paid))
            assert reverse(month_end, group, {"payment_id": payment_id}).status_code == 200
            del paid[payment_id]
        elif action == "credit":
            response = credit(month_end, group, random.randint(1, 20000))
            if response.status_code == 201:
                credited += Decimal(str(response.json()["total"]))
        found = read_payments(month_end, group)
        assert found["open_balance"] + found["paid"] + found["credited"] == found["total"] == TOTAL
        assert (found["paid"], found["credited"]) == (sum(paid.values()), credited)


def test_a_payment_waits_for_another_one_that_is_under_way(month_end: MonthEnd, group: str) -> None:
    async def lock(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_invoices(db, scope, PERIOD, [group])

    async def pay_rest(db: AsyncConnection, scope: TenantScope) -> None:
        payment = records.NewPayment(
            payment_id="pay_other",
            period=PERIOD,
            company_id=group,
            currency=Currency.jpy,
            amount=Decimal(TOTAL),
            paid_on="2026-10-05",
            note=None,
        )
        await records.add_payments(db, scope, [payment], by="root")

    outcome = call_while_locked(
        month_end.service, lock, lambda: request_payment(month_end, group, 1), change=pay_rest
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "exceeds_balance"


def test_of_two_payments_at_once_only_one_pays_the_balance(month_end: MonthEnd, group: str) -> None:
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(request_payment, month_end, group, 100000) for _ in range(2)]
        statuses = sorted(call.result().status_code for call in calls)

    assert statuses == [201, 409]
    assert read_amounts(month_end, group) == (0, 100000, 90472, "partly_paid")
