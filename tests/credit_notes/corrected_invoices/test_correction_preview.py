"""POST /m/core/invoices/{month}/{company_id}/{vendor}/correction-preview"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.credit_notes.corrected_invoices.late_deliveries import (
    corrected_terms,
    import_late,
    issue,
    late_lines,
    path_of,
    prepare_sent_invoice,
    preview,
)
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MonthEnd
from tests.problem_responses import read_problem, read_violations

LOWER = "900.1234567890"


def test_late_costs_are_billed_at_the_terms_and_the_rate_of_the_invoice(
    month_end: MonthEnd,
) -> None:
    group = prepare_sent_invoice(month_end)
    before = month_end.get_invoice(group)
    month_end.save_rate(group, rate=99)  # refused in a closed month, and without effect
    import_id = import_late(month_end, *late_lines(LOWER))

    found = preview(month_end, group, import_id=import_id)

    # 128481 + 7173 + 2902 + 14274 + 4585, as in docs/invoice.md
    (rate,) = found["rates"]
    assert (rate["tax_rate"], rate["invoiced"], rate["invoiced_tax"]) == (
        Decimal("0.10"),
        173156,
        17316,
    )
    assert (rate["corrected"], rate["corrected_tax"]) == (157415, 15742)
    assert (rate["difference"], rate["difference_tax"]) == (-15741, -1574)
    assert (found["invoiced_total"], found["corrected_total"]) == (190472, 173157)
    assert (found["difference"], found["can_credit"], found["changed_terms"]) == (-17315, True, [])
    assert found["corrected"]["pre_tax"] == 157415
    assert month_end.get_invoice(group) == before


def test_corrected_terms_keep_costs_and_rate(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)

    found = preview(month_end, group, terms=corrected_terms(discount_rate=Decimal("0.10")))

    # 135242 + 6795 + 2750 + 14479 + 4778
    assert (found["rates"][0]["corrected"], found["corrected_total"]) == (164044, 180448)
    changed = {each["field"]: (each["before"], each["after"]) for each in found["changed_terms"]}
    assert changed["discount_rate"] == ("0.05", "0.1")
    assert found["exchange_rate"] == Decimal("150.25")


def test_higher_costs_cannot_be_credited(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    import_id = import_late(month_end, *late_lines("1100.1234567890"))

    found = preview(month_end, group, import_id=import_id)

    assert (found["difference"], found["can_credit"]) == (208261 - 190472, False)


def test_another_tax_rate_is_listed_beside_that_of_the_invoice(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)

    found = preview(month_end, group, terms=corrected_terms(tax_rate=Decimal("0.08")))

    assert {each["tax_rate"]: (each["invoiced"], each["corrected"]) for each in found["rates"]} == {
        Decimal("0.10"): (173156, 0),
        Decimal("0.08"): (0, 173156),
    }
    assert not found["can_credit"]


def test_earlier_notes_count(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    issue(
        month_end, group, "manual", amounts=[{"description": "d", "amount": 741, "tax_free": False}]
    )
    import_id = import_late(month_end, *late_lines(LOWER))

    found = preview(month_end, group, import_id=import_id)

    (rate,) = found["rates"]
    assert (rate["credited"], rate["credited_tax"]) == (741, 74)
    assert (rate["difference"], rate["difference_tax"]) == (-15000, -1500)
    assert (found["credited_total"], found["difference"]) == (815, -16500)


def test_one_off_lines_count_only_if_somebody_decides_so(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    refund = report_line("-10", UsageAccountId="111111111111", LineItemType="Refund")
    import_id = import_late(month_end, *late_lines("1000.1234567890", refund))

    without = preview(month_end, group, import_id=import_id)
    with_them = preview(month_end, group, import_id=import_id, one_off_lines=True)

    # -10 × 150.25 = -1502.5, rounded away from zero
    assert (without["difference"], with_them["rates"][0]["difference"]) == (0, -1503)


def test_a_new_service_has_a_line_of_its_own(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    new = report_line("2", UsageAccountId="222222222222", ProductCode="AmazonSNS")
    import_id = import_late(month_end, *late_lines("1000.1234567890", new))

    lines = preview(month_end, group, import_id=import_id)["corrected"]["lines"]

    (line,) = [line for line in lines if line["service"] == "AmazonSNS"]
    # 2 × 0.95 × 150.25 = 285.475
    assert (line["customer_name"], line["after"]) == ("account 222222222222", 285)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"import_id": "imp", "terms": corrected_terms()}, "body"),
        ({"terms": corrected_terms(currency="usd")}, "terms.invoices.currency"),
        ({"terms": corrected_terms(calc_type="tag")}, "terms.invoices.calc_type"),
        ({"terms": corrected_terms() | {"vendor": "azure"}}, "terms.vendor"),
        ({"terms": corrected_terms(discount_rate=2)}, "terms.invoices.discount_rate"),
        (
            {
                "terms": corrected_terms()
                | {"support_fee_target": {"usage": "discounted", "scope": None}}
            },
            "terms.support_fee_target.usage",
        ),
    ],
)
def test_bad_requests_are_refused(
    shared_month_end: MonthEnd, shared_invoice: str, body: dict[str, Any], field: str
) -> None:
    response = shared_month_end.post(path_of(shared_invoice, "/correction-preview"), body)

    assert field in dict(read_violations(response))


def test_unknown_records_are_not_found(shared_month_end: MonthEnd, shared_invoice: str) -> None:
    for path, body in (
        (path_of("cmp_none", "/correction-preview"), {"terms": corrected_terms()}),
        (path_of(shared_invoice, "/correction-preview"), {"import_id": "imp_none"}),
    ):
        read_problem(shared_month_end.post(path, body), 404)


def test_only_late_costs_of_the_month_correct_an_invoice(
    shared_month_end: MonthEnd, shared_invoice: str
) -> None:
    (done,) = shared_month_end.get("/costs/imports").json()

    response = shared_month_end.post(
        path_of(shared_invoice, "/correction-preview"), {"import_id": done["import_id"]}
    )

    assert read_problem(response, 409)["code"] == "not_drift"


def test_terms_without_their_table_are_refused(
    shared_month_end: MonthEnd, shared_invoice: str
) -> None:
    response = shared_month_end.post(
        path_of(shared_invoice, "/correction-preview"),
        {"terms": corrected_terms(substitution_fee="usagetable")},
    )

    assert read_problem(response, 409)["code"] == "usage_table_missing"


@pytest.fixture(scope="module")
def shared_invoice(shared_month_end: MonthEnd) -> str:
    return prepare_sent_invoice(shared_month_end)
