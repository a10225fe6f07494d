"""GET /m/u/users/clients/:user"""

from __future__ import annotations

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.users.client_requests import add_client, list_clients, post_client
from tests.identity.users.user_requests import TIMESTAMP, USERS, add_subuser, post_subuser
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


def test_a_record_has_every_specified_field_but_no_secret(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]
    client = add_client(service, "hanako.s")

    assert list_clients(service, "hanako.s") == [
        {
            "client_id": client["client_id"],
            "client_secret": "",
            "grant_type": "client_credentials",
            "create_time": client["create_time"],
            "user_id": user_id,
            "name": "nightly export",
        }
    ]


def test_clients_are_listed_oldest_first(service: Service) -> None:
    names = [add_client(service, "root", name=name)["name"] for name in ("zz", "mm", "aa")]

    assert [client["name"] for client in list_clients(service, "root")] == ["first client", *names]


def test_the_list_of_a_new_subuser_is_empty(service: Service) -> None:
    add_subuser(service)

    assert list_clients(service, "hanako.s") == []


def test_the_user_is_found_by_id_or_by_name_in_any_case(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]
    client_id = add_client(service, user_id)["client_id"]

    for user in (user_id, "hanako.s", "Hanako.S"):
        assert [client["client_id"] for client in list_clients(service, user)] == [client_id]


def test_a_new_organisation_has_one_client_of_the_root_user(service: Service) -> None:
    for user in ("root", service.organisation.root_user_id):
        (first,) = list_clients(service, user)

        assert first["client_id"] == service.organisation.client_id
        assert first["client_secret"] == ""
        assert TIMESTAMP.fullmatch(first["create_time"])


def test_clients_of_other_users_are_not_listed(service: Service) -> None:
    add_subuser(service)
    add_subuser(service, username="another")
    client_id = add_client(service, "hanako.s")["client_id"]
    add_client(service, "another")

    assert [client["client_id"] for client in list_clients(service, "hanako.s")] == [client_id]


@pytest.mark.parametrize("product", PRODUCTS)
def test_own_clients_need_no_permission(service: Service, product: Product) -> None:
    subuser = create_subuser(service)

    for user in (subuser.user_id, subuser.username):
        (client,) = list_clients(service, user, subuser.headers(product))
        assert client["client_id"] == subuser.client_id


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles"]])
def test_without_permission_the_response_does_not_reveal_whether_a_user_exists(
    service: Service, actions: list[str]
) -> None:
    add_subuser(service)
    caller = create_subuser(service, core=actions)

    for user in ("hanako.s", "root", service.organisation.root_user_id, "nobody", new_id("usr")):
        response = service.http.get(f"{USERS}/clients/{user}", headers=caller.core)
        assert read_problem(response, 403)["code"] == "role_action_missing"


def test_clients_of_others_need_permission(service: Service) -> None:
    subuser = create_subuser(service)
    caller = create_subuser(service, core=["ModifyApiClients"])

    (client,) = list_clients(service, subuser.username, caller.core)

    assert client["client_id"] == subuser.client_id


def test_unknown_and_foreign_users_are_not_found(service: Service) -> None:
    other = service.new_organisation()
    post_subuser(service, service.root(other), username="foreign")
    post_client(service, "foreign", service.root(other))

    for user in ("nobody", new_id("usr"), "foreign", other.root_user_id):
        response = service.http.get(f"{USERS}/clients/{user}", headers=service.root())
        assert read_problem(response, 404)["code"] == "not_found"


def test_clients_of_a_user_with_more_permissions_are_not_listed(service: Service) -> None:
    caller = create_subuser(service, core=["ModifyApiClients"])
    admin = create_subuser(service, core=["Admin"])

    for user in (admin.user_id, admin.username, "root"):
        response = service.http.get(f"{USERS}/clients/{user}", headers=caller.core)
        assert read_problem(response, 403)["code"] == "holds_more"
