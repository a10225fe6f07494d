"""POST and DELETE /m/core/invoicetemplate/{invoice_template_id}"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import PATH as GROUPS
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.invoice_templates.templates import (
    OPTIONAL,
    PATH,
    REQUIRED,
    TEMPLATE,
    create_template,
    list_templates,
)
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service


def change(service: Service, template_id: str, body: Any, headers: Any = None) -> HttpResponse:
    path = f"{PATH}/{template_id}"
    return service.http.post(path, json=body, headers=headers or service.root())


def delete(service: Service, template_id: str, headers: Any = None) -> HttpResponse:
    return service.http.delete(f"{PATH}/{template_id}", headers=headers or service.root())


def test_all_fields_of_a_template_are_replaced(service: Service) -> None:
    template_id, other = create_template(service), create_template(service, name="other")

    response = change(service, template_id, REQUIRED, service.caller(RoleAction.ModifyBillingGroup))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_templates(service) == [
        {"invoice_template_id": template_id, **REQUIRED, **dict.fromkeys(OPTIONAL)},
        {"invoice_template_id": other, **TEMPLATE, "name": "other"},
    ]


def test_a_replacement_follows_the_rules_of_a_new_template(service: Service) -> None:
    template_id = create_template(service)

    for invalid in (
        {"name": "", "due_days": -1, "registration_number": "T1"},
        {"company": None},
    ):
        violations = read_violations(change(service, template_id, TEMPLATE | invalid))
        assert {field for field, _ in violations} == set(invalid)
    assert list_templates(service) == [{"invoice_template_id": template_id, **TEMPLATE}]


def test_an_unused_template_is_deleted(service: Service) -> None:
    template_id = create_template(service)

    response = delete(service, template_id, service.caller(RoleAction.ModifyBillingGroup))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_templates(service) == []


def test_a_template_of_a_billing_group_cannot_be_deleted(service: Service) -> None:
    template_id = create_template(service)
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", invoice_template_id=template_id
    )

    assert read_problem(delete(service, template_id), 409)["code"] == "invoice_template_in_use"

    path = f"{GROUPS}/{company_id}/invoicetemplate"
    service.http.post(path, json={"invoice_template_id": None}, headers=service.root())
    assert delete(service, template_id).status_code == 200


def test_a_template_of_the_organisation_settings_cannot_be_deleted(service: Service) -> None:
    template_id = create_template(service)
    settings = "/m/core/settings"
    link = {"invoice_template_id": template_id}
    assert service.http.put(settings, json=link, headers=service.root()).status_code == 200

    assert read_problem(delete(service, template_id), 409)["code"] == "invoice_template_in_use"
    assert len(list_templates(service)) == 1

    service.http.put(settings, json={"invoice_template_id": ""}, headers=service.root())
    assert delete(service, template_id).status_code == 200


def test_unknown_foreign_and_deleted_templates_are_not_found(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign, deleted = create_template(service, other), create_template(service)
    delete(service, deleted)

    for template_id in ("tpl_unknown", foreign, deleted):
        assert read_problem(change(service, template_id, REQUIRED), 404)["code"] == "not_found"
        assert read_problem(delete(service, template_id), 404)["code"] == "not_found"
    assert list_templates(service, other) == [{"invoice_template_id": foreign, **TEMPLATE}]


def test_unknown_fields_are_ignored(service: Service) -> None:
    template_id = create_template(service)
    unknown = dict.fromkeys(("invoice_template_id", "organisation_id", "create_time"), "x")

    assert change(service, template_id, TEMPLATE | unknown).status_code == 200

    assert list_templates(service) == [{"invoice_template_id": template_id, **TEMPLATE}]
