"""DELETE /m/u/users/client/:user/:clientid"""

from __future__ import annotations

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    PRODUCTS,
    is_token_valid,
    issue_tokens,
    password_form,
    request_token,
)
from tests.identity.users.client_requests import (
    add_client,
    build_client_form,
    delete_client,
    list_clients,
    post_client,
)
from tests.identity.users.user_requests import SUBUSER, add_subuser, post_subuser
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


def test_a_client_is_deleted_and_its_user_found_by_id_or_name(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]
    kept = add_client(service, user_id)

    for user in (user_id, "hanako.s", "HANAKO.s"):
        deleted = add_client(service, user_id)
        response = delete_client(service, user, deleted["client_id"])

        assert response.status_code == 200
        assert response.json() == {"status": "success"}
        client_ids = [client["client_id"] for client in list_clients(service, user)]
        assert client_ids == [kept["client_id"]]
        assert read_problem(delete_client(service, user, deleted["client_id"]), 404)


@pytest.mark.parametrize("product", PRODUCTS)
def test_all_tokens_issued_through_the_client_are_revoked(
    service: Service, product: Product
) -> None:
    """Access and refresh tokens, also those of other users who logged in with the client."""
    add_subuser(service)
    client = add_client(service, "hanako.s")
    client_form = build_client_form(client)
    client_tokens = issue_tokens(service, client_form, product)
    root_form = password_form(service.organisation, "root") | {
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
    root_tokens = issue_tokens(service, root_form, product)
    access_tokens = [tokens["access_token"] for tokens in (client_tokens, root_tokens)]
    assert all(is_token_valid(service, token) for token in access_tokens)

    delete_client(service, "hanako.s", client["client_id"])

    assert not any(is_token_valid(service, token) for token in access_tokens)
    refresh_form = client_form | {"grant_type": "refresh_token"}
    for form in (
        client_form,
        refresh_form | {"refresh_token": client_tokens["refresh_token"]},
        refresh_form | {"refresh_token": root_tokens["refresh_token"]},
        root_form,
    ):
        response = request_token(service, form, product)
        assert (response.status_code, response.json()["error"]) == (401, "invalid_client")


def test_other_clients_of_the_user_stay_valid(service: Service) -> None:
    add_subuser(service)
    deleted, kept = add_client(service, "hanako.s"), add_client(service, "hanako.s")
    tokens = issue_tokens(service, build_client_form(kept))

    delete_client(service, "hanako.s", deleted["client_id"])

    assert is_token_valid(service, tokens["access_token"])
    user_form = password_form(service.organisation, "hanako.s", SUBUSER["password"])
    assert issue_tokens(service, user_form)


@pytest.mark.parametrize("product", PRODUCTS)
def test_own_clients_need_no_permission(service: Service, product: Product) -> None:
    subuser = create_subuser(service)
    client = add_client(service, subuser.user_id)

    response = delete_client(
        service, subuser.username, client["client_id"], subuser.headers(product)
    )

    assert response.status_code == 200


def test_a_client_can_delete_itself(service: Service) -> None:
    subuser = create_subuser(service)

    assert delete_client(service, subuser.user_id, subuser.client_id, subuser.core).is_success
    assert service.http.get(OWN_MAPPINGS, headers=subuser.core).status_code == 401


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles"]])
def test_without_permission_the_response_does_not_reveal_whether_a_client_exists(
    service: Service, actions: list[str]
) -> None:
    subuser, caller = create_subuser(service), create_subuser(service, core=actions)

    for user in (subuser.user_id, subuser.username, "root", "nobody", new_id("usr")):
        for client_id in (subuser.client_id, service.organisation.client_id, new_id("cl")):
            response = delete_client(service, user, client_id, caller.core)
            assert read_problem(response, 403)["code"] == "role_action_missing"
    assert service.http.get(OWN_MAPPINGS, headers=subuser.core).status_code == 200


def test_clients_of_others_need_permission(service: Service) -> None:
    subuser, caller = create_subuser(service), create_subuser(service, core=["ModifyApiClients"])

    assert delete_client(service, subuser.username, subuser.client_id, caller.core).is_success
    assert service.http.get(OWN_MAPPINGS, headers=subuser.core).status_code == 401


def test_a_client_of_another_user_is_not_found_under_the_own_name(service: Service) -> None:
    """The own name needs no permission, so it must not lead to the clients of others."""
    subuser, other = create_subuser(service), create_subuser(service)

    response = delete_client(service, subuser.username, other.client_id, subuser.core)

    assert read_problem(response, 404)["code"] == "not_found"
    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200


def test_unknown_and_foreign_clients_are_not_found(service: Service) -> None:
    add_subuser(service)
    client = add_client(service, "hanako.s")
    other = service.new_organisation()
    post_subuser(service, service.root(other), username="foreign")
    foreign = post_client(service, "foreign", service.root(other)).json()

    for user, client_id in (
        ("hanako.s", new_id("cl")),
        ("nobody", client["client_id"]),
        ("root", client["client_id"]),
        ("foreign", foreign["client_id"]),
        ("hanako.s", foreign["client_id"]),
        (other.root_user_id, other.client_id),
    ):
        assert read_problem(delete_client(service, user, client_id), 404)["code"] == "not_found"
    assert issue_tokens(service, build_client_form(client))
    assert issue_tokens(service, build_client_form(foreign))


def test_a_client_of_a_user_with_more_permissions_cannot_be_deleted(service: Service) -> None:
    caller = create_subuser(service, core=["ModifyApiClients"])
    admin = create_subuser(service, core=["Admin"])
    root = service.organisation

    for user, client_id in ((admin.username, admin.client_id), ("root", root.client_id)):
        response = delete_client(service, user, client_id, caller.core)
        assert read_problem(response, 403)["code"] == "holds_more"
    assert len(list_clients(service, admin.username)) == len(list_clients(service, "root")) == 1
