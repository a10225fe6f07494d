"""GET /m/auth/rbac/{subuser}/permissions"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.vocabulary import Product
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import RBAC, map_roles, named, new_role, permissions_of
from tests.people import new_person
from tests.running_service import Service


def test_they_are_those_of_all_roles_together(service: Service) -> None:
    new_role(service, "role-1", ["ReadInvoice", "ReadCost"])
    new_role(service, "role-2", ["ReadCost", "ModifyRi"])
    new_role(service, "role-3", [])
    new_role(service, "role-4", ["ReadAudit"])
    new_role(service, "role-1", ["ReadTags"], "portal")
    person = new_person(service)
    map_roles(service, person.user_id, named("role-1", "role-2", "role-3"))
    map_roles(service, person.user_id, named("role-1", namespace="portal"))

    answer = service.http.get(f"{RBAC}/{person.username}/permissions", headers=service.root())

    assert answer.status_code == 200
    assert answer.json() == [
        {"namespace": "portal", "permissions": ["ReadTags"]},
        {"namespace": "core", "permissions": ["ModifyRi", "ReadCost", "ReadInvoice"]},
    ]


def test_admin_beside_others_is_told_with_them(service: Service) -> None:
    """Each role permits what it permits; Admin discards inside one role alone."""
    new_role(service, "role-1", ["ReadInvoice"])
    new_role(service, "role-2", ["ReadCost", "Admin"])
    person = new_person(service)
    map_roles(service, person.user_id, named("role-1", "role-2"))

    assert permissions_of(service, person.username) == {
        "portal": [],
        "core": ["Admin", "ReadInvoice"],
    }


def test_a_new_subuser_has_none(service: Service) -> None:
    person = new_person(service)

    assert permissions_of(service, person.username) == {"portal": [], "core": []}


def test_the_root_user_is_admin_everywhere(service: Service) -> None:
    assert permissions_of(service, "root") == {"portal": ["Admin"], "core": ["Admin"]}


@pytest.mark.parametrize("product", BOTH)
def test_oneself_always(service: Service, product: Product) -> None:
    person = new_person(service, core=["ReadCost"], portal=["ReadTags"])

    for subuser in (person.username, person.username.upper()):
        assert permissions_of(service, subuser, person.headers(product)) == {
            "portal": ["ReadTags"],
            "core": ["ReadCost"],
        }


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", BOTH)
def test_others_with_one_of_two_actions(
    service: Service, action: RoleAction, product: Product
) -> None:
    person, reader = new_person(service, core=["ReadCost"]), new_person(service, [action], [action])

    seen = permissions_of(service, person.username, reader.headers(product))

    assert seen == {"portal": [], "core": ["ReadCost"]}
