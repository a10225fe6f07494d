"""POST /m/u/users/client/:user"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    PRODUCTS,
    bearer_headers,
    decode_claims,
    issue_tokens,
    request_token,
)
from tests.identity.users.client_requests import (
    add_client,
    build_client_form,
    list_clients,
    post_client,
)
from tests.identity.users.permission_pairs import MORE_PERMISSIONS, NO_MORE_PERMISSIONS
from tests.identity.users.user_requests import TIMESTAMP, USERS, add_subuser, post_subuser
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser


def test_the_response_shows_the_client_with_its_secret(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]

    client = add_client(service, "hanako.s")

    assert client == {
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "grant_type": "client_credentials",
        "create_time": client["create_time"],
        "user_id": user_id,
        "username": "hanako.s",
        "name": "nightly export",
    }
    assert TIMESTAMP.fullmatch(client["create_time"])
    assert len(client["client_secret"]) > 43
    assert issue_tokens(service, build_client_form(client))


def test_the_create_time_is_measured_in_nanoseconds(service: Service) -> None:
    times = [add_client(service, "root")["create_time"] for _ in range(6)]

    assert times == sorted(set(times))
    assert any(not time.endswith("000Z") for time in times)
    assert [client["create_time"] for client in list_clients(service, "root")][1:] == times


def test_every_client_has_its_own_id_and_secret(service: Service) -> None:
    clients = [add_client(service, "root", name="same name") for _ in range(5)]

    assert len({client["client_id"] for client in clients}) == 5
    assert len({client["client_secret"] for client in clients}) == 5


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_client_acts_as_its_user(service: Service, product: Product) -> None:
    subuser = create_subuser(service, core=["ReadUsers"], portal=["ReadUsers"])
    client = add_client(service, subuser.user_id)

    token = issue_tokens(service, build_client_form(client), product)["access_token"]

    headers = bearer_headers(token)
    assert decode_claims(token)["sub"] == subuser.user_id
    assert service.http.get(USERS, headers=headers).status_code == 200
    assert post_subuser(service, headers).status_code == 403
    mappings = service.http.get(OWN_MAPPINGS, headers=headers).json()
    assert {mapping["sub_user"] for mapping in mappings} == {subuser.user_id}


def test_the_user_is_found_by_id_or_by_name_in_any_case(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]

    for user in (user_id, "hanako.s", "HANAKO.S"):
        client = add_client(service, user)
        assert (client["user_id"], client["username"]) == (user_id, "hanako.s")


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_root_user_may_have_clients(service: Service, product: Product) -> None:
    root_id = service.organisation.root_user_id
    for user in ("root", root_id):
        client = add_client(service, user, service.root(product=product))

        assert (client["user_id"], client["username"]) == (root_id, "root")
        assert issue_tokens(service, build_client_form(client))


@pytest.mark.parametrize("product", PRODUCTS)
def test_own_clients_need_no_permission(service: Service, product: Product) -> None:
    subuser = create_subuser(service)

    for user in (subuser.user_id, subuser.username, subuser.username.upper()):
        assert add_client(service, user, subuser.headers(product))["user_id"] == subuser.user_id


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles", "ReadRoles"]])
def test_without_permission_the_response_does_not_reveal_whether_a_user_exists(
    service: Service, actions: list[str]
) -> None:
    add_subuser(service)
    caller = create_subuser(service, core=actions, portal=actions)
    others = ("hanako.s", "root", service.organisation.root_user_id, "nobody", new_id("usr"))

    responses = [post_client(service, user, caller.core) for user in others]

    problems = [read_problem(response, 403) for response in responses]
    assert {(problem["code"], problem["detail"]) for problem in problems} == {
        ("role_action_missing", "This path needs one of these permissions: ModifyApiClients.")
    }
    assert len(list_clients(service, "root")) == 1


def use_client_permission(roles: dict[str, Any]) -> dict[str, Any]:
    """Replace ModifyUsers by ModifyApiClients, the permission of this route."""
    return {
        name: ["ModifyApiClients" if value == "ModifyUsers" else value for value in values]
        for name, values in roles.items()
    }


def test_a_user_with_more_permissions_gets_no_client(service: Service) -> None:
    for case, pair in MORE_PERMISSIONS.items():
        caller, user = (create_subuser(service, **use_client_permission(each)) for each in pair)

        for name in (user.user_id, user.username):
            response = post_client(service, name, caller.core)
            assert read_problem(response, 403)["code"] == "holds_more", case
        assert len(list_clients(service, user.user_id)) == 1


def test_a_user_with_no_more_permissions_gets_a_client(service: Service) -> None:
    for case, pair in NO_MORE_PERMISSIONS.items():
        caller, user = (create_subuser(service, **use_client_permission(each)) for each in pair)

        client = add_client(service, user.username, caller.core)
        assert client["user_id"] == user.user_id, case


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_admin_cannot_create_a_client_of_the_root_user(
    service: Service, product: Product
) -> None:
    admin = create_subuser(service, core=["Admin"], portal=["Admin"])

    for user in ("root", "ROOT", service.organisation.root_user_id):
        response = post_client(service, user, admin.headers(product))
        assert read_problem(response, 403)["code"] == "holds_more"


def test_unknown_and_foreign_users_are_not_found(service: Service) -> None:
    other = service.new_organisation()
    foreign = post_subuser(service, service.root(other), username="foreign").json()["user_id"]

    for user in ("nobody", new_id("usr"), "foreign", foreign, other.root_user_id, "%20", "usr_"):
        assert read_problem(post_client(service, user), 404)["code"] == "not_found", user


def test_names_are_stored_unchanged(service: Service) -> None:
    names = ["x", "n" * 100, "夜間エクスポート", "😀" * 100, " "]

    for name in names:
        assert add_client(service, "root", name=name)["name"] == name

    assert [client["name"] for client in list_clients(service, "root")][1:] == names


def test_an_invalid_name_is_refused(service: Service) -> None:
    response = post_client(service, "root", name="")

    assert read_violations(response) == [("name", "length 1 to 100")]
    assert len(list_clients(service, "root")) == 1


def test_the_secret_of_another_client_is_refused(service: Service) -> None:
    first, second = add_client(service, "root"), add_client(service, "root")
    form = build_client_form(first) | {"client_secret": second["client_secret"]}

    assert request_token(service, form).json()["error"] == "invalid_client"
