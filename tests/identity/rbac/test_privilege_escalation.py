"""You cannot grant, map or take away permissions you do not have, with a token of any product."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    add_role,
    build_filter,
    delete_role,
    insert_roles,
    list_mappings,
    list_permissions,
    list_roles,
    map_roles,
    patch_role,
    post_role,
    replace_mappings,
    role_refs,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import Filter, create_subuser

GROUP_A: Filter = ("core", "billingGroup", "cmp_a")
GROUP_B: Filter = ("core", "billingGroup", "cmp_b")
TAG_X: Filter = ("portal", "tags", "k=x")

CALLER_ROLES: dict[str, Any] = {
    "core": ["ModifyRoles", "ReadInvoice"],
    "portal": ["ModifyRoles", "ReadTags"],
}

# namespace and permissions of a role, and whether a caller with CALLER_ROLES may grant it
REQUESTED = [
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
each_product = pytest.mark.parametrize("product", PRODUCTS)


@each_product
def test_a_new_role_has_no_permissions_that_the_caller_lacks(
    service: Service, product: Product
) -> None:
    caller = create_subuser(service, **CALLER_ROLES)
    before = len(list_roles(service))

    for index, (namespace, permissions, allowed) in enumerate(REQUESTED):
        response = post_role(
            service,
            caller.headers(product),
            name=f"role-{index}",
            namespace=namespace,
            permissions=permissions,
        )

        assert response.status_code == (200 if allowed else 403), (namespace, permissions)
        assert allowed or read_problem(response, 403)["code"] == "grants_more"
    assert len(list_roles(service)) - before == sum(allowed for _, _, allowed in REQUESTED)


@each_product
def test_a_changed_role_has_no_permissions_that_the_caller_lacks(
    service: Service, product: Product
) -> None:
    """The role is also mapped to the caller, so the change must not extend its permissions."""
    caller = create_subuser(service, **CALLER_ROLES)
    insert_roles(service, ["in-use"], [])
    roles = role_refs("in-use") + role_refs("in-use", namespace="portal")
    map_roles(service, caller.user_id, roles)

    for namespace, permissions, allowed in REQUESTED:
        response = patch_role(
            service, "in-use", caller.headers(product), namespace, permissions=permissions
        )

        assert response.status_code == (200 if allowed else 403), (namespace, permissions)
        assert allowed or read_problem(response, 403)["code"] == "grants_more"
    assert list_permissions(service, caller.username) == {
        namespace: sorted(permissions) for namespace, permissions in CALLER_ROLES.items()
    }


@each_product
def test_a_mapped_role_has_no_permissions_that_the_caller_lacks(
    service: Service, product: Product
) -> None:
    """This holds for other users and for the caller, when adding and when replacing roles."""
    caller, other = create_subuser(service, **CALLER_ROLES), create_subuser(service)
    own_roles = [
        reference
        for namespace, role in list_mappings(service, caller.username)
        for reference in role_refs(role, namespace=namespace)
    ]
    for index, (namespace, permissions, allowed) in enumerate(REQUESTED):
        role = role_refs(
            add_role(service, f"role-{index}", permissions, namespace), namespace=namespace
        )
        for change, user in ((map_roles, other), (replace_mappings, other), (map_roles, caller)):
            before = list_mappings(service, user.username)

            response = change(service, user.user_id, role, headers=caller.headers(product))

            assert response.status_code == (200 if allowed else 403), (namespace, permissions)
            if not allowed:
                assert read_problem(response, 403)["code"] == "maps_more"
                assert list_mappings(service, user.username) == before
        replace_mappings(service, caller.user_id, own_roles)


@each_product
def test_one_role_that_cannot_be_mapped_prevents_the_whole_change(
    service: Service, product: Product
) -> None:
    caller, other = create_subuser(service, **CALLER_ROLES), create_subuser(service)
    add_role(service, "role-1", ["ReadInvoice"])
    add_role(service, "role-2", ["Admin"], "portal")

    response = map_roles(
        service,
        other.user_id,
        role_refs("role-1") + role_refs("role-2", namespace="portal"),
        headers=caller.headers(product),
    )

    assert read_problem(response, 403)["code"] == "maps_more"
    assert list_mappings(service, other.username) == []


def test_an_admin_of_one_namespace_grants_nothing_in_the_other(service: Service) -> None:
    admin = create_subuser(service, core=["Admin"])

    in_core = post_role(service, admin.core, permissions=["Admin"])
    in_portal = post_role(service, admin.core, namespace="portal", permissions=["ReadTags"])

    assert in_core.status_code == 200
    assert read_problem(in_portal, 403)["code"] == "grants_more"


def test_a_role_with_more_permissions_can_be_neither_renamed_nor_deleted_nor_changed(
    service: Service,
) -> None:
    caller = create_subuser(service, **CALLER_ROLES)
    add_role(service, "everything", ["Admin"])

    responses = [
        patch_role(service, "everything", caller.core, name="all-of-it"),
        patch_role(service, "everything", caller.core, permissions=[]),
        patch_role(service, "everything", caller.core, permissions=["ReadInvoice"]),
        delete_role(service, "everything", caller.core),
    ]

    for response in responses:
        assert read_problem(response, 403)["code"] == "role_above"
    (role,) = [role for role in list_roles(service) if role["name"] == "everything"]
    assert role["permissions"] == ["Admin"]


@pytest.mark.parametrize("name", ["everything", "Everything", "EVERYTHING"])
@pytest.mark.parametrize("namespace", ["core", "portal"])
def test_a_role_cannot_get_the_name_of_a_role_with_more_permissions(
    service: Service, name: str, namespace: str
) -> None:
    """Otherwise somebody could map it in place of the other by mistake."""
    caller = create_subuser(service, **CALLER_ROLES)
    add_role(service, "everything", ["Admin"])
    add_role(service, "nothing", [], namespace)

    created = post_role(service, caller.core, name=name, namespace=namespace, permissions=[])
    renamed = patch_role(service, "nothing", caller.core, namespace, name=name)

    is_taken = (name, namespace) == ("everything", "core")
    for response in (created, renamed):
        code = read_problem(response, 409 if is_taken else 403)["code"]
        assert code == ("role_name_taken" if is_taken else "role_above")
    assert len(list_roles(service)) == 4


def test_the_root_user_may_use_a_name_in_both_namespaces_and_in_any_case(
    service: Service,
) -> None:
    add_role(service, "everything", ["Admin"])

    for name, namespace in (("everything", "portal"), ("Everything", "core")):
        assert add_role(service, name, [], namespace) == name


def test_a_role_with_no_more_permissions_can_be_renamed_and_deleted(service: Service) -> None:
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"])
    add_role(service, "readers", ["ReadInvoice"])

    renamed = patch_role(service, "readers", caller.core, name="invoice-readers")
    deleted = delete_role(service, "invoice-readers", caller.core)

    assert (renamed.status_code, deleted.status_code) == (200, 200)


# ── filters ──────────────────────────────────────────────────────────────────────────────────────

# filters of the caller, filters of the user, filters of the request, and whether it is allowed
FILTERS: list[tuple[list[Filter], list[Filter], list[Any] | None, bool]] = [
    ([GROUP_A], [], None, False),
    ([GROUP_A], [], [], False),
    ([GROUP_A], [], [build_filter("cmp_a")], True),
    ([GROUP_A], [], [build_filter("cmp_b")], False),
    ([GROUP_A], [], [build_filter("cmp_a", "cmp_b")], False),
    ([GROUP_A], [GROUP_A], None, True),
    ([GROUP_A], [GROUP_B], None, False),
    ([GROUP_A], [GROUP_B], [build_filter("cmp_a")], False),
    ([GROUP_A, GROUP_B], [GROUP_B], None, True),
    ([GROUP_A, GROUP_B], [GROUP_B], [build_filter("cmp_a")], True),
    ([GROUP_A, GROUP_B], [GROUP_A], [build_filter("cmp_c")], False),
    ([], [], None, True),
    ([], [GROUP_B], [build_filter("cmp_c")], True),
    ([TAG_X], [], None, True),  # filters of the portal do not apply to core
]


def test_a_restricted_caller_maps_roles_within_its_own_filters(service: Service) -> None:
    add_role(service)
    for caller_filters, user_filters, filters, allowed in FILTERS:
        caller = create_subuser(
            service, core=["ModifyRoles", "ReadInvoice"], filters=caller_filters
        )
        user = create_subuser(service, filters=user_filters)
        before = list_mappings(service, user.username)

        response = map_roles(service, user.user_id, role_refs("accounting"), filters, caller.core)

        case = (caller_filters, user_filters, filters)
        assert response.status_code == (200 if allowed else 403), case
        if not allowed:
            assert read_problem(response, 403)["code"] == "maps_more"
            assert list_mappings(service, user.username) == before


def test_a_filter_on_billing_groups_also_restricts_roles_of_the_portal(service: Service) -> None:
    """The filter applies to tokens of both products."""
    caller = create_subuser(
        service, core=["ModifyRoles"], portal=["ModifyRoles", "ReadTags"], filters=[GROUP_A]
    )
    other = create_subuser(service)
    role = role_refs(add_role(service, "portal-role", ["ReadTags"], "portal"), namespace="portal")

    for headers in (caller.core, caller.portal):
        response = map_roles(service, other.user_id, role, headers=headers)
        assert read_problem(response, 403)["code"] == "maps_more"
    within = map_roles(service, other.user_id, role, [build_filter("cmp_a")], caller.portal)
    assert within.status_code == 200


def test_every_filter_type_restricts_separately(service: Service) -> None:
    types = {"linkAcct", "group", "tags"}
    role = role_refs(add_role(service, "portal-role", ["ReadTags"], "portal"), namespace="portal")

    for type_ in types:
        caller = create_subuser(
            service, portal=["ModifyRoles", "ReadTags"], filters=[("portal", type_, "k=x")]
        )
        user = create_subuser(service)
        other_types = [build_filter("k=x", namespace="portal", type_=t) for t in types - {type_}]
        same_type = [build_filter("k=x", namespace="portal", type_=type_)]

        refused = map_roles(service, user.user_id, role, other_types, caller.portal)
        allowed = map_roles(service, user.user_id, role, same_type, caller.portal)

        assert (refused.status_code, allowed.status_code) == (403, 200), type_


def test_a_restricted_caller_cannot_widen_filters_of_others_or_its_own(service: Service) -> None:
    add_role(service, permissions=["ModifyRoles", "ReadInvoice"])
    caller, other = create_subuser(service), create_subuser(service)
    for user in (caller, other):
        map_roles(service, user.user_id, role_refs("accounting"), [build_filter("cmp_a")])
    wider: list[list[Any]] = [[], [build_filter("cmp_a", "cmp_b")], [build_filter("cmp_b")]]

    for user in (caller, other):
        before = list_mappings(service, user.username)
        for filters in wider:
            response = replace_mappings(
                service, user.user_id, role_refs("accounting"), filters, caller.core
            )
            assert read_problem(response, 403)["code"] == "maps_more"
        added = map_roles(service, user.user_id, [], [build_filter("cmp_b")], caller.core)
        assert read_problem(added, 403)["code"] == "maps_more"
        assert list_mappings(service, user.username) == before


@pytest.mark.parametrize(
    ("user_role", "allowed"), [(["ReadAudit"], False), (["Admin"], False), (["ReadInvoice"], True)]
)
def test_wider_filters_extend_the_permissions_that_a_user_already_has(
    service: Service, user_role: list[str], allowed: bool
) -> None:
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"])
    other = create_subuser(service, core=user_role, filters=[GROUP_A])

    response = map_roles(service, other.user_id, [], [build_filter("cmp_b")], caller.core)

    assert response.status_code == (200 if allowed else 403)
    filters = [name for _, name in list_mappings(service, other.username) if ":" in name]
    assert filters == ["billingGroup:cmp_a", "billingGroup:cmp_b"][: 2 if allowed else 1]


def test_a_restricted_caller_cannot_extend_a_role_of_unrestricted_users(service: Service) -> None:
    """Adding permissions to a role grants them to all users with the role."""
    add_role(service, "in-use", [])
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"], filters=[GROUP_A])
    restricted, unrestricted = create_subuser(service, filters=[GROUP_A]), create_subuser(service)
    map_roles(service, restricted.user_id, role_refs("in-use"))

    extended = patch_role(service, "in-use", caller.core, permissions=["ReadInvoice"])
    map_roles(service, unrestricted.user_id, role_refs("in-use"))
    reduced = patch_role(service, "in-use", caller.core, permissions=[])
    extended_again = patch_role(service, "in-use", caller.core, permissions=["ReadInvoice"])

    assert (extended.status_code, reduced.status_code) == (200, 200)
    assert read_problem(extended_again, 403)["code"] == "grants_more"
    assert list_permissions(service, unrestricted.username)["core"] == []


# ── taking away ──────────────────────────────────────────────────────────────────────────────────


def test_a_restricted_caller_removes_roles_whose_permissions_it_has(service: Service) -> None:
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"], filters=[GROUP_A])
    other = create_subuser(service, core=["ReadInvoice"])

    assert replace_mappings(service, other.user_id, [], headers=caller.core).status_code == 200
    assert list_mappings(service, other.username) == []


def test_roles_with_permissions_that_the_caller_lacks_are_not_removed(service: Service) -> None:
    caller = create_subuser(service, **CALLER_ROLES)
    readers = role_refs(add_role(service, "readers", ["ReadInvoice"]))
    roles: list[dict[str, Any]] = [
        {"core": ["Admin"]},
        {"core": ["ReadAudit"]},
        {"core": ["ReadInvoice"], "portal": ["Admin"]},
    ]
    for user_roles in roles:
        other = create_subuser(service, **user_roles)
        before = list_mappings(service, other.username)

        for kept in ([], readers):
            response = replace_mappings(service, other.user_id, kept, headers=caller.core)

            assert read_problem(response, 403)["code"] == "holds_more", user_roles
            assert list_mappings(service, other.username) == before


@pytest.mark.parametrize(
    ("user_role", "allowed"), [(["ReadAudit"], False), (["Admin"], False), (["ReadInvoice"], True)]
)
def test_a_first_filter_does_not_take_away_what_the_caller_lacks(
    service: Service, user_role: list[str], allowed: bool
) -> None:
    """Without filters a user sees every group, so the first filter takes all others away."""
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"])
    other = create_subuser(service, core=user_role)
    before = list_mappings(service, other.username)

    response = map_roles(service, other.user_id, [], [build_filter("cmp_a")], caller.core)

    if allowed:
        assert response.status_code == 200
    else:
        assert read_problem(response, 403)["code"] == "holds_more"
        assert list_mappings(service, other.username) == before


def test_users_remove_their_own_roles(service: Service) -> None:
    caller = create_subuser(service, core=["ModifyRoles", "ReadInvoice"])

    assert replace_mappings(service, caller.user_id, [], headers=caller.core).status_code == 200
    assert list_mappings(service, caller.username) == []
