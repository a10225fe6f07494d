"""GET /m/auth/rbac/{subuser}/access"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.foundation.product import Product
from tests.identity.rbac.role_requests import RBAC, add_role, map_roles, role_refs
from tests.running_service import Service
from tests.subusers import create_subuser

GROUPS = [("core", "billingGroup", "cmp_a"), ("core", "billingGroup", "cmp_b")]


def read_access(service: Service, user: str, headers: dict[str, str]) -> dict[str, Any]:
    response = service.http.get(f"{RBAC}/{user}/access", headers=headers)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def named(company_id: str) -> dict[str, str]:
    return {
        "company_id": company_id,
        "billinggroup_id": f"BG-{company_id}",
        "billinggroup_name": "group",
    }


def test_access_shows_roles_actions_and_the_names_of_visible_groups(service: Service) -> None:
    add_role(service, "billing", ["ReadInvoice", "ReadCost"])
    subuser = create_subuser(service, filters=GROUPS)
    map_roles(service, subuser.user_id, role_refs("billing"))

    access = read_access(service, subuser.username, service.root())

    assert access == {
        "user_id": subuser.user_id,
        "username": subuser.username,
        "namespaces": [
            {"namespace": "core", "roles": ["billing"], "permissions": ["ReadInvoice", "ReadCost"]},
            {"namespace": "portal", "roles": [], "permissions": []},
        ],
        "billing_groups": [named("cmp_a"), named("cmp_b")],
        "filters": [{"namespace": "core", "type": "billingGroup", "resource": ["cmp_a", "cmp_b"]}],
    }
    assert read_access(service, subuser.user_id, subuser.core) == access


def test_the_root_user_has_every_action_and_no_filter(service: Service) -> None:
    access = read_access(service, "root", service.root())

    assert [entry["permissions"] for entry in access["namespaces"]] == [
        list(PERMISSIONS_BY_PRODUCT[product]) for product in (Product.core, Product.portal)
    ]
    assert (access["billing_groups"], access["filters"]) == (None, [])


def test_a_restricted_caller_sees_the_names_of_its_own_groups_only(service: Service) -> None:
    subuser = create_subuser(service, core=["ReadInvoice"], filters=GROUPS)
    reader = service.caller(RoleAction.ReadRoles, billing_groups=["cmp_b"])

    access = read_access(service, subuser.username, reader)

    assert access["billing_groups"] == [named("cmp_b")]
    assert access["filters"][0]["resource"] == ["cmp_b"]
