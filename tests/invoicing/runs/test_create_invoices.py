"""POST /m/core/invoices/calculation/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.costs.months.records import park_month
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.bodies import CreateInvoicesRequest
from nimbill.invoicing.runs import invoice_run
from nimbill.invoicing.runs.build_invoice import build_invoice
from tests.body_violations import find_body_violations
from tests.costs.months.month_requests import close_month, reopen_month, run_in_transaction
from tests.imports.aws_reports import report_line
from tests.invoicing.invoice_runs import (
    list_invoice_numbers,
    list_missing_reasons,
    prepare_example_a,
    query_rows,
)
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations


def test_an_invoice_is_created_from_imported_costs(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)

    response = month_end.create_invoices(group)

    assert response.status_code == 200, response.text
    result = response.json()
    assert [warning["code"] for warning in result.pop("warnings")] == ["issuer_missing"]
    assert result == {
        "status": "success",
        "created": [{"company_id": group, "vendor": "aws", "invoice_no": "202609-0001"}],
        "skipped": [],
    }
    sheet = month_end.get_invoice(group)["sheet"]
    printed = [(line["charge"], line["after"]) for line in sheet["lines"]]
    assert printed == [(150269, 142755), (7550, 7173), (3055, 2902)]
    assert (sheet["support"]["charge"], sheet["support"]["after"]) == (16087, 15283)
    assert sheet["agency"]["after"] == 5043
    assert (sheet["pre_tax"], sheet["tax"], sheet["total"]) == (173156, 17316, 190472)


def test_every_amount_of_an_invoice_has_an_explanation(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)

    sheet = month_end.get_invoice(group)["sheet"]

    for line in (*sheet["lines"], sheet["support"], sheet["agency"]):
        assert {"rule", "base", "working", "sources"} <= line["why"].keys()
    for name in ("pre_tax_why", "tax_why", "total_why"):
        assert sheet[name]["working"]


def test_groups_can_be_sent_as_keys_of_an_object(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)

    assert list_invoice_numbers(month_end.create_invoices(group, group={group: {}})) == [
        "202609-0001"
    ]


@pytest.mark.parametrize("field", ["vendor", "group", "bulk"])
def test_every_specified_field_is_required(field: str) -> None:
    body = {"vendor": "aws", "group": {}, "bulk": True}
    del body[field]

    assert find_body_violations(CreateInvoicesRequest, body) == [(field, "required")]


def test_without_bulk_a_group_is_required(month_end: MonthEnd) -> None:
    empty: list[Any] = [[], {}]
    responses = [month_end.create_invoices("x", group=groups) for groups in empty]

    for response in responses:
        assert read_violations(response) == [("group", "at least one billing group")]


def test_an_unknown_group_is_refused(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)

    response = month_end.create_invoices(group, "cmp_" + "a" * 26)

    assert read_violations(response) == [("group", "existing billing groups")]
    assert query_rows(month_end, "SELECT 1 FROM invoices") == []


def test_if_one_named_group_is_not_ready_no_invoice_is_created(month_end: MonthEnd) -> None:
    ready = prepare_example_a(month_end)
    without_accounts = month_end.create_group("BG-1")
    without_settings = month_end.create_group("BG-2", "000000000002")
    without_rate = month_end.create_group("BG-3", "000000000003")
    month_end.save_settings(without_rate)

    response = month_end.create_invoices(ready, without_accounts, without_settings, without_rate)

    assert list_missing_reasons(response) == {
        without_accounts: "no_accounts",
        without_settings: "settings_missing",
        without_rate: "rate_missing",
    }
    assert query_rows(month_end, "SELECT 1 FROM invoices") == []


def test_in_bulk_groups_that_are_not_ready_are_skipped(month_end: MonthEnd) -> None:
    ready = prepare_example_a(month_end)
    without_accounts = month_end.create_group("BG-1")
    without_rate = month_end.create_group("BG-3", "000000000003")
    month_end.save_settings(without_rate)

    response = month_end.create_invoices()

    assert [invoice["company_id"] for invoice in response.json()["created"]] == [ready]
    assert {group["company_id"]: group["reason"] for group in response.json()["skipped"]} == {
        without_accounts: "no_accounts",
        without_rate: "rate_missing",
    }


def test_in_bulk_it_is_a_conflict_if_no_group_is_ready(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")

    problem = read_problem(month_end.create_invoices(), 409)

    assert problem["code"] == "no_group_ready"
    assert problem["violations"] == [{"field": group, "rule": "settings_missing"}]


def test_gcp_is_accepted_but_no_group_has_accounts(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)

    assert list_missing_reasons(month_end.create_invoices(vendor="gcp")) == {group: "no_accounts"}
    assert list_missing_reasons(month_end.create_invoices(group, vendor="gcp")) == {
        group: "no_accounts"
    }


def test_usage_in_two_currencies_cannot_be_invoiced(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(
        report_line("1", UsageAccountId="000000000001"),
        report_line("1", UsageAccountId="000000000001", CurrencyCode="JPY"),
    )
    month_end.prepare_groups(group)

    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "mixed_currency"}


def test_an_unsupported_currency_cannot_be_invoiced(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(report_line("1", UsageAccountId="000000000001", CurrencyCode="EUR"))
    month_end.prepare_groups(group)

    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "unsupported_currency"}


def test_a_missing_usage_table_is_refused(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.save_settings(group, substitution_fee="usagetable")

    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "usage_table_missing"}


def test_an_invoice_by_tag_requires_a_tag_key(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.save_settings(group, calc_type="tag")

    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "tag_key_missing"}


def test_a_parked_month_cannot_be_invoiced(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    run_in_transaction(
        month_end.service,
        lambda db, scope: park_month(db, scope, BillingPeriod(MONTH, "aws"), "imp_x", "sums"),
    )

    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "month_parked"}
    assert list_missing_reasons(month_end.create_invoices()) == {group: "month_parked"}


def test_a_closed_month_cannot_be_invoiced_until_it_is_reopened(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    assert close_month(month_end.service, MONTH).status_code == 200

    for response in (month_end.create_invoices(group), month_end.create_invoices()):
        assert read_problem(response, 409)["code"] == "month_closed"
    assert reopen_month(month_end.service, MONTH).status_code == 200
    assert list_invoice_numbers(month_end.create_invoices(group)) == ["202609-0001"]


def test_a_failing_group_does_not_affect_other_groups(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = month_end.create_group("BG-1", "000000000001")
    good = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(bad, good)

    def failing(found: Any, *args: Any, **named: Any) -> Any:
        if found.group.company_id == bad:
            raise ZeroDivisionError
        return build_invoice(found, *args, **named)

    monkeypatch.setattr(invoice_run, "build_invoice", failing)

    response = month_end.create_invoices()

    assert list_invoice_numbers(response) == ["202609-0001"]
    assert response.json()["skipped"] == [{"company_id": bad, "reason": "failed"}]
    assert response.json()["created"][0]["company_id"] == good
