"""GET /m/core/invoices/{month}/summary and …/{company_id}/{vendor}/comparison"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation import exact_json
from tests.costs.months.month_requests import close_month
from tests.imports.aws_reports import report_line
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import ACCOUNTS_OF_A, MONTH, MonthEnd

LATER = "2026-10"
DATES = {
    "BillingPeriodStartDate": "2026-10-01T00:00:00Z",
    "UsageStartDate": "2026-10-05T10:00:00Z",
    "UsageEndDate": "2026-10-05T11:00:00Z",
    "UsageAccountId": ACCOUNTS_OF_A[0],
}


def read(month_end: MonthEnd, path: str) -> Any:
    response = month_end.get(path)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


@pytest.fixture(scope="module")
def group(shared_month_end: MonthEnd) -> str:
    """Two months: the second has other costs, another rate, discount and no RDS."""
    month_end = shared_month_end
    company_id = prepare_example_a(month_end)
    assert month_end.create_invoices(company_id).status_code == 200
    later = MonthEnd(month_end.service, month_end.folder, month=LATER)
    later.import_costs(
        report_line("1200", **DATES),
        report_line("50.25", ProductCode="AmazonS3", **DATES),
    )
    assert later.save_settings(company_id, discount_rate=Decimal("0.03")).status_code == 200
    assert later.save_rate(company_id, rate=Decimal(155)).status_code == 200
    assert later.create_invoices(company_id).status_code == 200
    month_end.create_group("BG-EMPTY", "333333333333")
    return company_id


@pytest.fixture(scope="module")
def comparison(shared_month_end: MonthEnd, group: str) -> Any:
    return read(shared_month_end, f"/invoices/{LATER}/{group}/aws/comparison")


def test_causes_add_up_to_the_change_of_the_total(comparison: Any) -> None:
    found = {caused["cause"]: caused["amount"] for caused in comparison["causes"]}
    assert sum(found.values()) == comparison["change"]
    assert comparison["change"] == comparison["total"] - comparison["total_before"]
    # (1250.25 - 1070.706456789) × 0.95 × 150.25 and 1250.25 × (155 - 150.25) × 0.95
    assert (found["usage"], found["exchange_rate"]) == (25628, 5642)
    assert set(found) == {"usage", "exchange_rate", "discount", "support", "agency", "tax"}


def test_every_amount_of_both_invoices_is_compared(comparison: Any) -> None:
    usage = {row["service"]: row for row in comparison["amounts"] if row["kind"] == "usage"}
    assert set(usage) == {"AmazonEC2", "AmazonS3", "AmazonRDS"}
    assert usage["AmazonRDS"]["amount"] is None
    assert usage["AmazonRDS"]["change"] == -usage["AmazonRDS"]["amount_before"]
    assert (usage["AmazonEC2"]["cost"], usage["AmazonEC2"]["line"]) == (1200, "usage-1")
    changes = [abs(row["change"]) for row in comparison["amounts"]]
    assert changes == sorted(changes, reverse=True)
    assert sum(row["change"] for row in comparison["amounts"]) == (
        comparison["pre_tax"] - comparison["pre_tax_before"]
    )


def test_without_an_earlier_invoice_every_amount_is_new(
    shared_month_end: MonthEnd, group: str
) -> None:
    found = read(shared_month_end, f"/invoices/{MONTH}/{group}/aws/comparison")
    assert found["invoice_no_before"] is None
    assert found["change"] == found["total"] == sum(row["amount"] for row in found["causes"])
    assert {row["amount_before"] for row in found["amounts"]} == {None}


def test_the_summary_has_totals_of_the_selection(shared_month_end: MonthEnd, group: str) -> None:
    invoice = shared_month_end.get_invoice(group)
    found = read(shared_month_end, f"/invoices/{MONTH}/summary?vendor=aws&sort=-total&limit=1")
    assert found["count"] == 2
    (row,) = found["invoices"]
    assert (row["company_id"], row["invoice_no"]) == (group, invoice["invoice_no"])
    assert row["warnings"] == ["issuer_missing"]
    for name in ("pre_tax", "tax", "total"):
        assert row[name] == found["totals"][0][name] == invoice["sheet"][name], name


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("invoiced=false", ["BG-EMPTY"]),
        ("invoiced=true", ["BG-A"]),
        ("search=empty", ["BG-EMPTY"]),
        ("search=202609-0001", ["BG-A"]),
        ("search=%25", []),
    ],
)
def test_the_summary_selects(
    shared_month_end: MonthEnd, group: str, query: str, names: list[str]
) -> None:
    assert group
    found = read(shared_month_end, f"/invoices/{MONTH}/summary?vendor=aws&{query}")
    assert [row["billinggroup_id"] for row in found["invoices"]] == names
    assert found["count"] == len(names)


def test_the_summary_compares_with_the_month_before(
    shared_month_end: MonthEnd, group: str, comparison: Any
) -> None:
    found = read(shared_month_end, f"/invoices/{LATER}/summary?vendor=aws&sort=-change")
    first, other = found["invoices"]
    assert (first["company_id"], other["billinggroup_id"]) == (group, "BG-EMPTY")
    for name in ("total", "total_before", "change", "change_rate"):
        assert first[name] == comparison[name], name
        assert other[name] is None, name


def test_the_summary_compares_nothing_without_an_earlier_invoice(
    shared_month_end: MonthEnd, group: str
) -> None:
    found = read(shared_month_end, f"/invoices/{MONTH}/summary?vendor=aws&sort=change_rate")
    row = found["invoices"][0]
    assert (row["company_id"], row["total_before"], row["change"]) == (group, None, None)


def test_the_summary_has_dates_and_the_taxed_amount(shared_month_end: MonthEnd, group: str) -> None:
    invoice = shared_month_end.get_invoice(group)
    found = read(shared_month_end, f"/invoices/{MONTH}/summary?vendor=aws&invoiced=true")
    (row,) = found["invoices"]
    assert row["company_name"] == invoice["addressee"]["company_name"]
    assert (row["issue_date"], row["due_date"]) == (invoice["issue_date"], invoice["due_date"])
    assert (row["taxable"], row["tax_rate"]) == (
        invoice["sheet"]["taxable"],
        invoice["sheet"]["tax_rate"],
    )


def test_amounts_in_another_currency_are_not_compared(month_end: MonthEnd) -> None:
    company_id = prepare_example_a(month_end)
    assert month_end.create_invoices(company_id).status_code == 200
    later = MonthEnd(month_end.service, month_end.folder, month=LATER)
    later.import_costs(report_line("1200", **DATES))
    assert later.save_settings(company_id, currency="usd").status_code == 200
    assert later.save_rate(company_id, rate=Decimal(155)).status_code == 200
    assert later.create_invoices(company_id).status_code == 200

    found = read(month_end, f"/invoices/{LATER}/summary?vendor=aws")

    (row,) = found["invoices"]
    assert row["currency"].lower() == "usd"
    assert (row["total_before"], row["change"], row["change_rate"]) == (None, None, None)


def test_the_summary_says_whether_the_month_is_closed(month_end: MonthEnd) -> None:
    path = f"/invoices/{MONTH}/summary?vendor=aws"
    assert read(month_end, path)["closed"] is False

    assert close_month(month_end.service, MONTH).status_code == 200

    assert read(month_end, path)["closed"] is True
