"""GET /m/auth/rbac/roles"""

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import ROLES, add_role, list_roles, post_role
from tests.problem_responses import read_violations
from tests.running_service import Service
from tests.subusers import create_subuser


def test_the_list_of_a_new_organisation_is_empty(service: Service) -> None:
    assert list_roles(service) == []


def test_all_roles_are_listed_by_namespace_and_name(service: Service) -> None:
    add_role(service, "role-b", ["ReadUsers"], "portal")
    add_role(service, "role-c", ["ReadUsers"])
    add_role(service, "Role-z", [])
    add_role(service, "role-a", ["Admin"], "portal")
    add_role(service, "role-b", ["ReadCost", "ReadAudit"])

    assert list_roles(service) == [
        {"name": "Role-z", "namespace": "core", "permissions": []},
        {"name": "role-b", "namespace": "core", "permissions": ["ReadCost", "ReadAudit"]},
        {"name": "role-c", "namespace": "core", "permissions": ["ReadUsers"]},
        {"name": "role-a", "namespace": "portal", "permissions": ["Admin"]},
        {"name": "role-b", "namespace": "portal", "permissions": ["ReadUsers"]},
    ]


@pytest.mark.parametrize("namespace", ["core", "portal"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_the_list_can_be_restricted_to_a_namespace(
    service: Service, namespace: str, product: Product
) -> None:
    add_role(service, "of-core")
    add_role(service, "of-portal", ["ReadTags"], "portal")

    response = service.http.get(
        ROLES, params={"namespace": namespace}, headers=service.root(product=product)
    )

    assert [role["name"] for role in response.json()] == [f"of-{namespace}"]


def test_an_unknown_namespace_is_refused(service: Service) -> None:
    for namespace in ("legacy", "CORE", "core ", "", "core,portal", "*"):
        response = service.http.get(ROLES, params={"namespace": namespace}, headers=service.root())
        assert read_violations(response) == [("namespace", "one of core, portal")], namespace


def test_roles_of_other_organisations_are_not_listed(service: Service) -> None:
    add_role(service)
    other = service.new_organisation()
    post_role(service, service.root(other), name="of-others")

    assert [role["name"] for role in list_roles(service)] == ["accounting"]
    assert [role["name"] for role in list_roles(service, service.root(other))] == ["of-others"]


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_subuser_with_permission_sees_all_roles(
    service: Service, action: RoleAction, product: Product
) -> None:
    add_role(service, "of-core", ["Admin"])
    add_role(service, "of-portal", ["ReadTags"], "portal")
    reader = create_subuser(service, core=[action], portal=[action])

    assert list_roles(service, reader.headers(product)) == list_roles(service)
