"""Making a month's invoices, one by one and in bulk."""

from __future__ import annotations

from decimal import Decimal

from tests.answers import problem_of
from tests.invoices.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd


def test_a_month_from_the_vendors_file_to_the_last_yen(month_end: MonthEnd) -> None:
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)

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


def test_what_an_account_and_a_group_owe_is_listed(month_end: MonthEnd) -> None:
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)
    month_end.create(group)

    totals = month_end.get(f"/invoice/{MONTH}/details").json()

    assert [account["total_exchanged"] for account in totals["accounts"]] == [149928, 2902]
    assert totals["billing_groups"][0]["total_amount_exchanged"] == 190472


def test_a_rate_before_settings_is_refused_with_whom_it_concerns(month_end: MonthEnd) -> None:
    group = month_end.group("BG-A")

    problem = problem_of(month_end.rate(group), 409)

    assert problem["violations"] == [{"field": group, "rule": "settings_missing"}]


def test_creating_again_keeps_the_number_and_the_earlier_invoice(month_end: MonthEnd) -> None:
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)
    month_end.create(group)
    month_end.save(group, discount_rate=Decimal(0))

    month_end.create()

    invoice = month_end.invoice(group)
    earlier = month_end.get(f"/invoices/{MONTH}/{group}/aws/revisions").json()
    assert (invoice["invoice_no"], invoice["revision"]) == ("202609-0001", 2)
    assert [one["invoice"]["sheet"]["total"] for one in earlier] == [190472]
