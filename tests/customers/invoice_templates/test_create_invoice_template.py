"""POST /m/core/invoicetemplate and GET /m/core/invoicetemplate"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.invoice_templates.templates import (
    OPTIONAL,
    PATH,
    REQUIRED,
    TEMPLATE,
    create,
    made,
    templates,
)
from tests.running_service import Service

LENGTHS = {
    "name": (1, 100),
    "company": (1, 200),
    "postal": (0, 20),
    "address": (0, 400),
    "phone": (0, 40),
    "contact": (0, 200),
    "bank_account": (0, 400),
    "notes": (0, 2000),
}


def test_a_template_is_kept_as_sent(service: Service) -> None:
    answer = create(service, service.caller(RoleAction.ModifyBillingGroup))

    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "invoice_template_id"}
    assert answer.json()["status"] == "success"
    listed = templates(service, service.caller(RoleAction.ReadBillingGroup))
    identity = {"invoice_template_id": answer.json()["invoice_template_id"]}
    assert listed == [TEMPLATE | identity]


def test_name_and_company_are_enough(service: Service) -> None:
    for body in (REQUIRED, REQUIRED | dict.fromkeys(OPTIONAL)):
        answer = service.http.post(PATH, json=body, headers=service.root())
        assert answer.status_code == 200

    for template in templates(service):
        assert {name: template[name] for name in TEMPLATE} == REQUIRED | dict.fromkeys(OPTIONAL)


@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_is_required(service: Service, field: str) -> None:
    assert violations_of(create(service, **{field: None})) == [(field, "required")]


def test_a_text_is_taken_at_both_edges_of_its_length(service: Service) -> None:
    for field, (least, most) in LENGTHS.items():
        for text in ("長" * least, "🌸" * most):
            assert create(service, **{field: text}).status_code == 200
            assert templates(service)[-1][field] == text
        for text in ("長" * (most + 1), *([""] if least else [])):
            answer = create(service, **{field: text})
            assert violations_of(answer) == [(field, f"length {least} to {most}")]


def test_templates_come_oldest_first(service: Service) -> None:
    names = ["c", "a", "b"]
    for name in names:
        made(service, name=name)

    assert [template["name"] for template in templates(service)] == names


@pytest.mark.parametrize("colour", ["#000000", "#FFFFFF", "#0a7ABc", "", None])
def test_a_colour_is_a_sign_and_six_digits(service: Service, colour: str | None) -> None:
    made(service, accent_colour=colour)

    assert templates(service)[0]["accent_colour"] == colour


@pytest.mark.parametrize(
    "colour",
    ["#00000", "#0000000", "000000", "#00000g", "red", "#000000\n", "＃000000", "#００００００"],
)
def test_another_colour_is_refused(service: Service, colour: str) -> None:
    answer = create(service, accent_colour=colour)

    assert violations_of(answer) == [("accent_colour", "# and six hexadecimal digits")]


@pytest.mark.parametrize(
    "due",
    [
        {"due_rule": "end_of_next_month", "due_days": None},
        {"due_rule": "days", "due_days": 0},
        {"due_rule": "days", "due_days": 365},
        {"due_rule": None, "due_days": None},
        {"due_rule": None, "due_days": 10},
    ],
)
def test_a_due_date_is_told_by_its_rule(service: Service, due: dict[str, Any]) -> None:
    made(service, **due)

    assert {name: templates(service)[0][name] for name in due} == due


@pytest.mark.parametrize(
    ("due", "broken"),
    [
        ({"due_rule": "days", "due_days": None}, ("due_days", "required where due_rule is days")),
        ({"due_days": -1}, ("due_days", "from 0 to 365")),
        ({"due_days": 366}, ("due_days", "from 0 to 365")),
        ({"due_days": 30.5}, ("due_days", "a whole number")),
        ({"due_days": "30"}, ("due_days", "a whole number")),
        ({"due_days": True}, ("due_days", "a whole number")),
        ({"due_rule": "weeks"}, ("due_rule", "one of end_of_next_month, days")),
        ({"due_rule": ""}, ("due_rule", "one of end_of_next_month, days")),
    ],
)
def test_another_due_date_is_refused(
    service: Service, due: dict[str, Any], broken: tuple[str, str]
) -> None:
    assert violations_of(create(service, **due)) == [broken]
    assert templates(service) == []


@pytest.mark.parametrize(
    "number",
    [
        "T7000012050003",
        "7000012050002",
        "t7000012050002",
        "Ｔ７００００１２０５０００２",
        "T-7000012050002",
    ],
)
def test_a_registration_number_that_cannot_be_is_refused(service: Service, number: str) -> None:
    answer = create(service, registration_number=number)

    rule = "T and 13 digits with their check digit"
    assert violations_of(answer) == [("registration_number", rule)]


def test_no_registration_number_may_be_said_in_two_ways(service: Service) -> None:
    for nothing in (None, ""):
        made(service, registration_number=nothing)

    assert [template["registration_number"] for template in templates(service)] == [None, ""]


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
    wrong = {"name": "", "registration_number": "T1", "accent_colour": "red", "due_days": 400}

    assert [field for field, _ in violations_of(create(service, **wrong))] == list(wrong)


def test_templates_are_the_organisations_and_no_filter_hides_them(service: Service) -> None:
    made(service)
    other = service.root(service.new_organisation())
    seen = create_group(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])

    assert templates(service, narrowed) == templates(service)
    assert templates(service, other) == []
