"""POST /m/core/invoices/reopen/{month}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.costs.months.closing import MONTH, close, reopen, state
from tests.customers.billing_groups.stored import create as create_group
from tests.running_service import Service


@pytest.fixture
def closed(service: Service) -> Service:
    assert close(service).status_code == 200
    return service


def test_a_closed_month_is_opened_again(closed: Service) -> None:
    answer = reopen(closed, headers=closed.caller(RoleAction.ModifyInvoice))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert not state(closed).closed
    assert close(closed).status_code == 200


def test_it_is_audited_with_its_reason(closed: Service) -> None:
    reopen(closed, reason="the vendor sent a refund")

    entry = closed.http.get("/m/core/audit", headers=closed.root()).json()[0]
    assert (entry["action"], entry["resource"]) == ("reopen_month", f"month/aws/{MONTH}")
    assert entry["sent"]["reason"] == "the vendor sent a refund"


@pytest.mark.parametrize(
    ("reason", "rule"), [(None, "required"), ("", "length 1 to 1000"), (7, "length 1 to 1000")]
)
def test_a_reason_is_required(closed: Service, reason: Any, rule: str) -> None:
    assert violations_of(reopen(closed, reason=reason)) == [("reason", rule)]
    assert state(closed).closed


def test_an_open_month_cannot_be_opened(service: Service) -> None:
    assert problem_of(reopen(service), 409)["code"] == "month_open"
    close(service)
    assert problem_of(reopen(service, vendor="azure"), 409)["code"] == "month_open"
    reopen(service)
    assert problem_of(reopen(service), 409)["code"] == "month_open"


def test_who_sees_only_some_billing_groups_reopens_nothing(closed: Service) -> None:
    seen = create_group(closed, closed.root(), billinggroup_id="seen")
    narrowed = closed.caller(RoleAction.ModifyInvoice, billing_groups=[seen])

    assert problem_of(reopen(closed, headers=narrowed), 403)["code"] == "narrowed_caller"
    assert state(closed).closed


def test_the_vendor_and_the_month_follow_their_rules(closed: Service) -> None:
    assert violations_of(reopen(closed, vendor="gcp")) == [("vendor", "one of aws, azure")]
    assert violations_of(reopen(closed, "2026-00")) == [("month", "a month as yyyy-mm")]
