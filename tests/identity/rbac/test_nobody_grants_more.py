"""Nobody grants, maps or issues more than he holds, whichever product his token is for."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    MAPPINGS,
    create_role,
    filtering,
    have_roles,
    map_roles,
    mappings_of,
    named,
    new_role,
    permissions_of,
    replace_mappings,
    roles_of,
    update_role,
)
from tests.people import Filter, new_person
from tests.running_service import Service

GROUP_A: Filter = ("core", "billingGroup", "cmp_a")
GROUP_B: Filter = ("core", "billingGroup", "cmp_b")
TAG_X: Filter = ("portal", "tags", "x")

MAY: dict[str, Any] = {
    "core": ["ModifyRoles", "ReadInvoice"],
    "portal": ["ModifyRoles", "ReadTags"],
}

# namespace and permissions of a role that somebody who holds MAY asks for, and whether he may
ASKED = [
    ("core", [], True),
    ("core", ["ReadInvoice"], True),
    ("core", ["ReadInvoice", "ModifyRoles"], True),
    ("core", ["ReadInvoice", "ModifyInvoice"], False),
    ("core", ["Admin"], False),
    ("core", ["ReadInvoice", "Admin"], False),
    ("core", ["ReadUsers"], False),
    ("portal", ["ReadTags", "ModifyRoles"], True),
    ("portal", ["ReadInvoice"], False),
    ("portal", ["Admin"], False),
]
each_product = pytest.mark.parametrize("product", BOTH)


@each_product
def test_in_creating_a_role(service: Service, product: Product) -> None:
    caller = new_person(service, **MAY)
    before = len(roles_of(service))

    for index, (namespace, permissions, may) in enumerate(ASKED):
        answer = create_role(
            service,
            caller.headers(product),
            name=f"asked-{index}",
            namespace=namespace,
            permissions=permissions,
        )

        assert answer.status_code == (200 if may else 403), (namespace, permissions)
        assert may or problem_of(answer, 403)["code"] == "grants_more"
    assert len(roles_of(service)) - before == sum(may for _, _, may in ASKED)


@each_product
def test_in_updating_a_role(service: Service, product: Product) -> None:
    """Also where the caller has the role himself."""
    caller = new_person(service, **MAY)
    have_roles(service, ["in-use"], [])
    map_roles(service, caller.user_id, named("in-use") + named("in-use", namespace="portal"))

    for namespace, permissions, may in ASKED:
        answer = update_role(
            service, "in-use", caller.headers(product), namespace, permissions=permissions
        )

        assert answer.status_code == (200 if may else 403), (namespace, permissions)
        assert may or problem_of(answer, 403)["code"] == "grants_more"
    held = permissions_of(service, caller.username)
    assert held == {name: sorted(all_) for name, all_ in MAY.items()}


@each_product
def test_in_mapping_a_role(service: Service, product: Product) -> None:
    """To others and to oneself, by adding and by replacing."""
    caller, other = new_person(service, **MAY), new_person(service)
    own = [(one["namespace"], one["role"]) for one in mapped(service, caller.core)]
    for index, (namespace, permissions, may) in enumerate(ASKED):
        role = new_role(service, f"wanted-{index}", permissions, namespace)
        wanted = named(role, namespace=namespace)
        for by, person in ((map_roles, other), (replace_mappings, other), (map_roles, caller)):
            before = mappings_of(service, person.username)

            answer = by(service, person.user_id, wanted, headers=caller.headers(product))

            assert answer.status_code == (200 if may else 403), (namespace, permissions)
            if not may:
                assert problem_of(answer, 403)["code"] == "maps_more"
                assert mappings_of(service, person.username) == before
        back = [reference for one, name in own for reference in named(name, namespace=one)]
        replace_mappings(service, caller.user_id, back)


def mapped(service: Service, headers: dict[str, str]) -> list[dict[str, str]]:
    mappings: list[dict[str, str]] = service.http.get(MAPPINGS, headers=headers).json()
    return mappings


@each_product
def test_one_of_many_roles_is_enough_to_refuse_them_all(service: Service, product: Product) -> None:
    caller, other = new_person(service, **MAY), new_person(service)
    new_role(service, "role-1", ["ReadInvoice"])
    new_role(service, "role-2", ["Admin"], "portal")

    answer = map_roles(
        service,
        other.user_id,
        named("role-1") + named("role-2", namespace="portal"),
        headers=caller.headers(product),
    )

    assert problem_of(answer, 403)["code"] == "maps_more"
    assert mappings_of(service, other.username) == []


def test_admin_of_one_namespace_is_nobody_in_the_other(service: Service) -> None:
    admin = new_person(service, core=["Admin"])

    in_core = create_role(service, admin.core, permissions=["Admin"])
    in_portal = create_role(service, admin.core, namespace="portal", permissions=["ReadTags"])

    assert in_core.status_code == 200
    assert problem_of(in_portal, 403)["code"] == "grants_more"


def test_a_role_may_be_renamed_by_who_holds_less(service: Service) -> None:
    """A name grants nothing."""
    caller = new_person(service, **MAY)
    new_role(service, "everything", ["Admin"])

    answer = update_role(service, "everything", caller.core, name="all-of-it")

    assert answer.json()["permissions"] == ["Admin"]


# what somebody who is filtered maps with, and whether the subuser ends up inside
FILTERED: list[tuple[list[Filter], list[Filter], list[Any] | None, bool]] = [
    ([GROUP_A], [], None, False),
    ([GROUP_A], [], [], False),
    ([GROUP_A], [], [filtering("cmp_a")], True),
    ([GROUP_A], [], [filtering("cmp_b")], False),
    ([GROUP_A], [], [filtering("cmp_a", "cmp_b")], False),
    ([GROUP_A], [GROUP_A], None, True),
    ([GROUP_A], [GROUP_B], None, False),
    ([GROUP_A], [GROUP_B], [filtering("cmp_a")], False),
    ([GROUP_A, GROUP_B], [GROUP_B], None, True),
    ([GROUP_A, GROUP_B], [GROUP_B], [filtering("cmp_a")], True),
    ([GROUP_A, GROUP_B], [GROUP_A], [filtering("cmp_c")], False),
    ([], [], None, True),
    ([], [GROUP_B], [filtering("cmp_c")], True),
    ([TAG_X], [], None, True),  # the portal's filters say nothing about core
]


@pytest.mark.parametrize(("mine", "theirs", "sent", "may"), FILTERED)
def test_who_is_filtered_maps_inside_his_own_filters(
    service: Service, mine: list[Filter], theirs: list[Filter], sent: Any, may: bool
) -> None:
    caller = new_person(service, core=["ModifyRoles", "ReadInvoice"], filters=mine)
    other = new_person(service, filters=theirs)
    new_role(service)
    before = mappings_of(service, other.username)

    answer = map_roles(service, other.user_id, named("accounting"), sent, caller.core)

    assert answer.status_code == (200 if may else 403)
    if not may:
        assert problem_of(answer, 403)["code"] == "maps_more"
        assert mappings_of(service, other.username) == before


def test_a_filter_on_billing_groups_bounds_what_is_mapped_in_the_portal(service: Service) -> None:
    """It narrows what its user sees with either token, so it must not be lost on the way."""
    caller = new_person(
        service, core=["ModifyRoles"], portal=["ModifyRoles", "ReadTags"], filters=[GROUP_A]
    )
    other = new_person(service)
    role = named(new_role(service, "portal-role", ["ReadTags"], "portal"), namespace="portal")

    for headers in (caller.core, caller.portal):
        answer = map_roles(service, other.user_id, role, headers=headers)
        assert problem_of(answer, 403)["code"] == "maps_more"
    inside = map_roles(service, other.user_id, role, [filtering("cmp_a")], caller.portal)
    assert inside.status_code == 200


@pytest.mark.parametrize("type_", ["linkAcct", "group", "tags"])
def test_each_type_of_filter_bounds_by_itself(service: Service, type_: str) -> None:
    caller = new_person(
        service, portal=["ModifyRoles", "ReadTags"], filters=[("portal", type_, "x")]
    )
    other = new_person(service)
    role = named(new_role(service, "portal-role", ["ReadTags"], "portal"), namespace="portal")
    others = {"linkAcct", "group", "tags"} - {type_}

    wrong = [filtering("x", namespace="portal", type_=one) for one in others]
    right = [filtering("x", namespace="portal", type_=type_)]

    assert map_roles(service, other.user_id, role, wrong, caller.portal).status_code == 403
    assert map_roles(service, other.user_id, role, right, caller.portal).status_code == 200


@pytest.mark.parametrize(
    ("roles", "filters"),
    [
        (["accounting"], []),
        (["accounting"], [filtering("cmp_a", "cmp_b")]),
        (["accounting"], [filtering("cmp_b")]),
    ],
)
def test_who_is_filtered_replaces_neither_others_filters_nor_his_own_by_wider_ones(
    service: Service, roles: list[str], filters: list[Any]
) -> None:
    new_role(service, permissions=["ModifyRoles", "ReadInvoice"])
    caller, other = new_person(service), new_person(service)
    for person in (caller, other):
        map_roles(service, person.user_id, named("accounting"), [filtering("cmp_a")])

    for person in (caller, other):
        before = mappings_of(service, person.username)
        answer = replace_mappings(service, person.user_id, named(*roles), filters, caller.core)

        assert problem_of(answer, 403)["code"] == "maps_more"
        assert mappings_of(service, person.username) == before
        added = map_roles(service, person.user_id, [], [filtering("cmp_b")], caller.core)
        assert problem_of(added, 403)["code"] == "maps_more"


@pytest.mark.parametrize(
    ("holds", "may"), [(["ReadAudit"], False), (["Admin"], False), (["ReadInvoice"], True)]
)
def test_wider_filters_are_a_gain_in_all_that_is_held_already(
    service: Service, holds: list[str], may: bool
) -> None:
    caller = new_person(service, core=["ModifyRoles", "ReadInvoice"])
    other = new_person(service, core=holds, filters=[GROUP_A])

    answer = map_roles(service, other.user_id, [], [filtering("cmp_b")], caller.core)

    assert answer.status_code == (200 if may else 403)
    filters = [one for _, one in mappings_of(service, other.username) if ":" in one]
    assert filters == ["billingGroup:cmp_a", "billingGroup:cmp_b"][: 2 if may else 1]


def test_who_is_filtered_lets_no_role_permit_more_to_those_outside(service: Service) -> None:
    """A role that grows does so for all who have it."""
    new_role(service, "in-use", ["ReadCost"])
    caller = new_person(service, core=["ModifyRoles", "ReadInvoice"], filters=[GROUP_A])
    inside, outside = new_person(service, filters=[GROUP_A]), new_person(service)
    map_roles(service, inside.user_id, named("in-use"))

    grows = update_role(service, "in-use", caller.core, permissions=["ReadInvoice"])
    map_roles(service, outside.user_id, named("in-use"))
    shrinks = update_role(service, "in-use", caller.core, permissions=[])
    grows_again = update_role(service, "in-use", caller.core, permissions=["ReadInvoice"])

    assert (grows.status_code, shrinks.status_code) == (200, 200)
    assert problem_of(grows_again, 403)["code"] == "grants_more"
    assert permissions_of(service, outside.username)["core"] == []


def test_roles_may_be_taken_away_whatever_the_filters(service: Service) -> None:
    caller = new_person(service, core=["ModifyRoles"], filters=[GROUP_A])
    other = new_person(service, core=["Admin"])

    assert replace_mappings(service, other.user_id, [], headers=caller.core).status_code == 200
    assert mappings_of(service, other.username) == []
