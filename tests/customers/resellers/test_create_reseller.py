"""POST /m/core/reseller with a body"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    RESELLERS,
    build_body,
    get_only_reseller,
    list_resellers,
    post_reseller,
)
from tests.identity.users.user_requests import post_subuser
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser, run_concurrently


def test_an_account_is_created(service: Service, company: str) -> None:
    response = post_reseller(service, company)

    assert response.status_code == 200
    assert set(response.json()) == {"status", "user_id"}
    assert response.json()["status"] == "success"
    assert response.json()["user_id"] == get_only_reseller(service)["user_id"]
    assert response.json()["user_id"].startswith("usr_")


def test_a_company_may_have_several_accounts(service: Service, company: str) -> None:
    for number in range(3):
        assert post_reseller(service, company, email=f"{number}@example.com").status_code == 200

    assert [record["company_id"] for record in list_resellers(service)] == [company] * 3


def test_unknown_fields_are_ignored(service: Service, company: str) -> None:
    response = post_reseller(
        service, company, user_id="usr_mine", kind="root", portal_registered="1999"
    )

    assert response.status_code == 200
    assert response.json()["user_id"] != "usr_mine"
    assert not get_only_reseller(service)["portal_registered"].startswith("1999")


def test_the_audit_row_does_not_contain_the_password(service: Service, company: str) -> None:
    user_id = post_reseller(service, company).json()["user_id"]

    rows = service.http.get("/m/core/audit", headers=service.root()).json()
    (row,) = [row for row in rows if row["resource"] == f"reseller/{user_id}"]

    assert row["sent"]["password"] == "***"
    assert CUSTOM_PASSWORD not in repr(rows)


def test_an_empty_object_is_a_request_to_create_an_account(service: Service) -> None:
    response = service.http.post(RESELLERS, json={}, headers=service.root())

    assert read_violations(response) == [
        (field, "required")
        for field in ("email", "company_id", "input_type", "notification", "meta")
    ]
    assert list_resellers(service) == []


def test_all_violations_are_reported_at_once(service: Service, company: str) -> None:
    response = post_reseller(
        service,
        company,
        email="nobody",
        input_type="Custom",
        notification="no",
        password="short",
        meta={"invoice": 1, "unheard_of": True},
    )

    assert read_violations(response) == [
        ("notification", "true or false"),
        ("email", "an e-mail address"),
        ("password", "length 8 to 18"),
        ("meta.unheard_of", "not a known flag"),
        ("meta.invoice", "true or false"),
    ]


# ── e-mail address ───────────────────────────────────────────────────────────────────────────────


def test_addresses_are_stored_unchanged(service: Service, company: str) -> None:
    addresses = [
        "a@b",
        "hanako.sato+billing@mail.example.co.jp",
        "o'neil@example.com",
        "UPPER@EXAMPLE.COM",
        "花子@例え.jp",
        f"{'a' * 242}@example.com",
    ]

    for address in addresses:
        assert post_reseller(service, company, email=address).status_code == 200

    assert [record["email"] for record in list_resellers(service)] == addresses


@pytest.mark.parametrize("duplicate", [EMAIL, EMAIL.lower(), EMAIL.upper()])
def test_a_duplicate_address_is_refused_in_any_case(
    service: Service, company: str, duplicate: str
) -> None:
    assert post_reseller(service, company).status_code == 200

    response = post_reseller(service, company, email=duplicate)

    assert read_problem(response, 409)["code"] == "email_taken"
    assert len(list_resellers(service)) == 1


def test_an_address_of_a_subuser_is_refused(service: Service, company: str) -> None:
    assert post_subuser(service, email=EMAIL.upper()).status_code == 200

    assert read_problem(post_reseller(service, company), 409)["code"] == "email_taken"


def test_a_subuser_cannot_use_the_address_of_an_account(service: Service, company: str) -> None:
    assert post_reseller(service, company).status_code == 200

    response = post_subuser(service, email=EMAIL.lower())

    assert read_problem(response, 409)["code"] == "email_taken"


def test_another_organisation_may_use_the_same_address(service: Service, company: str) -> None:
    other = service.root(service.new_organisation())
    foreign = create_billing_group(service, other, billinggroup_id="1")

    assert post_reseller(service, company).status_code == 200
    assert post_reseller(service, foreign, other).status_code == 200


def test_only_one_of_many_concurrent_requests_gets_the_address(
    service: Service, company: str
) -> None:
    root = service.root()
    spellings = [EMAIL, EMAIL.lower(), EMAIL.upper(), EMAIL.title()]

    responses = run_concurrently(
        [partial(post_reseller, service, company, root, email=email) for email in spellings * 2]
    )

    assert sorted(response.status_code for response in responses) == [200] + [409] * 7
    codes = {response.json()["code"] for response in responses if response.status_code == 409}
    assert codes <= {"email_taken", "username_taken"}
    assert len(list_resellers(service)) == 1


# ── billing group ────────────────────────────────────────────────────────────────────────────────


def test_unknown_foreign_and_hidden_groups_are_refused(service: Service, company: str) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="1")
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    restricted = service.caller(RoleAction.ModifyReseller, billing_groups=[company])

    for company_id in ("cmp_unknown", "", "BG-1", "x" * 5000, foreign, hidden):
        response = post_reseller(service, company_id, restricted)
        assert read_violations(response) == [("company_id", "an existing billing group")]
    assert list_resellers(service) == []
    assert post_reseller(service, company, restricted).status_code == 200


def test_an_address_in_a_hidden_group_is_refused_too(service: Service, company: str) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    post_reseller(service, hidden)
    restricted = service.caller(RoleAction.ModifyReseller, billing_groups=[company])

    assert read_problem(post_reseller(service, company, restricted), 409)["code"] == "email_taken"


# ── permissions, which depend on the presence of a body ──────────────────────────────────────────


def test_permission_to_read_is_not_sufficient_to_create(service: Service, company: str) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    bodies: list[Any] = [build_body(company), {}, {"email": "broken"}, []]
    for body in bodies:
        response = service.http.post(RESELLERS, json=body, headers=reader)
        assert read_problem(response, 403)["code"] == "role_action_missing"
    assert list_resellers(service) == []


def test_any_byte_counts_as_a_body(service: Service) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    for content in (b" ", b"null", b"\n", b"{}", b"x"):
        for content_type in ("application/json", "text/plain"):
            headers = {**reader, "Content-Type": content_type}
            response = service.http.post(RESELLERS, content=content, headers=headers)
            assert read_problem(response, 403)["code"] == "role_action_missing"


@pytest.mark.parametrize("action", [RoleAction.ModifyReseller, RoleAction.Admin])
def test_permission_to_modify_is_sufficient_to_create(
    service: Service, company: str, action: RoleAction
) -> None:
    assert post_reseller(service, company, service.caller(action)).status_code == 200


def test_without_either_permission_both_forms_are_refused(service: Service, company: str) -> None:
    caller = create_subuser(service, core=["ReadBillingGroup", "ModifyBillingGroup"])

    assert read_problem(post_reseller(service, company, caller.core), 403)
    assert read_problem(service.http.post(RESELLERS, headers=caller.core), 403)
