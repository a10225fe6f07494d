"""GET /m/u/users/clients/:user"""

from __future__ import annotations

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.identity.login.asking import BOTH
from tests.identity.users.clients import create_client, created_client, listed_clients
from tests.identity.users.subusers import MOMENT, USERS, create, created
from tests.people import new_person
from tests.running_service import Service


def test_a_client_has_just_these_fields_and_its_secret_no_more(service: Service) -> None:
    user_id = created(service)["user_id"]
    made = created_client(service, "hanako.s")

    assert listed_clients(service, "hanako.s") == [
        {
            "client_id": made["client_id"],
            "client_secret": "",
            "grant_type": "client_credentials",
            "create_time": made["create_time"],
            "user_id": user_id,
            "name": "nightly export",
        }
    ]


def test_they_stand_in_the_order_of_their_making(service: Service) -> None:
    made = [created_client(service, "root", name=name)["name"] for name in ("zz", "mm", "aa")]

    assert [one["name"] for one in listed_clients(service, "root")] == ["first client", *made]


def test_a_subuser_without_clients_has_none(service: Service) -> None:
    created(service)

    assert listed_clients(service, "hanako.s") == []


@pytest.mark.parametrize("spelled", ["id", "name", "name in other letters"])
def test_the_user_is_named_by_id_or_by_name(service: Service, spelled: str) -> None:
    user_id = created(service)["user_id"]
    made = created_client(service, user_id)
    user = {"id": user_id, "name": "hanako.s", "name in other letters": "Hanako.S"}[spelled]

    assert [one["client_id"] for one in listed_clients(service, user)] == [made["client_id"]]


def test_the_root_users_first_client_is_there_from_the_start(service: Service) -> None:
    for user in ("root", service.organisation.root_user_id):
        (first,) = listed_clients(service, user)

        assert first["client_id"] == service.organisation.client_id
        assert first["client_secret"] == ""
        assert MOMENT.fullmatch(first["create_time"])


def test_clients_of_others_are_not_mixed_in(service: Service) -> None:
    created(service)
    created(service, username="another")
    mine = created_client(service, "hanako.s")
    created_client(service, "another")

    assert [one["client_id"] for one in listed_clients(service, "hanako.s")] == [mine["client_id"]]


@pytest.mark.parametrize("product", BOTH)
def test_ones_own_always(service: Service, product: Product) -> None:
    person = new_person(service)

    for user in (person.user_id, person.username):
        (client,) = listed_clients(service, user, person.headers(product))
        assert client["client_id"] == person.client_id


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles"]])
def test_others_not_without_the_action_whether_they_exist_or_not(
    service: Service, actions: list[str]
) -> None:
    created(service)
    caller = new_person(service, core=actions)

    for user in ("hanako.s", "root", service.organisation.root_user_id, "nobody", new_id("usr")):
        answer = service.http.get(f"{USERS}/clients/{user}", headers=caller.core)
        assert problem_of(answer, 403)["code"] == "role_action_missing"


def test_others_with_the_action(service: Service) -> None:
    person = new_person(service)
    caller = new_person(service, core=["ModifyApiClients"])

    (client,) = listed_clients(service, person.username, caller.core)

    assert client["client_id"] == person.client_id


def test_an_unknown_user_is_not_found(service: Service) -> None:
    other = service.new_organisation()
    create(service, service.root(other), username="theirs")
    create_client(service, "theirs", service.root(other))

    for user in ("nobody", new_id("usr"), "theirs", other.root_user_id):
        answer = service.http.get(f"{USERS}/clients/{user}", headers=service.root())
        assert problem_of(answer, 404)["code"] == "not_found"
