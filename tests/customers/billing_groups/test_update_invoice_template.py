"""POST /m/core/billinggroup/{company_id}/invoicetemplate"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.stored import PATH, add_invoice_template, create
from tests.running_service import Service


@pytest.fixture
def company_id(service: Service) -> str:
    add_invoice_template(service, "tpl_one")
    return create(service, service.root(), billinggroup_id="BG", invoice_template_id="tpl_one")


def link(service: Service, company_id: str, body: Any, headers: Any = None) -> Answer:
    path = f"{PATH}/{company_id}/invoicetemplate"
    return service.http.post(path, json=body, headers=headers or service.root())


def linked(service: Service, company_id: str) -> Any:
    path = f"{PATH}/{company_id}/resource"
    return service.http.get(path, headers=service.root()).json()["invoice_template_id"]


def test_another_template_is_linked(service: Service, company_id: str) -> None:
    add_invoice_template(service, "tpl_two")

    answer = link(service, company_id, {"invoice_template_id": "tpl_two"})

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert linked(service, company_id) == "tpl_two"


@pytest.mark.parametrize("nothing", [None, ""])
def test_null_unlinks(service: Service, company_id: str, nothing: str | None) -> None:
    assert link(service, company_id, {"invoice_template_id": nothing}).status_code == 200

    assert linked(service, company_id) is None


def test_null_must_be_said(service: Service, company_id: str) -> None:
    for body in ({}, {"template": "tpl_one"}):
        answer = link(service, company_id, body)
        assert violations_of(answer) == [("invoice_template_id", "required")]
    assert linked(service, company_id) == "tpl_one"


def test_an_unknown_or_foreign_template_is_refused(service: Service, company_id: str) -> None:
    add_invoice_template(service, "tpl_theirs", service.new_organisation())

    for template in ("tpl_never_was", "tpl_theirs"):
        answer = link(service, company_id, {"invoice_template_id": template})
        assert violations_of(answer) == [("invoice_template_id", "an existing invoice template")]
    assert linked(service, company_id) == "tpl_one"


def test_unknown_foreign_and_hidden_groups_are_not_there(service: Service, company_id: str) -> None:
    foreign = create(service, service.root(service.new_organisation()), billinggroup_id="theirs")
    seen = create(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    for hidden in ("cmp_never_was", foreign, company_id):
        for template in (None, "tpl_one", "tpl_never_was"):
            problem_of(link(service, hidden, {"invoice_template_id": template}, narrowed), 404)
    assert linked(service, company_id) == "tpl_one"
