"""Rights in version 3 count wherever the rights of two users are compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.identity.users.client_requests import post_client
from tests.identity.users.user_requests import USERS, post_subuser
from tests.legacy.roles.role_requests import (
    attach_role,
    build_document,
    build_statement,
    create_role,
    list_roles_of,
)
from tests.problem_responses import HttpResponse, read_problem
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

__all__ = ["use_quick_hashes"]  # an autouse fixture

MANAGER = ["ModifyUsers", "ModifyApiClients"]
READ_STACKS = build_document(build_statement(action=["stack:describe*"]))
READ_ONE_STACK = build_document(
    build_statement(action=["stack:describe*"], resource=["mrn:alm:stack:stk_1"])
)


def create_user(service: Service, core: list[str], *scopes: str) -> SubuserAccount:
    """Create a user with these core permissions and a role of version 3 for each scope."""
    user = create_subuser(service, core=core)
    for scope in scopes:
        role_id = create_role(service, scope)
        assert attach_role(service, user.username, role_id).status_code == 200
    return user


def set_password(service: Service, caller: SubuserAccount, user: SubuserAccount) -> HttpResponse:
    body = {"password": "another one 9"}
    path = f"{USERS}/{user.user_id}/password"
    return service.http.put(path, json=body, headers=caller.core)


def issue_client(service: Service, caller: SubuserAccount, user: SubuserAccount) -> HttpResponse:
    return post_client(service, user.username, caller.core)


def delete_user(service: Service, caller: SubuserAccount, user: SubuserAccount) -> HttpResponse:
    return service.http.delete(f"{USERS}/{user.user_id}", headers=caller.core)


Change = Callable[[Service, SubuserAccount, SubuserAccount], HttpResponse]
each_change = pytest.mark.parametrize("change", [set_password, issue_client, delete_user])


@each_change
@pytest.mark.parametrize("scopes", [[], [READ_STACKS]], ids=["default scope", "wider scope"])
def test_a_user_with_more_rights_in_version_3_cannot_be_taken_over(
    service: Service, change: Change, scopes: list[str]
) -> None:
    caller = create_user(service, MANAGER, READ_ONE_STACK)
    user = create_user(service, [], *scopes)

    response = change(service, caller, user)

    assert read_problem(response, 403)["code"] == "holds_more"


@each_change
@pytest.mark.parametrize("scopes", [[], [READ_STACKS]], ids=["default scope", "wider scope"])
def test_a_user_with_no_more_rights_in_version_3_can_be_managed(
    service: Service, change: Change, scopes: list[str]
) -> None:
    caller = create_user(service, MANAGER, *scopes)
    user = create_user(service, [], READ_ONE_STACK)

    assert change(service, caller, user).status_code == 200


def test_a_new_user_starts_with_the_legacy_roles_of_its_creator(service: Service) -> None:
    creator = create_user(service, MANAGER, READ_STACKS, READ_ONE_STACK)

    username = post_subuser(service, creator.core).json()["username"]

    of_creator, of_user = (
        {role["role_id"] for role in list_roles_of(service, name)}
        for name in (creator.username, username)
    )
    assert len(of_creator) == 2
    assert of_user == of_creator


def test_a_new_user_of_the_root_user_or_of_a_user_without_roles_has_no_role(
    service: Service,
) -> None:
    creator = create_user(service, MANAGER)

    for number, headers in enumerate((service.root(), creator.core)):
        username = f"new.user{number}"
        assert post_subuser(service, headers, username=username).status_code == 200
        assert list_roles_of(service, username) == []
