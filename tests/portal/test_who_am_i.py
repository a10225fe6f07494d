"""GET /m/portal/me"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import OFFERED
from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.contract.specification import choices_beside_it, words
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import (
    CUSTOM,
    EMAIL,
    Reseller,
    change_meta,
    logged_in,
    new_reseller,
)
from tests.identity.login.asking import bearer
from tests.people import new_person
from tests.running_service import Service

ME = "/m/portal/me"
EVERYTHING = [action.value for action in OFFERED[Product.portal]]


def me(service: Service, headers: dict[str, str]) -> dict[str, Any]:
    answer = service.http.get(ME, headers=headers)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return new_reseller(service, company, meta={"users_management": True, "invoice": True})


def test_a_reseller_is_told_its_company_flags_and_permissions(
    service: Service, reseller: Reseller, company: str
) -> None:
    assert me(service, reseller.portal) == {
        "user_id": reseller.user_id,
        "username": EMAIL,
        "company": {
            "company_id": company,
            "billinggroup_id": "BG-1",
            "billinggroup_name": "さくら商事",
            "name": "株式会社さくら商事",
        },
        "flags": {**FLAGS, "users_management": True, "invoice": True},
        "permissions": EVERYTHING,
    }


def test_a_reseller_holds_every_action_of_the_portal(service: Service, reseller: Reseller) -> None:
    offered = service.http.get("/m/auth/rbac/permissions", headers=reseller.portal).json()
    (portal,) = [one["permissions"] for one in offered if one["namespace"] == "portal"]

    assert me(service, reseller.portal)["permissions"] == portal
    agreed = words(choices_beside_it())
    assert "A reseller account holds every portal action, bounded by its flags" in agreed


def test_flags_are_told_as_they_are_now(service: Service, reseller: Reseller) -> None:
    change_meta(service, reseller.user_id, invoice=False, ri_utilization=True)

    flags = me(service, reseller.portal)["flags"]

    assert (flags["invoice"], flags["ri_utilization"]) == (False, True)


def test_a_subuser_of_a_reseller_is_told_the_same_company_and_flags_and_its_own_permissions(
    service: Service, reseller: Reseller
) -> None:
    body = {"username": "sub.user", "password": CUSTOM, "notification": {"email": "false"}}
    user_id = service.http.post("/m/u/users", json=body, headers=reseller.portal).json()["user_id"]
    headers = bearer(logged_in(service, "sub.user"))

    before = me(service, headers)
    role = {"name": "reading", "namespace": "portal", "permissions": ["ReadTags", "ReadAccount"]}
    service.http.post("/m/auth/rbac/roles", json=role, headers=reseller.portal)
    mapping = {"user_id": user_id, "roles": [{"namespace": "portal", "role": "reading"}]}
    service.http.post("/m/auth/rbac/userroles", json=mapping, headers=reseller.portal)
    after = me(service, headers)

    of_account = me(service, reseller.portal)
    assert before == {
        "user_id": user_id,
        "username": "sub.user",
        "company": of_account["company"],
        "flags": of_account["flags"],
        "permissions": [],
    }
    assert after == before | {"permissions": ["ReadAccount", "ReadTags"]}


def test_the_root_user_of_the_organisation_is_bound_by_no_company_and_no_flag(
    service: Service, company: str
) -> None:
    assert me(service, service.root(product=Product.portal)) == {
        "user_id": service.organisation.root_user_id,
        "username": "root",
        "company": None,
        "flags": None,
        "permissions": EVERYTHING,
    }


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (None, []),
        (["ReadInvoice"], ["ReadInvoice"]),
        (["ModifyBudget", "ReadBudget", "ReadUsers"], ["ReadUsers", "ReadBudget", "ModifyBudget"]),
        (["Admin"], EVERYTHING),
    ],
)
def test_a_subuser_of_the_organisation_is_told_what_its_roles_of_the_portal_allow(
    service: Service, held: list[str] | None, told: list[str]
) -> None:
    person = new_person(service, core=["Admin"], portal=held)

    answer = me(service, person.portal)

    assert (answer["company"], answer["flags"]) == (None, None)
    assert answer["permissions"] == told
    assert answer["user_id"] == person.user_id


def test_two_resellers_are_told_their_own(service: Service, reseller: Reseller) -> None:
    second = create_group(service, service.root(), billinggroup_id="BG-2")
    other = new_reseller(service, second, email="other@example.com")

    assert me(service, other.portal)["company"]["billinggroup_id"] == "BG-2"
    assert me(service, reseller.portal)["company"]["billinggroup_id"] == "BG-1"


def test_a_token_of_core_is_of_the_other_product(service: Service) -> None:
    answer = service.http.get(ME, headers=service.root())

    assert problem_of(answer, 401)["code"] == "token_of_other_product"


def test_without_a_token_nobody_is_told_anything(service: Service) -> None:
    assert problem_of(service.http.get(ME), 401)["code"] == "token_missing"
