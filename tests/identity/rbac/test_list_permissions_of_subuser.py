"""GET /m/auth/rbac/{subuser}/permissions"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    RBAC,
    add_role,
    list_permissions,
    map_roles,
    role_refs,
)
from tests.running_service import Service
from tests.subusers import create_subuser


def test_the_permissions_of_all_roles_are_combined(service: Service) -> None:
    add_role(service, "role-1", ["ReadInvoice", "ReadCost"])
    add_role(service, "role-2", ["ReadCost", "ModifyRi"])
    add_role(service, "role-3", [])
    add_role(service, "role-4", ["ReadAudit"])
    add_role(service, "role-1", ["ReadTags"], "portal")
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("role-1", "role-2", "role-3"))
    map_roles(service, subuser.user_id, role_refs("role-1", namespace="portal"))

    response = service.http.get(f"{RBAC}/{subuser.username}/permissions", headers=service.root())

    assert response.status_code == 200
    assert response.json() == [
        {"namespace": "portal", "permissions": ["ReadTags"]},
        {"namespace": "core", "permissions": ["ModifyRi", "ReadCost", "ReadInvoice"]},
    ]


def test_admin_of_one_role_does_not_hide_the_permissions_of_another(service: Service) -> None:
    """Admin replaces only the other permissions of its own role."""
    add_role(service, "role-1", ["ReadInvoice"])
    add_role(service, "role-2", ["ReadCost", "Admin"])
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("role-1", "role-2"))

    assert list_permissions(service, subuser.username) == {
        "portal": [],
        "core": ["Admin", "ReadInvoice"],
    }


def test_a_new_subuser_has_no_permissions(service: Service) -> None:
    subuser = create_subuser(service)

    assert list_permissions(service, subuser.username) == {"portal": [], "core": []}


def test_the_root_user_is_admin_in_every_namespace(service: Service) -> None:
    assert list_permissions(service, "root") == {"portal": ["Admin"], "core": ["Admin"]}


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_own_permissions_need_no_permission(service: Service, product: Product) -> None:
    subuser = create_subuser(service, core=["ReadCost"], portal=["ReadTags"])

    for username in (subuser.username, subuser.username.upper()):
        assert list_permissions(service, username, subuser.headers(product)) == {
            "portal": ["ReadTags"],
            "core": ["ReadCost"],
        }


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", PRODUCTS)
def test_permissions_of_others_need_one_of_two_permissions(
    service: Service, action: RoleAction, product: Product
) -> None:
    subuser = create_subuser(service, core=["ReadCost"])
    reader = create_subuser(service, [action], [action])

    permissions = list_permissions(service, subuser.username, reader.headers(product))

    assert permissions == {"portal": [], "core": ["ReadCost"]}
