"""GET /m/auth/rbac/{subuser}/userroles"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    MAPPINGS,
    RBAC,
    add_role,
    build_filter,
    list_mappings,
    map_roles,
    role_refs,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_list_equals_that_of_the_subuser_itself(service: Service, product: Product) -> None:
    """The subuser is found by its name in any case."""
    add_role(service, "role-1")
    subuser = create_subuser(service, username="Hanako.S")
    map_roles(service, subuser.user_id, role_refs("role-1"), [build_filter("cmp_a")])
    own = service.http.get(MAPPINGS, headers=subuser.core).json()

    for username in ("Hanako.S", "hanako.s"):
        response = service.http.get(
            f"{RBAC}/{username}/userroles", headers=service.root(product=product)
        )
        assert (response.status_code, response.json()) == (200, own)
    assert len(own) == 2
    assert {mapping["sub_user"] for mapping in own} == {subuser.user_id}


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_own_mappings_need_no_permission(service: Service, product: Product) -> None:
    add_role(service, "role-1")
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("role-1"))

    mappings = list_mappings(service, subuser.username, subuser.headers(product))

    assert mappings == [("core", "role-1")]


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", PRODUCTS)
def test_mappings_of_others_need_one_of_two_permissions(
    service: Service, action: RoleAction, product: Product
) -> None:
    subuser = create_subuser(service, core=["Admin"])
    reader = create_subuser(service, [action], [action])

    mappings = list_mappings(service, subuser.username, reader.headers(product))

    assert mappings == [("core", f"role-{subuser.user_id[-12:]}")]


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyApiClients"]])
@pytest.mark.parametrize("path", ["userroles", "permissions"])
def test_without_permission_the_response_does_not_reveal_whether_a_user_exists(
    service: Service, actions: list[str], path: str
) -> None:
    subuser, caller = create_subuser(service), create_subuser(service, core=actions)

    for user in (subuser.username, subuser.user_id, "root", "nobody", new_id("usr")):
        response = service.http.get(f"{RBAC}/{user}/{path}", headers=caller.core)
        assert read_problem(response, 403)["code"] == "role_action_missing"


@pytest.mark.parametrize("path", ["userroles", "permissions"])
def test_unknown_and_foreign_users_are_not_found(service: Service, path: str) -> None:
    other = service.new_organisation()
    foreign = create_subuser(service, core=["Admin"], organisation=other)

    for user in ("nobody", foreign.username, foreign.user_id, new_id("usr")):
        response = service.http.get(f"{RBAC}/{user}/{path}", headers=service.root())
        assert read_problem(response, 404)["code"] == "not_found"
