"""POST /m/core/invoices/close/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.closing.steps.bodies import MonthClosing
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import parse_body
from tests.closing.steps.ready_month import (
    ACCOUNT,
    OTHER_ACCOUNT,
    add_import,
    add_run,
    apply_entry,
    build_ready_month,
)
from tests.costs.months.month_requests import (
    MONTH,
    close_month,
    load_state,
    park_month,
    reopen_month,
    unpark_month,
)
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MonthEnd
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service

BILLED_MONTH = "2026-09"


def close_if_ready(month_end: MonthEnd, month: str = BILLED_MONTH) -> HttpResponse:
    return close_month(month_end.service, month, override=None, reason=None)


def list_missing(answer: HttpResponse, code: str = "month_not_ready") -> list[tuple[str, str]]:
    problem = read_problem(answer, 409)
    assert problem["code"] == code
    return [(violation["field"], violation["rule"]) for violation in problem["violations"]]


# ── readiness ────────────────────────────────────────────────────────────────────────────────────


def test_a_month_of_a_vendor_is_closed_when_it_is_ready(month_end: MonthEnd) -> None:
    build_ready_month(month_end)

    answer = close_if_ready(month_end)

    assert answer.status_code == 200, answer.text
    assert answer.json() == {"status": "success", "overridden": []}
    assert load_state(month_end.service, BILLED_MONTH).closed
    assert not load_state(month_end.service, "2026-08").closed
    assert not load_state(month_end.service, BILLED_MONTH, "azure").closed


def test_a_month_without_costs_is_not_closed(month_end: MonthEnd) -> None:
    missing = list_missing(close_if_ready(month_end))

    assert missing == [("month", "no_costs"), ("month", "no_invoices")]
    assert not load_state(month_end.service, BILLED_MONTH).closed


def test_a_month_that_is_not_over_is_not_closed(month_end: MonthEnd) -> None:
    missing = list_missing(close_if_ready(month_end, "9999-12"))

    assert ("month", "month_not_over") in missing
    assert not load_state(month_end.service, "9999-12").closed


def test_a_month_is_not_closed_until_every_group_with_costs_has_an_invoice(
    month_end: MonthEnd,
) -> None:
    group = build_ready_month(month_end, invoiced=False)
    other = month_end.create_group("BG-2", OTHER_ACCOUNT)
    month_end.prepare_groups(other)
    month_end.import_costs(
        report_line("3", UsageAccountId=ACCOUNT), report_line("5", UsageAccountId=OTHER_ACCOUNT)
    )

    assert list_missing(close_if_ready(month_end)) == [
        ("month", "no_invoices"),
        *((company_id, "invoice_missing") for company_id in sorted([group, other])),
    ]
    assert month_end.create_invoices(group).status_code == 200
    assert list_missing(close_if_ready(month_end)) == [(other, "invoice_missing")]
    assert month_end.create_invoices(other).status_code == 200
    assert close_if_ready(month_end).status_code == 200


def test_a_group_that_is_only_billed_an_applied_entry_needs_an_invoice(
    month_end: MonthEnd,
) -> None:
    build_ready_month(month_end)
    other = month_end.create_group("BG-2", OTHER_ACCOUNT)
    apply_entry(month_end, OTHER_ACCOUNT)

    assert list_missing(close_if_ready(month_end)) == [(other, "invoice_missing")]


def test_a_month_whose_invoices_do_not_tie_out_is_not_closed(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    month_end.import_costs(report_line("4", UsageAccountId=ACCOUNT))

    assert list_missing(close_if_ready(month_end)) == [(group, "amount_differs")]
    assert month_end.create_invoices(group).status_code == 200
    assert close_if_ready(month_end).status_code == 200


def test_a_month_is_not_closed_while_an_import_or_a_run_is_under_way(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    add_import(month_end.service, "imp_waiting", "waiting")
    add_import(month_end.service, "imp_running", "running")
    add_import(month_end.service, "imp_other_month", "running", month="2026-08")
    add_run(month_end.service, "run_one")

    assert list_missing(close_if_ready(month_end)) == [
        ("imp_running", "import_running"),
        ("imp_waiting", "import_running"),
        ("run_one", "run_in_progress"),
    ]


def test_a_month_cannot_be_closed_until_all_parked_imports_are_released(
    month_end: MonthEnd,
) -> None:
    build_ready_month(month_end)
    service = month_end.service
    park_month(service, "imp_one", BILLED_MONTH)
    park_month(service, "imp_other", BILLED_MONTH)

    parked = list_missing(close_if_ready(month_end), "month_parked")
    assert parked == [("imp_one", "import_parked"), ("imp_other", "import_parked")]
    assert unpark_month(service, "imp_one", BILLED_MONTH)
    parked = list_missing(close_if_ready(month_end), "month_parked")
    assert parked == [("imp_other", "import_parked")]
    assert unpark_month(service, "imp_other", BILLED_MONTH)
    assert close_if_ready(month_end).status_code == 200


# ── override ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("month", ["2026-01", "9999-12"])
def test_override_with_a_reason_closes_a_month_that_is_not_ready(
    service: Service, month: str
) -> None:
    answer = close_month(service, month, override=True, reason="no customer this month")

    assert answer.status_code == 200, answer.text
    assert load_state(service, month).closed


def test_override_closes_a_parked_month_and_names_the_import(service: Service) -> None:
    park_month(service, "imp_one")

    answer = close_month(service, override=True, reason="the vendor never corrected it")

    assert answer.status_code == 200, answer.text
    assert {"field": "imp_one", "rule": "import_parked"} in answer.json()["overridden"]
    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert entry["sent"]["missing"] == answer.json()["overridden"]
    state = load_state(service)
    assert (state.closed, state.is_parked) == (True, True)  # parked again after reopening


def test_the_audit_log_tells_what_was_missing(service: Service) -> None:
    close_month(service, override=True, reason="nothing to bill")

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (entry["action"], entry["resource"]) == ("close_month", f"month/aws/{MONTH}")
    assert entry["sent"] == {
        "vendor": "aws",
        "override": True,
        "reason": "nothing to bill",
        "missing": [
            {"field": "month", "rule": "no_costs"},
            {"field": "month", "rule": "no_invoices"},
        ],
    }


def test_the_optional_reason_is_written_to_the_audit_log(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    close_month(month_end.service, BILLED_MONTH, override=False, reason="all invoices are out")

    entry = month_end.get("/audit").json()[0]
    assert entry["sent"] == {"vendor": "aws", "override": False, "reason": "all invoices are out"}


def test_a_refused_closing_changes_nothing_and_is_not_audited(month_end: MonthEnd) -> None:
    before = month_end.get("/audit").json()

    assert close_if_ready(month_end).status_code == 409

    assert month_end.get("/audit").json() == before


# ── closed months ────────────────────────────────────────────────────────────────────────────────


def test_callers_with_the_role_action_can_close(service: Service) -> None:
    assert close_month(service, headers=service.caller(RoleAction.ModifyInvoice)).status_code == 200


def test_another_organisations_month_stays_open(service: Service) -> None:
    close_month(service)

    service.organisation = service.new_organisation()

    assert not load_state(service).closed


def test_a_closed_month_cannot_be_closed_again(service: Service) -> None:
    close_month(service)

    assert read_problem(close_month(service), 409)["code"] == "month_closed"


def test_closings_are_numbered_per_vendor(service: Service) -> None:
    close_month(service, "2026-01")
    close_month(service, "2026-02")
    close_month(service, "2026-01", "azure")
    reopen_month(service, "2026-01")
    close_month(service, "2026-01")

    assert load_state(service, "2026-01").closing_number == 3
    assert load_state(service, "2026-02").closing_number == 2
    assert load_state(service, "2026-01", "azure").closing_number == 1


def test_users_restricted_to_billing_groups_cannot_close_months(service: Service) -> None:
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyInvoice, billing_groups=[visible])

    answer = close_month(service, headers=restricted)

    assert read_problem(answer, 403)["code"] == "narrowed_caller"
    assert not load_state(service).closed


# ── the body ─────────────────────────────────────────────────────────────────────────────────────


def test_invalid_fields_are_refused(service: Service) -> None:
    path = f"/m/core/invoices/close/{MONTH}"

    answer = service.http.post(path, json={"reason": ""}, headers=service.root())

    assert read_violations(answer) == [("vendor", "required"), ("reason", "length 1 to 1000")]
    assert not load_state(service).closed


@pytest.mark.parametrize("reason", [{}, {"reason": None}])
def test_override_requires_a_reason(reason: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        parse_body(MonthClosing, {"vendor": "aws", "override": True} | reason)

    assert refused.value.violations == (("reason", "required with override"),)
    assert parse_body(MonthClosing, {"vendor": "aws", "override": False} | reason).reason is None


@pytest.mark.parametrize("vendor", ["gcp", "AWS", ""])
def test_the_vendor_must_be_aws_or_azure(vendor: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_body(MonthClosing, {"vendor": vendor})

    assert refused.value.violations == (("vendor", "one of aws, azure"),)


@pytest.mark.parametrize("reason", ["", "x" * 1001, 1])
def test_a_reason_has_1_to_1000_characters(reason: Any) -> None:
    with pytest.raises(Invalid) as refused:
        parse_body(MonthClosing, {"vendor": "aws", "reason": reason})

    assert refused.value.violations == (("reason", "length 1 to 1000"),)
    assert parse_body(MonthClosing, {"vendor": "aws", "reason": "長" * 1000}).reason


def test_an_invalid_month_is_refused(service: Service) -> None:
    for month in ("2026-1", "2026-13", "0000-01", "202601", "2026-01%0A", "x"):
        assert read_violations(close_month(service, month)) == [("month", "a month as yyyy-mm")]
