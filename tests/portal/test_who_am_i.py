"""GET /m/portal/me"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT
from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.foundation.product import Product
from tests.contract.specification import collapse_whitespace, read_choice
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    Reseller,
    change_meta,
    create_reseller,
    log_in_for_token,
)
from tests.identity.login.token_requests import bearer_headers
from tests.portal.daily_costs import MONTH
from tests.portal.portal_customer import PortalCustomer
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

ME = "/m/portal/me"
NO_BRANDING = {"name": None, "colour": None, "logo": None, "style": None}
ALL_PERMISSIONS = [action.value for action in PERMISSIONS_BY_PRODUCT[Product.portal]]


def get_me(service: Service, headers: dict[str, str]) -> dict[str, Any]:
    response = service.http.get(ME, headers=headers)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return create_reseller(service, company, meta={"users_management": True, "invoice": True})


def test_a_reseller_sees_its_company_flags_and_permissions(
    service: Service, reseller: Reseller, company: str
) -> None:
    assert get_me(service, reseller.portal) == {
        "user_id": reseller.user_id,
        "username": EMAIL,
        "company": {
            "company_id": company,
            "billinggroup_id": "BG-1",
            "billinggroup_name": "さくら商事",
            "name": "株式会社さくら商事",
        },
        "flags": {**FLAGS, "users_management": True, "invoice": True},
        "permissions": ALL_PERMISSIONS,
        "language": "ja",
        "report_tag_keys": [],
        "newest_month": None,
        "filtered": False,
        "view": None,
        "branding": NO_BRANDING,
    }


def test_a_reseller_has_every_permission_of_the_portal(
    service: Service, reseller: Reseller
) -> None:
    offered = service.http.get("/m/auth/rbac/permissions", headers=reseller.portal).json()
    (portal,) = [each["permissions"] for each in offered if each["namespace"] == "portal"]

    assert get_me(service, reseller.portal)["permissions"] == portal
    choice = collapse_whitespace(read_choice("portal-routes"))
    assert "A reseller account has every `portal` action, restricted by its flags." in choice


def test_a_change_of_flags_is_shown_at_once(service: Service, reseller: Reseller) -> None:
    change_meta(service, reseller.user_id, invoice=False, ri_utilization=True)

    flags = get_me(service, reseller.portal)["flags"]

    assert (flags["invoice"], flags["ri_utilization"]) == (False, True)


def test_a_subuser_of_a_reseller_sees_the_company_and_flags_of_the_reseller(
    service: Service, reseller: Reseller
) -> None:
    body = {"username": "sub.user", "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}
    user_id = service.http.post("/m/u/users", json=body, headers=reseller.portal).json()["user_id"]
    headers = bearer_headers(log_in_for_token(service, "sub.user"))

    before = get_me(service, headers)
    role = {"name": "reading", "namespace": "portal", "permissions": ["ReadTags", "ReadAccount"]}
    service.http.post("/m/auth/rbac/roles", json=role, headers=reseller.portal)
    mapping = {"user_id": user_id, "roles": [{"namespace": "portal", "role": "reading"}]}
    service.http.post("/m/auth/rbac/userroles", json=mapping, headers=reseller.portal)
    after = get_me(service, headers)

    account = get_me(service, reseller.portal)
    assert before == {
        "user_id": user_id,
        "username": "sub.user",
        "company": account["company"],
        "flags": account["flags"],
        "permissions": [],
        "language": "ja",
        "report_tag_keys": [],
        "newest_month": None,
        "filtered": False,
        "view": None,
        "branding": NO_BRANDING,
    }
    assert after == before | {"permissions": ["ReadAccount", "ReadTags"]}


def test_the_root_user_of_the_organisation_has_no_company_and_no_flags(
    service: Service, company: str
) -> None:
    assert get_me(service, service.root(product=Product.portal)) == {
        "user_id": service.organisation.root_user_id,
        "username": "root",
        "company": None,
        "flags": None,
        "permissions": ALL_PERMISSIONS,
        "language": "ja",
        "report_tag_keys": [],
        "newest_month": None,
        "filtered": False,
        "view": None,
        "branding": NO_BRANDING,
    }


@pytest.mark.parametrize(
    ("portal_role", "permissions"),
    [
        (None, []),
        (["ReadInvoice"], ["ReadInvoice"]),
        (["ModifyBudget", "ReadBudget", "ReadUsers"], ["ReadUsers", "ReadBudget", "ModifyBudget"]),
        (["Admin"], ALL_PERMISSIONS),
    ],
)
def test_a_subuser_of_the_organisation_sees_the_permissions_of_its_portal_roles(
    service: Service, portal_role: list[str] | None, permissions: list[str]
) -> None:
    subuser = create_subuser(service, core=["Admin"], portal=portal_role)

    body = get_me(service, subuser.portal)

    assert (body["company"], body["flags"]) == (None, None)
    assert body["permissions"] == permissions
    assert body["user_id"] == subuser.user_id


def test_each_reseller_sees_its_own_company(service: Service, reseller: Reseller) -> None:
    second = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    other = create_reseller(service, second, email="other@example.com")

    assert get_me(service, other.portal)["company"]["billinggroup_id"] == "BG-2"
    assert get_me(service, reseller.portal)["company"]["billinggroup_id"] == "BG-1"


def test_a_core_token_is_refused(service: Service) -> None:
    response = service.http.get(ME, headers=service.root())

    assert read_problem(response, 401)["code"] == "token_of_other_product"


def test_a_request_without_token_is_refused(service: Service) -> None:
    assert read_problem(service.http.get(ME), 401)["code"] == "token_missing"


def test_the_language_is_that_of_the_company_then_of_the_organisation(
    service: Service, reseller: Reseller, company: str
) -> None:
    settings = {"language": "en", "report_tag_keys": ["Team"]}
    assert service.http.put("/m/core/settings", json=settings, headers=service.root()).is_success
    of_organisation = get_me(service, reseller.portal)
    second = create_billing_group(service, service.root(), billinggroup_id="BG-2", language="ja")
    other = create_reseller(service, second, email="other@example.com")

    of_company = get_me(service, other.portal)

    assert (of_organisation["language"], of_organisation["report_tag_keys"]) == ("en", ["Team"])
    assert of_company["language"] == "ja"


def test_the_newest_month_is_the_last_one_with_costs(daily_customer: PortalCustomer) -> None:
    assert daily_customer.get("/me")["newest_month"] == MONTH
