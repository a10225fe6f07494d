"""GET /m/auth/rbac/{subuser}/userroles"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    MAPPINGS,
    RBAC,
    filtering,
    map_roles,
    mappings_of,
    named,
    new_role,
)
from tests.people import new_person
from tests.running_service import Service


@pytest.mark.parametrize("product", BOTH)
def test_it_tells_what_the_subuser_itself_is_told(service: Service, product: Product) -> None:
    """By its name, in whatever letters."""
    new_role(service, "role-1")
    person = new_person(service, username="Hanako.S")
    map_roles(service, person.user_id, named("role-1"), [filtering("cmp_a")])
    own = service.http.get(MAPPINGS, headers=person.core).json()

    for subuser in ("Hanako.S", "hanako.s"):
        answer = service.http.get(
            f"{RBAC}/{subuser}/userroles", headers=service.root(product=product)
        )
        assert (answer.status_code, answer.json()) == (200, own)
    assert len(own) == 2
    assert {one["sub_user"] for one in own} == {person.user_id}


@pytest.mark.parametrize("product", BOTH)
def test_oneself_always(service: Service, product: Product) -> None:
    new_role(service, "role-1")
    person = new_person(service)
    map_roles(service, person.user_id, named("role-1"))

    seen = mappings_of(service, person.username, person.headers(product))

    assert seen == [("core", "role-1")]


@pytest.mark.parametrize("action", [RoleAction.ReadRoles, RoleAction.ModifyRoles])
@pytest.mark.parametrize("product", BOTH)
def test_others_with_one_of_two_actions(
    service: Service, action: RoleAction, product: Product
) -> None:
    person, reader = new_person(service, core=["Admin"]), new_person(service, [action], [action])

    seen = mappings_of(service, person.username, reader.headers(product))

    assert seen == [("core", f"role-{person.user_id[-12:]}")]


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyApiClients"]])
@pytest.mark.parametrize("what", ["userroles", "permissions"])
def test_others_not_without_the_action_whether_they_exist_or_not(
    service: Service, actions: list[str], what: str
) -> None:
    person, caller = new_person(service), new_person(service, core=actions)

    for subuser in (person.username, person.user_id, "root", "nobody", new_id("usr")):
        answer = service.http.get(f"{RBAC}/{subuser}/{what}", headers=caller.core)
        assert problem_of(answer, 403)["code"] == "role_action_missing"


@pytest.mark.parametrize("what", ["userroles", "permissions"])
def test_an_unknown_subuser_is_not_found(service: Service, what: str) -> None:
    other = service.new_organisation()
    theirs = new_person(service, core=["Admin"], organisation=other)

    for subuser in ("nobody", theirs.username, theirs.user_id, new_id("usr")):
        answer = service.http.get(f"{RBAC}/{subuser}/{what}", headers=service.root())
        assert problem_of(answer, 404)["code"] == "not_found"
