"""POST /m/core/invoices/reopen/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.closing.steps import bodies
from nimbill.closing.steps.bodies import MonthReopening
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import parse_body
from tests.costs.months.month_requests import MONTH, close_month, load_state, reopen_month
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.struct_rules import assert_frozen_and_by_name


@pytest.fixture
def service_with_closed_month(service: Service) -> Service:
    assert close_month(service).status_code == 200
    return service


def test_a_closed_month_is_reopened(service_with_closed_month: Service) -> None:
    service = service_with_closed_month

    answer = reopen_month(service, headers=service.caller(RoleAction.ModifyInvoice))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert not load_state(service).closed
    assert close_month(service).status_code == 200


def test_reopening_is_audited_with_its_reason(service_with_closed_month: Service) -> None:
    service = service_with_closed_month

    reopen_month(service, reason="the vendor sent a refund")

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (entry["action"], entry["resource"]) == ("reopen_month", f"month/aws/{MONTH}")
    assert entry["sent"]["reason"] == "the vendor sent a refund"


def test_an_open_month_cannot_be_reopened(service: Service) -> None:
    assert read_problem(reopen_month(service), 409)["code"] == "month_open"
    close_month(service)
    assert read_problem(reopen_month(service, vendor="azure"), 409)["code"] == "month_open"
    reopen_month(service)
    assert read_problem(reopen_month(service), 409)["code"] == "month_open"


def test_users_restricted_to_billing_groups_cannot_reopen_months(
    service_with_closed_month: Service,
) -> None:
    service = service_with_closed_month
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyInvoice, billing_groups=[visible])

    answer = reopen_month(service, headers=restricted)

    assert read_problem(answer, 403)["code"] == "narrowed_caller"
    assert load_state(service).closed


def test_invalid_fields_are_refused(service_with_closed_month: Service) -> None:
    service = service_with_closed_month

    assert read_violations(reopen_month(service, reason=None)) == [("reason", "required")]
    assert read_violations(reopen_month(service, vendor="gcp")) == [("vendor", "one of aws, azure")]
    assert read_violations(reopen_month(service, "2026-00")) == [("month", "a month as yyyy-mm")]
    assert load_state(service).closed


@pytest.mark.parametrize(
    ("reason", "rule"),
    [
        (None, "required"),
        ("", "length 1 to 1000"),
        ("x" * 1001, "length 1 to 1000"),
        (7, "length 1 to 1000"),
    ],
)
def test_a_reason_is_required(reason: Any, rule: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_body(MonthReopening, {"vendor": "aws", "reason": reason})

    assert refused.value.violations == (("reason", rule),)


@pytest.mark.parametrize("reason", ["x", "x" * 1000])
def test_a_reason_has_1_to_1000_characters(reason: str) -> None:
    assert parse_body(MonthReopening, {"vendor": "aws", "reason": reason}).reason == reason


def test_the_body_is_frozen_and_its_fields_are_given_by_name() -> None:
    assert_frozen_and_by_name(bodies)
