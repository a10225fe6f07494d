"""POST /m/auth/rbac/userroles: billing groups by either id, and users by name"""

from __future__ import annotations

import pytest

from tests.identity.rbac.role_requests import (
    add_role,
    build_filter,
    list_mappings,
    map_roles,
    replace_mappings,
    role_refs,
)
from tests.identity.rbac.stored_groups import insert_groups
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser


@pytest.fixture
def subuser(service: Service) -> SubuserAccount:
    return create_subuser(service)


def test_a_filter_names_billing_groups_by_either_id(
    service: Service, subuser: SubuserAccount
) -> None:
    response = map_roles(service, subuser.user_id, [], [build_filter("BG-cmp_b", "cmp_a")])

    assert response.status_code == 200, response.text
    assert response.json()["filters"] == [build_filter("cmp_a", "cmp_b")]


def test_a_filter_on_an_unknown_billing_group_is_refused_and_nothing_changes(
    service: Service, subuser: SubuserAccount
) -> None:
    foreign = service.organisation
    service.organisation = service.new_organisation()
    insert_groups(service, ["cmp_foreign"])
    service.organisation = foreign
    tags = build_filter("no=group", namespace="portal", type_="tags")
    filters = [tags, build_filter("cmp_a", "cmp_x"), build_filter("cmp_foreign")]

    for change in (map_roles, replace_mappings):
        response = change(service, subuser.user_id, [], filters)

        assert read_violations(response) == [
            ("filters[1].resource[1]", "an existing billing group"),
            ("filters[2].resource[0]", "an existing billing group"),
        ]
    assert list_mappings(service, subuser.username) == []


def test_a_restricted_caller_cannot_tell_hidden_groups_from_unknown_ones(service: Service) -> None:
    caller = create_subuser(
        service, core=["ModifyRoles"], filters=[("core", "billingGroup", "cmp_a")]
    )
    user = create_subuser(service)

    problems = [
        read_problem(map_roles(service, user.user_id, [], [build_filter(name)], caller.core), 403)
        for name in ("cmp_b", "BG-cmp_b", "cmp_unknown")
    ]

    assert {(problem["code"], problem["detail"]) for problem in problems} == {
        ("maps_more", "You cannot map roles outside your own filters.")
    }


def test_a_user_is_named_by_id_or_name(service: Service, subuser: SubuserAccount) -> None:
    add_role(service, "accounting")

    by_name = map_roles(service, subuser.username.upper(), role_refs("accounting"))

    assert by_name.status_code == 200, by_name.text
    assert list_mappings(service, subuser.username) == [("core", "accounting")]
    (newest, *_) = service.http.get("/m/core/audit", headers=service.root()).json()
    assert newest["resource"] == f"userroles/{subuser.user_id}", "the audit row names the id"
