"""POST /m/core/billinggroup/{company_id}/invoicetemplate"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    add_invoice_template,
    create_billing_group,
    read_billing_group,
)
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service


@pytest.fixture
def company_id(service: Service) -> str:
    """A group that is linked to the template tpl_one."""
    add_invoice_template(service, "tpl_one")
    return create_billing_group(
        service, service.root(), billinggroup_id="BG", invoice_template_id="tpl_one"
    )


def link(service: Service, company_id: str, body: Any, headers: Any = None) -> HttpResponse:
    path = f"{PATH}/{company_id}/invoicetemplate"
    return service.http.post(path, json=body, headers=headers or service.root())


def read_link(service: Service, company_id: str) -> Any:
    return read_billing_group(service, company_id)["invoice_template_id"]


def test_another_template_is_linked(service: Service, company_id: str) -> None:
    add_invoice_template(service, "tpl_two")

    response = link(service, company_id, {"invoice_template_id": "tpl_two"})

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert read_link(service, company_id) == "tpl_two"


@pytest.mark.parametrize("template_id", [None, ""])
def test_null_or_an_empty_text_unlinks(
    service: Service, company_id: str, template_id: str | None
) -> None:
    assert link(service, company_id, {"invoice_template_id": template_id}).status_code == 200

    assert read_link(service, company_id) is None


def test_the_field_is_required(service: Service, company_id: str) -> None:
    for body in ({}, {"template": "tpl_one"}):
        response = link(service, company_id, body)
        assert read_violations(response) == [("invoice_template_id", "required")]
    assert read_link(service, company_id) == "tpl_one"


def test_an_unknown_or_foreign_template_is_refused(service: Service, company_id: str) -> None:
    add_invoice_template(service, "tpl_foreign", service.new_organisation())

    for template_id in ("tpl_unknown", "tpl_foreign"):
        response = link(service, company_id, {"invoice_template_id": template_id})
        assert read_violations(response) == [
            ("invoice_template_id", "an existing invoice template")
        ]
    assert read_link(service, company_id) == "tpl_one"


def test_unknown_foreign_and_hidden_groups_are_not_found(service: Service, company_id: str) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[visible])

    for hidden in ("cmp_unknown", foreign, company_id):
        for template_id in (None, "tpl_one", "tpl_unknown"):
            body = {"invoice_template_id": template_id}
            read_problem(link(service, hidden, body, restricted), 404)
    assert read_link(service, company_id) == "tpl_one"
