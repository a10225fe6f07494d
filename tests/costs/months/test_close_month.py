"""POST /m/core/invoices/close/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.costs.months.closing import MONTH, close, park, reopen, state, unpark
from tests.customers.billing_groups.stored import create as create_group
from tests.running_service import Service


def test_a_month_of_a_vendor_is_closed(service: Service) -> None:
    assert not state(service).closed

    answer = close(service, headers=service.caller(RoleAction.ModifyInvoice))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert state(service).closed
    assert not state(service, "2026-02").closed
    assert not state(service, vendor="azure").closed


def test_another_organisations_month_stays_open(service: Service) -> None:
    close(service)

    service.organisation = service.new_organisation()

    assert not state(service).closed


def test_a_closed_month_cannot_be_closed_again(service: Service) -> None:
    close(service)

    assert problem_of(close(service), 409)["code"] == "month_closed"


def test_a_parked_month_cannot_be_closed_until_everything_is_released(service: Service) -> None:
    park(service, "imp_one")
    park(service, "imp_other")

    assert problem_of(close(service), 409)["code"] == "month_parked"
    assert unpark(service, "imp_one")
    assert problem_of(close(service), 409)["code"] == "month_parked"
    assert unpark(service, "imp_other")
    assert close(service).status_code == 200


def test_closings_of_a_vendor_are_counted(service: Service) -> None:
    close(service, "2026-01")
    close(service, "2026-02")
    close(service, "2026-01", "azure")
    reopen(service, "2026-01")
    close(service, "2026-01")

    assert state(service, "2026-01").closing_number == 3
    assert state(service, "2026-02").closing_number == 2
    assert state(service, "2026-01", "azure").closing_number == 1


def test_who_sees_only_some_billing_groups_closes_nothing(service: Service) -> None:
    seen = create_group(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ModifyInvoice, billing_groups=[seen])

    assert problem_of(close(service, headers=narrowed), 403)["code"] == "narrowed_caller"
    assert not state(service).closed


def test_the_reason_may_be_left_out_and_is_audited_where_it_is_given(service: Service) -> None:
    close(service, "2026-01")
    close(service, "2026-02", reason=None)
    close(service, "2026-03", reason="all invoices are out")

    entries = service.http.get("/m/core/audit", headers=service.root()).json()
    assert [entry["action"] for entry in entries[:3]] == ["close_month"] * 3
    assert entries[0]["resource"] == "month/aws/2026-03"
    assert entries[0]["sent"] == {"vendor": "aws", "reason": "all invoices are out"}


def test_the_vendor_is_required_and_one_of_two(service: Service) -> None:
    path = f"/m/core/invoices/close/{MONTH}"

    assert violations_of(service.http.post(path, json={}, headers=service.root())) == [
        ("vendor", "required")
    ]
    for vendor in ("gcp", "AWS", ""):
        assert violations_of(close(service, vendor=vendor)) == [("vendor", "one of aws, azure")]


@pytest.mark.parametrize("reason", ["", "x" * 1001, 1])
def test_a_reason_is_a_text_of_so_many_characters(service: Service, reason: Any) -> None:
    assert violations_of(close(service, reason=reason)) == [("reason", "length 1 to 1000")]
    assert close(service, reason="長" * 1000).status_code == 200


@pytest.mark.parametrize("month", ["2026-1", "2026-13", "0000-01", "202601", "2026-01%0A", "x"])
def test_what_is_no_month_is_refused(service: Service, month: str) -> None:
    assert violations_of(close(service, month)) == [("month", "a month as yyyy-mm")]
