"""POST /m/core/invoicetemplate and GET /m/core/invoicetemplate"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.invoice_templates.templates import (
    OPTIONAL,
    PATH,
    REQUIRED,
    TEMPLATE,
    create_template,
    list_templates,
    post_template,
)
from tests.customers.invoice_templates.test_invoice_template_body import LENGTHS
from tests.problem_responses import read_violations
from tests.running_service import Service


def test_a_template_is_stored_unchanged(service: Service) -> None:
    response = post_template(service, service.caller(RoleAction.ModifyBillingGroup))

    assert response.status_code == 200
    assert set(response.json()) == {"status", "invoice_template_id"}
    assert response.json()["status"] == "success"
    templates = list_templates(service, service.caller(RoleAction.ReadBillingGroup))
    template_id = response.json()["invoice_template_id"]
    assert templates == [TEMPLATE | {"invoice_template_id": template_id}]


def test_absent_and_null_fields_are_null(service: Service) -> None:
    for body in (REQUIRED, REQUIRED | dict.fromkeys(OPTIONAL)):
        response = service.http.post(PATH, json=body, headers=service.root())
        assert response.status_code == 200

    for template in list_templates(service):
        assert {name: template[name] for name in TEMPLATE} == REQUIRED | dict.fromkeys(OPTIONAL)


def test_values_at_the_limits_are_stored_unchanged(service: Service) -> None:
    variants: list[dict[str, Any]] = [
        {field: "長" * shortest for field, (shortest, _) in LENGTHS.items()},
        {field: "🌸" * longest for field, (_, longest) in LENGTHS.items()},
        {"accent_colour": "", "registration_number": "", "due_rule": "days", "due_days": 0},
        {"accent_colour": "#FFFFFF", "due_rule": "end_of_next_month", "due_days": None},
    ]
    for fields in variants:
        create_template(service, **fields)

    for fields, template in zip(variants, list_templates(service), strict=True):
        assert {name: template[name] for name in TEMPLATE} == TEMPLATE | fields


def test_templates_are_listed_oldest_first(service: Service) -> None:
    names = ["c", "a", "b"]
    for name in names:
        create_template(service, name=name)

    assert [template["name"] for template in list_templates(service)] == names


def test_all_violations_are_reported_at_once(service: Service) -> None:
    invalid = {"name": "", "registration_number": "T1", "accent_colour": "red", "due_days": 400}

    response = post_template(service, **invalid)

    assert [field for field, _ in read_violations(response)] == list(invalid)
    assert list_templates(service) == []


def test_restricted_callers_see_all_templates_of_the_organisation(service: Service) -> None:
    create_template(service)
    other = service.root(service.new_organisation())
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[company_id])

    assert list_templates(service, restricted) == list_templates(service)
    assert list_templates(service, other) == []
