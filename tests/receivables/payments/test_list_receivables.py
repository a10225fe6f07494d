"""Lists of payments and of open balances."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation import exact_json
from tests.customers.invoice_templates.templates import create_template
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_violations
from tests.receivables.payments.paid_invoices import (
    INVOICE_NO,
    TOTAL,
    create_empty_invoice,
    create_sent_invoice,
    credit,
    path_of,
    pay,
    read_payments,
    reverse,
    set_clock,
)


def read_list(month_end: MonthEnd, path: str) -> Any:
    response = month_end.get(path)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def create_due_invoices(month_end: MonthEnd, **days: int | None) -> dict[str, str]:
    """Sent invoices of groups with these names, due after so many days; None is never due."""
    groups = {}
    for number, (name, due_days) in enumerate(days.items(), start=1):
        fields: dict[str, Any] = {}
        if due_days is not None:
            template = create_template(month_end.service, due_rule="days", due_days=due_days)
            fields = {"invoice_template_id": template}
        groups[name] = create_sent_invoice(month_end, name, f"{number + 1:012}", **fields)
    return groups


def test_receivables_are_sorted_by_due_date(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = create_due_invoices(month_end, never=None, late=30, soon=10, paid=5)
    pay(month_end, groups["paid"], read_payments(month_end, groups["paid"])["total"])
    pay(month_end, groups["soon"], 100)
    due_date = read_payments(month_end, groups["soon"])["due_date"]
    due = datetime.fromisoformat(due_date).replace(tzinfo=UTC)
    set_clock(monkeypatch, due + timedelta(days=3))

    listed, overdue = (
        read_list(month_end, f"/receivables{query}") for query in ("", "?balance=overdue")
    )

    assert [each["billinggroup_name"] for each in listed] == [
        read_group_name(month_end, groups[name]) for name in ("soon", "late", "never")
    ]
    (soon,) = overdue
    assert soon == listed[0]
    assert (soon["invoice_no"], soon["company_id"]) == ("202609-0003", groups["soon"])
    assert (soon["month"], soon["vendor"], soon["currency"]) == (MONTH, "aws", "jpy")
    assert soon["open_balance"] == soon["total"] - 100
    assert (soon["credited"], soon["paid"], soon["state"]) == (0, 100, "partly_paid")
    assert (soon["due_date"], soon["days_overdue"]) == (due_date, 3)
    assert [each["days_overdue"] for each in listed[1:]] == [0, 0]
    found = read_payments(month_end, groups["soon"])
    assert (found["overdue"], found["days_overdue"]) == (True, 3)
    settled, everything = (
        read_list(month_end, f"/receivables?balance={balance}") for balance in ("settled", "all")
    )
    assert [(each["company_id"], each["state"]) for each in settled] == [(groups["paid"], "paid")]
    assert (settled[0]["open_balance"], settled[0]["days_overdue"]) == (0, 0)
    assert everything == settled + listed
    assert read_list(month_end, "/receivables?balance=open") == listed


def read_group_name(month_end: MonthEnd, company_id: str) -> str:
    (group,) = [
        each for each in month_end.get("/billinggroup").json() if each["company_id"] == company_id
    ]
    return str(group["billinggroup_name"])


def test_an_invoice_is_overdue_from_the_day_after_its_due_date(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert month_end.put("/settings", {"time_zone": "Asia/Tokyo"}).status_code == 200
    groups = create_due_invoices(month_end, due=10)
    due_date = read_payments(month_end, groups["due"])["due_date"]
    last_hour = datetime.fromisoformat(f"{due_date}T14:59:00+00:00")  # of this day in Tokyo

    for minutes, days in ((0, []), (1, [1])):
        set_clock(monkeypatch, last_hour + timedelta(minutes=minutes))
        overdue = read_list(month_end, "/receivables?balance=overdue")
        assert [each["days_overdue"] for each in overdue] == days


def test_receivables_have_pages_and_filters(month_end: MonthEnd) -> None:
    groups = create_due_invoices(month_end, first=10, second=20, third=30)

    page = month_end.get("/receivables?limit=1&offset=1")
    of_group = read_list(month_end, f"/receivables?company_id={groups['third']}")

    assert page.headers["x-total-count"] == "3"
    assert [each["company_id"] for each in page.json()] == [groups["second"]]
    assert [each["company_id"] for each in of_group] == [groups["third"]]
    assert len(read_list(month_end, "/receivables?vendor=aws")) == 3
    assert read_list(month_end, "/receivables?vendor=azure") == []
    assert read_list(month_end, "/receivables?company_id=unknown") == []


def test_receivables_are_searched_and_sorted(month_end: MonthEnd) -> None:
    groups = create_due_invoices(month_end, first=10, second=20)
    pay(month_end, groups["first"], 1)

    found = read_list(month_end, "/receivables?search=202609-0002")
    largest = read_list(month_end, "/receivables?sort=-open_balance")
    by_number = read_list(month_end, "/receivables?sort=-invoice_no")

    assert [each["company_id"] for each in found] == [groups["second"]]
    assert [each["company_id"] for each in largest] == [groups["second"], groups["first"]]
    assert [each["invoice_no"] for each in by_number] == ["202609-0002", "202609-0001"]
    assert read_list(month_end, "/receivables?search=202609-2") == []


def test_totals_are_added_up_by_currency(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = create_due_invoices(month_end, soon=10, late=30, paid=5)
    dollars = create_sent_invoice(month_end, "usd", "000000000009", amount=100, currency="usd")
    create_empty_invoice(month_end, "BG-8")  # not sent
    assert credit(month_end, groups["late"], 1000).status_code == 201
    pay(month_end, groups["soon"], 100)
    pay(month_end, groups["paid"], TOTAL)
    pay(month_end, dollars, Decimal("0.25"))
    due_date = read_payments(month_end, groups["soon"])["due_date"]
    due = datetime.fromisoformat(due_date).replace(tzinfo=UTC)
    set_clock(monkeypatch, due + timedelta(days=3))

    yen, cents = read_list(month_end, "/receivables/totals")
    (overdue,) = read_list(month_end, "/receivables/totals?balance=overdue")
    (settled,) = read_list(month_end, "/receivables/totals?balance=settled")

    left = {"total": 2 * TOTAL, "credited": 1100, "paid": 100, "open_balance": 2 * TOTAL - 1200}
    assert yen == {"currency": "jpy", "invoices": 2, "overdue": TOTAL - 100, **left}
    assert (cents["currency"], cents["invoices"], cents["overdue"]) == ("usd", 1, 0)
    assert cents["open_balance"] == cents["total"] - Decimal("0.25")
    assert (overdue["invoices"], overdue["open_balance"]) == (1, TOTAL - 100)
    assert (settled["invoices"], settled["open_balance"], settled["paid"]) == (1, 0, TOTAL)


def test_totals_are_those_of_the_listed_invoices(month_end: MonthEnd) -> None:
    groups = create_due_invoices(month_end, first=10, second=20)
    for query in (
        "",
        f"company_id={groups['first']}",
        "vendor=azure",
        "search=202609-0002",
        "balance=all&search=nothing",
        "balance=settled",
    ):
        listed = read_list(month_end, f"/receivables?{query}")

        totals = read_list(month_end, f"/receivables/totals?{query}")

        assert sum(each["invoices"] for each in totals) == len(listed), query
        assert sum(each["open_balance"] for each in totals) == sum(
            each["open_balance"] for each in listed
        )


def test_only_sent_invoices_with_a_balance_are_receivable(month_end: MonthEnd) -> None:
    group = create_sent_invoice(month_end)
    other = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(other)
    assert month_end.create_invoices(other).status_code == 200

    assert [each["open_balance"] for each in read_list(month_end, "/receivables")] == [TOTAL]
    assert credit(month_end, group, 1000).status_code == 201
    payment = pay(month_end, group, TOTAL - 1100)
    assert read_list(month_end, "/receivables") == []
    reverse(month_end, group, payment)
    (listed,) = read_list(month_end, "/receivables")
    assert (listed["credited"], listed["paid"], listed["open_balance"]) == (1100, 0, TOTAL - 1100)
    assert listed["state"] == "open"
    pay(month_end, group, TOTAL, overpaid=True)
    (listed,) = read_list(month_end, "/receivables")
    assert (listed["open_balance"], listed["state"]) == (-1100, "overpaid")
    assert read_list(month_end, "/receivables?balance=overdue") == []


def test_a_cancelled_invoice_is_not_receivable(month_end: MonthEnd) -> None:
    group = create_sent_invoice(month_end)

    assert month_end.put(path_of(group, "/cancelled"), {"reason": "x"}).status_code == 200

    for path in ("/receivables", "/receivables?balance=all", "/receivables/totals"):
        assert read_list(month_end, path) == []


def test_payments_are_listed_by_date(month_end: MonthEnd) -> None:
    group = create_sent_invoice(month_end)
    other = create_due_invoices(month_end, other=10)["other"]
    late, early = (pay(month_end, group, 1, paid_on=f"2026-10-{day}") for day in ("09", "05"))
    of_other = pay(month_end, other, 2, paid_on="2026-10-07")
    reversed_early = exact_json.decode_stored(reverse(month_end, group, early).text)

    assert read_list(month_end, "/payments") == [reversed_early, of_other, late]
    assert read_list(month_end, "/payments?from=2026-10-07&to=2026-10-09") == [of_other, late]
    assert read_list(month_end, "/payments?to=2026-10-05") == [reversed_early]
    assert read_list(month_end, f"/payments?company_id={other}") == [of_other]
    assert read_list(month_end, "/payments?company_id=unknown") == []
    page = month_end.get("/payments?limit=1&offset=1")
    assert page.headers["x-total-count"] == "3"
    assert [each["payment_id"] for each in page.json()] == [of_other["payment_id"]]
    assert late["invoice_no"] == INVOICE_NO


@pytest.mark.parametrize("query", ["from=2026-02-30", "to=2026-13-01", "from=yesterday", "to="])
def test_other_dates_are_refused(month_end: MonthEnd, query: str) -> None:
    ((field, rule),) = read_violations(month_end.get(f"/payments?{query}"))

    assert (field, rule) == (query.partition("=")[0], "a date (yyyy-mm-dd)")
