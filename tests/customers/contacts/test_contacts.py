"""Contacts of a billing group: add, list, replace, delete."""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.contacts.contact_rules import CONTACTS_MAX
from tests.customers.billing_groups.billing_groups import PATH, create_billing_group
from tests.customers.contacts.contacts import (
    HANAKO,
    add_contact,
    list_contacts,
    path_of,
    post_contact,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently


@pytest.fixture
def group(service: Service) -> str:
    return create_billing_group(service, service.root(), billinggroup_id="BG-1")


def test_a_contact_receives_invoices_unless_it_says_otherwise(service: Service, group: str) -> None:
    contact = add_contact(service, group)

    assert contact["contact_id"].startswith("con_")
    assert contact["create_time"].endswith("Z")
    assert {name: contact[name] for name in contact if not name.endswith(("_id", "_time"))} == {
        **HANAKO,
        "send_as": "to",
        "receives_invoices": True,
        "language": None,
    }
    assert contact["company_id"] == group
    assert list_contacts(service, group) == [contact]


def test_recipients_come_before_those_of_copies(service: Service, group: str) -> None:
    copy = add_contact(service, group, email="copy@example.com", send_as="cc", language="en")
    first = add_contact(service, group, email="first@example.com")
    second = add_contact(service, group, email="second@example.com", receives_invoices=False)

    assert list_contacts(service, group) == [first, second, copy]


def test_a_contact_is_replaced_as_a_whole(service: Service, group: str) -> None:
    contact = add_contact(service, group, send_as="cc", language="en", receives_invoices=False)

    replaced = service.http.put(
        path_of(group, contact["contact_id"]),
        json={"name": "佐藤 太郎", "email": "HANAKO@example.com"},
        headers=service.root(),
    ).json()

    changed = {"name": "佐藤 太郎", "email": "HANAKO@example.com"}
    assert replaced == contact | changed | {
        "send_as": "to",
        "receives_invoices": True,
        "language": None,
    }
    assert list_contacts(service, group) == [replaced]


def test_an_address_is_used_once_in_a_group(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    contact = add_contact(service, group, email="taro@example.com")
    add_contact(service, group)
    add_contact(service, other)

    again = post_contact(service, group, email="Hanako@Example.com")
    replaced = service.http.put(
        path_of(group, contact["contact_id"]), json=HANAKO, headers=service.root()
    )

    assert read_problem(again, 409)["code"] == "contact_email_taken"
    assert read_problem(replaced, 409)["code"] == "contact_email_taken"
    assert len(list_contacts(service, group)) == 2


def test_a_group_has_at_most_20_contacts(service: Service, group: str) -> None:
    for number in range(CONTACTS_MAX - 1):
        add_contact(service, group, email=f"{number}@example.com")

    responses = run_concurrently(
        [
            lambda name=name: post_contact(service, group, email=f"{name}@example.com")  # type: ignore[misc]
            for name in ("a", "b")
        ]
    )

    assert sorted(response.status_code for response in responses) == [201, 409]
    refused = max(responses, key=lambda response: response.status_code)
    assert read_problem(refused, 409)["code"] == "too_many_contacts"
    assert len(list_contacts(service, group)) == CONTACTS_MAX


def test_bad_fields_are_refused_together(service: Service, group: str) -> None:
    response = post_contact(
        service, group, name="山田様", email="a@b\r\nBcc: c@d", send_as="bcc", language="fr"
    )

    fields = [field for field, _ in read_violations(response)]
    assert sorted(fields) == ["email", "language", "name", "send_as"]
    assert list_contacts(service, group) == []


def test_a_deleted_contact_is_gone(service: Service, group: str) -> None:
    contact = add_contact(service, group)
    path = path_of(group, contact["contact_id"])

    assert service.http.delete(path, headers=service.root()).status_code == 200

    assert list_contacts(service, group) == []
    read_problem(service.http.delete(path, headers=service.root()), 404)
    read_problem(service.http.put(path, json=HANAKO, headers=service.root()), 404)


def test_a_contact_is_found_below_its_own_group_only(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    path = path_of(other, add_contact(service, group)["contact_id"])

    read_problem(service.http.put(path, json=HANAKO, headers=service.root()), 404)
    read_problem(service.http.delete(path, headers=service.root()), 404)
    assert len(list_contacts(service, group)) == 1


def test_callers_of_other_groups_find_nothing(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[other])
    reader = service.caller(RoleAction.ReadBillingGroup)

    read_problem(service.http.get(path_of(group), headers=restricted), 404)
    read_problem(post_contact(service, group, restricted), 404)
    read_problem(post_contact(service, group, reader), 403)
    assert post_contact(service, other, restricted).status_code == 201
    assert list_contacts(service, group) == []


def test_contacts_are_deleted_with_their_group(service: Service, group: str) -> None:
    add_contact(service, group)

    assert service.http.delete(f"{PATH}/{group}", headers=service.root()).status_code == 200
    read_problem(service.http.get(path_of(group), headers=service.root()), 404)


def test_changes_are_audited(service: Service, group: str) -> None:
    contact = add_contact(service, group)

    entries = service.http.get("/m/core/audit?action=create_contact", headers=service.root()).json()

    assert entries[0]["resource"] == f"billinggroup/{group}/contacts/{contact['contact_id']}"
    assert entries[0]["company_id"] == group
    assert entries[0]["sent"] == HANAKO
