"""POST and DELETE /m/core/invoicetemplate/{invoice_template_id}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.stored import PATH as GROUPS
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.invoice_templates.templates import (
    OPTIONAL,
    PATH,
    REQUIRED,
    TEMPLATE,
    made,
    templates,
)
from tests.running_service import Service


def change(service: Service, template_id: str, body: Any, headers: Any = None) -> Answer:
    path = f"{PATH}/{template_id}"
    return service.http.post(path, json=body, headers=headers or service.root())


def delete(service: Service, template_id: str, headers: Any = None) -> Answer:
    return service.http.delete(f"{PATH}/{template_id}", headers=headers or service.root())


def test_a_template_is_replaced_by_what_is_sent(service: Service) -> None:
    template_id, other = made(service), made(service, name="other")

    answer = change(service, template_id, REQUIRED, service.caller(RoleAction.ModifyBillingGroup))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert templates(service) == [
        {"invoice_template_id": template_id, **REQUIRED, **dict.fromkeys(OPTIONAL)},
        {"invoice_template_id": other, **TEMPLATE, "name": "other"},
    ]


def test_the_same_rules_hold_as_for_a_new_one(service: Service) -> None:
    template_id = made(service)

    for wrong in ({"name": ""}, {"registration_number": "T1"}, {"due_days": -1}, {"company": None}):
        broken = violations_of(change(service, template_id, TEMPLATE | wrong))
        assert [field for field, _ in broken] == list(wrong)
    assert templates(service) == [{"invoice_template_id": template_id, **TEMPLATE}]


def test_a_template_that_nothing_refers_to_is_deleted(service: Service) -> None:
    template_id = made(service)

    answer = delete(service, template_id, service.caller(RoleAction.ModifyBillingGroup))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert templates(service) == []


def test_refused_while_a_group_refers_to_it(service: Service) -> None:
    template_id = made(service)
    company_id = create_group(
        service, service.root(), billinggroup_id="BG", invoice_template_id=template_id
    )

    assert problem_of(delete(service, template_id), 409)["code"] == "invoice_template_in_use"

    path = f"{GROUPS}/{company_id}/invoicetemplate"
    service.http.post(path, json={"invoice_template_id": None}, headers=service.root())
    assert delete(service, template_id).status_code == 200


def test_refused_while_the_settings_refer_to_it(service: Service) -> None:
    template_id = made(service)
    settings = "/m/core/settings"
    linked = {"invoice_template_id": template_id}
    assert service.http.put(settings, json=linked, headers=service.root()).status_code == 200

    assert problem_of(delete(service, template_id), 409)["code"] == "invoice_template_in_use"
    assert len(templates(service)) == 1

    service.http.put(settings, json={"invoice_template_id": ""}, headers=service.root())
    assert delete(service, template_id).status_code == 200


def test_unknown_foreign_and_deleted_templates_are_not_there(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign, deleted = made(service, other), made(service)
    delete(service, deleted)

    for template_id in ("tpl_never_was", foreign, deleted):
        assert problem_of(change(service, template_id, REQUIRED), 404)["code"] == "not_found"
        assert problem_of(delete(service, template_id), 404)["code"] == "not_found"
    assert templates(service, other) == [{"invoice_template_id": foreign, **TEMPLATE}]


@pytest.mark.parametrize("field", ["invoice_template_id", "organisation_id", "create_time"])
def test_what_is_not_a_field_of_the_body_is_ignored(service: Service, field: str) -> None:
    template_id = made(service)

    assert change(service, template_id, TEMPLATE | {field: "x"}).status_code == 200
    assert templates(service) == [{"invoice_template_id": template_id, **TEMPLATE}]
