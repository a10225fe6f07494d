"""POST /m/core/invoices/close/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.costs.months.bodies import MonthClosing
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import parse_body
from tests.costs.months.month_requests import (
    MONTH,
    close_month,
    load_state,
    park_month,
    reopen_month,
    unpark_month,
)
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


def test_a_month_of_a_vendor_is_closed(service: Service) -> None:
    assert not load_state(service).closed

    answer = close_month(service, headers=service.caller(RoleAction.ModifyInvoice))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert load_state(service).closed
    assert not load_state(service, "2026-02").closed
    assert not load_state(service, vendor="azure").closed


def test_another_organisations_month_stays_open(service: Service) -> None:
    close_month(service)

    service.organisation = service.new_organisation()

    assert not load_state(service).closed


def test_a_closed_month_cannot_be_closed_again(service: Service) -> None:
    close_month(service)

    assert read_problem(close_month(service), 409)["code"] == "month_closed"


def test_a_month_cannot_be_closed_until_all_parked_imports_are_released(service: Service) -> None:
    park_month(service, "imp_one")
    park_month(service, "imp_other")

    assert read_problem(close_month(service), 409)["code"] == "month_parked"
    assert unpark_month(service, "imp_one")
    assert read_problem(close_month(service), 409)["code"] == "month_parked"
    assert unpark_month(service, "imp_other")
    assert close_month(service).status_code == 200


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


def test_the_optional_reason_is_written_to_the_audit_log(service: Service) -> None:
    close_month(service, "2026-01")
    close_month(service, "2026-02", reason=None)
    close_month(service, "2026-03", reason="all invoices are out")

    entries = service.http.get("/m/core/audit", headers=service.root()).json()
    assert [entry["action"] for entry in entries[:3]] == ["close_month"] * 3
    assert entries[0]["resource"] == "month/aws/2026-03"
    assert entries[0]["sent"] == {"vendor": "aws", "reason": "all invoices are out"}


def test_invalid_fields_are_refused(service: Service) -> None:
    path = f"/m/core/invoices/close/{MONTH}"

    answer = service.http.post(path, json={"reason": ""}, headers=service.root())

    assert read_violations(answer) == [("vendor", "required"), ("reason", "length 1 to 1000")]
    assert not load_state(service).closed


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
