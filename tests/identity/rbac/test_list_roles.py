"""GET /m/auth/rbac/roles"""

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.vocabulary import Product
from tests.answers import violations_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import ROLES, create_role, new_role, roles_of
from tests.people import new_person
from tests.running_service import Service


def test_where_there_is_none_none_is_listed(service: Service) -> None:
    assert roles_of(service) == []


def test_without_a_namespace_all_are_returned_in_the_order_of_their_names(service: Service) -> None:
    new_role(service, "role-b", ["ReadUsers"], "portal")
    new_role(service, "role-c", ["ReadUsers"])
    new_role(service, "Role-z", [])
    new_role(service, "role-a", ["Admin"], "portal")
    new_role(service, "role-b", ["ReadCost", "ReadAudit"])

    assert roles_of(service) == [
        {"name": "Role-z", "namespace": "core", "permissions": []},
        {"name": "role-b", "namespace": "core", "permissions": ["ReadCost", "ReadAudit"]},
        {"name": "role-c", "namespace": "core", "permissions": ["ReadUsers"]},
        {"name": "role-a", "namespace": "portal", "permissions": ["Admin"]},
        {"name": "role-b", "namespace": "portal", "permissions": ["ReadUsers"]},
    ]


@pytest.mark.parametrize("namespace", ["core", "portal"])
@pytest.mark.parametrize("product", BOTH)
def test_with_a_namespace_its_own_are_returned(
    service: Service, namespace: str, product: Product
) -> None:
    new_role(service, "of-core")
    new_role(service, "of-portal", ["ReadTags"], "portal")

    answer = service.http.get(
        ROLES, params={"namespace": namespace}, headers=service.root(product=product)
    )

    assert [role["name"] for role in answer.json()] == [f"of-{namespace}"]


def test_there_is_no_other_namespace(service: Service) -> None:
    for namespace in ("legacy", "CORE", "core ", "", "core,portal", "*"):
        answer = service.http.get(ROLES, params={"namespace": namespace}, headers=service.root())
        assert violations_of(answer) == [("namespace", "one of core, portal")], namespace


def test_only_ones_own_organisation_is_listed(service: Service) -> None:
    new_role(service)
    other = service.new_organisation()
    create_role(service, service.root(other), name="of-others")

    assert [role["name"] for role in roles_of(service)] == ["accounting"]
    assert [role["name"] for role in roles_of(service, service.root(other))] == ["of-others"]


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", BOTH)
def test_a_subuser_who_may_sees_all_of_them(
    service: Service, action: RoleAction, product: Product
) -> None:
    new_role(service, "of-core", ["Admin"])
    new_role(service, "of-portal", ["ReadTags"], "portal")
    reader = new_person(service, core=[action], portal=[action])

    assert roles_of(service, reader.headers(product)) == roles_of(service)
