"""POST /m/core/billinggroup/contacts/csv: contacts from a file, all or none."""

from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.records import lock_billing_group
from nimbill.customers.contacts import records
from nimbill.customers.contacts.bodies import ContactBody
from nimbill.customers.contacts.contact_rules import CONTACTS_MAX
from nimbill.database.tenant_scope import TenantScope
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.contacts.contacts import HANAKO, add_contact, list_contacts
from tests.customers.csv_requests import list_audit_rows, list_errors, post_csv
from tests.held_locks import call_while_locked
from tests.problem_responses import CANARY, read_problem
from tests.running_service import Service

PATH = "/m/core/billinggroup/contacts/csv"
HEADER = "billinggroup_id,name,email"
UNKNOWN_GROUP = "an existing billing group"
TAKEN = "an address that no contact of this billing group has yet; remove the line"
TOO_MANY = "a billing group with at most 20 contacts, counting those of the file"


@pytest.fixture
def group(service: Service) -> str:
    return create_billing_group(service, service.root(), billinggroup_id="BG-1")


def test_a_file_creates_a_contact_per_line(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")

    response = post_csv(
        service,
        PATH,
        f"{HEADER},send_as,language,receives_invoices",
        "BG-2,John Smith,john@example.com,CC,en,FALSE",
        "BG-1,山田 花子,hanako@example.com,,,",
        "BG-1,経理部,keiri@example.com,to,JA,1",
    )

    assert response.status_code == 200, response.text
    john, hanako, keiri = response.json()["created"]
    assert (john["company_id"], hanako["company_id"]) == (other, group)
    assert (john["send_as"], john["language"], john["receives_invoices"]) == ("cc", "en", False)
    assert (hanako["name"], hanako["email"]) == ("山田 花子", "hanako@example.com")
    assert (hanako["send_as"], hanako["language"]) == ("to", None)
    assert hanako["receives_invoices"] is True
    assert (keiri["send_as"], keiri["language"]) == ("to", "ja")
    assert list_contacts(service, other) == [john]
    contacts = list_contacts(service, group)
    assert len(contacts) == 2
    assert all(contact in (hanako, keiri) for contact in contacts)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932"])
def test_files_of_japanese_spreadsheets_are_read(
    service: Service, group: str, encoding: str
) -> None:
    header = "請求グループID,請求グループ名,企業名,担当者名,メールアドレス,宛先区分"

    response = post_csv(service, PATH, header, "BG-1,a,b,髙橋,t@example.com,Cc", encoding=encoding)

    assert response.status_code == 200, response.text
    (contact,) = list_contacts(service, group)
    assert (contact["name"], contact["send_as"]) == ("髙橋", "cc")


def test_every_error_is_reported_and_nothing_is_created(service: Service, group: str) -> None:
    add_contact(service, group)

    response = post_csv(
        service,
        PATH,
        f"{HEADER},send_as,language,receives_invoices",
        "BG-1,花子,Hanako@example.com,,,",
        "BG-1,山田 様,no address,bcc,fr,maybe",
        ",山田,a@example.com,,,",
        f"{CANARY},,b@example.com,,,",
        "BG-1,佐藤,sato@example.com,,,",
        "BG-1,佐藤,SATO@example.com,,,",
    )

    assert list_errors(response) == [
        ("line 2, email", TAKEN),
        ("line 3, send_as", "one of to, cc"),
        ("line 3, receives_invoices", "true or false"),
        ("line 3, language", "one of ja, en"),
        ("line 3, email", "an e-mail address"),
        ("line 3, name", "without an honorific such as 様, which the mail adds"),
        ("line 4, billinggroup_id", "required"),
        ("line 5, name", "required"),
        ("line 5, billinggroup_id", UNKNOWN_GROUP),
        ("line 7, email", "once in each billing group; line 6 has it already"),
    ]
    assert [contact["email"] for contact in list_contacts(service, group)] == [HANAKO["email"]]


def test_one_address_may_belong_to_several_groups(service: Service, group: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    add_contact(service, other, email="a@example.com")

    response = post_csv(service, PATH, HEADER, "BG-1,経理,a@example.com")

    assert response.status_code == 200, response.text
    assert len(list_contacts(service, group)) == 1


def test_a_file_that_was_added_already_is_a_conflict(service: Service, group: str) -> None:
    lines = [HEADER, "BG-1,a,a@example.com", "BG-1,b,b@example.com"]
    post_csv(service, PATH, *lines)

    again = post_csv(service, PATH, *lines)

    assert list_errors(again, 409) == [("line 2, email", TAKEN), ("line 3, email", TAKEN)]
    assert read_problem(again, 409)["code"] == "contacts_refused"
    assert len(list_contacts(service, group)) == 2


def test_existing_contacts_count_for_the_limit_of_a_group(service: Service, group: str) -> None:
    add_contact(service, group)
    lines = [f"BG-1,name,{number}@example.com" for number in range(CONTACTS_MAX)]

    refused = post_csv(service, PATH, HEADER, *lines)
    created = post_csv(service, PATH, HEADER, *lines[1:])

    assert list_errors(refused, 409) == [("line 21, billinggroup_id", TOO_MANY)]
    assert created.status_code == 200, created.text
    assert len(list_contacts(service, group)) == CONTACTS_MAX


def test_groups_of_another_organisation_look_unknown(service: Service, group: str) -> None:
    foreign = service.new_organisation()
    create_billing_group(service, service.root(foreign), billinggroup_id="BG-F")

    response = post_csv(service, PATH, HEADER, "BG-F,a,a@example.com")

    assert list_errors(response) == [("line 2, billinggroup_id", UNKNOWN_GROUP)]
    assert list_contacts(service, group) == []


def test_restricted_callers_add_contacts_to_their_own_groups_only(
    service: Service, group: str
) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    add_contact(service, hidden)
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[group])
    own = "BG-1,a,a@example.com"

    refused = post_csv(service, PATH, HEADER, own, f"BG-2,a,{HANAKO['email']}", headers=restricted)
    created = post_csv(service, PATH, HEADER, own, headers=restricted)

    assert list_errors(refused) == [("line 3, billinggroup_id", UNKNOWN_GROUP)]
    assert created.status_code == 200, created.text
    assert len(list_contacts(service, group)) == len(list_contacts(service, hidden)) == 1


def test_each_contact_has_an_audit_row_of_its_group(service: Service, group: str) -> None:
    response = post_csv(service, PATH, HEADER, "BG-1,a,a@example.com", "BG-1,b,b@example.com")

    rows = list_audit_rows(service, "create_contact")
    created = [contact["contact_id"] for contact in response.json()["created"]]
    resources = [f"billinggroup/{group}/contacts/{contact_id}" for contact_id in created]
    assert [row["resource"] for row in rows] == resources
    assert {row["company_id"] for row in rows} == {group}
    assert (rows[1]["sent"]["email"], rows[1]["sent"]["csv_line"]) == ("b@example.com", 3)


def test_a_repeat_with_the_same_key_creates_nothing_more(service: Service, group: str) -> None:
    headers = service.root() | {"Idempotency-Key": "file-1"}

    first = post_csv(service, PATH, HEADER, "BG-1,a,a@example.com", headers=headers)
    again = post_csv(service, PATH, HEADER, "BG-1,a,a@example.com", headers=headers)

    assert again.text == first.text
    assert len(list_contacts(service, group)) == 1


def test_a_file_waits_for_a_contact_that_is_being_added(service: Service, group: str) -> None:
    body = ContactBody(name="a", email="a@example.com")

    async def lock_group(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_billing_group(db, scope, group)

    async def commit_contact(db: AsyncConnection, scope: TenantScope) -> None:
        await records.add_contact(db, scope, group, "con_first", body)

    outcome = call_while_locked(
        service,
        lock_group,
        lambda: post_csv(service, PATH, HEADER, "BG-1,a,a@example.com"),
        change=commit_contact,
    )

    assert outcome.waited
    assert list_errors(outcome.result, 409) == [("line 2, email", TAKEN)]
    assert len(list_contacts(service, group)) == 1


def test_reading_alone_is_not_sufficient(service: Service, group: str) -> None:
    reader = service.caller(RoleAction.ReadBillingGroup)

    response = post_csv(service, PATH, HEADER, "BG-1,a,a@example.com", headers=reader)

    assert response.status_code == 403
    assert list_contacts(service, group) == []
