"""DELETE /m/u/users/client/:user/:clientid"""

from __future__ import annotations

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.identity.login.asking import BOTH, OWN_MAPPINGS, as_user, ask, issued
from tests.identity.users.clients import (
    create_client,
    created_client,
    credentials_of,
    delete_client,
    listed_clients,
)
from tests.identity.users.subusers import SUBUSER, create, created
from tests.people import new_person
from tests.running_service import Service


@pytest.mark.parametrize("spelled", ["id", "name", "name in other letters"])
def test_a_deleted_client_is_gone(service: Service, spelled: str) -> None:
    user_id = created(service)["user_id"]
    first, second = created_client(service, user_id), created_client(service, user_id)
    user = {"id": user_id, "name": "hanako.s", "name in other letters": "HANAKO.s"}[spelled]

    answer = delete_client(service, user, first["client_id"])

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    left = [one["client_id"] for one in listed_clients(service, user)]
    assert left == [second["client_id"]]
    assert problem_of(delete_client(service, user, first["client_id"]), 404)


@pytest.mark.parametrize("product", BOTH)
def test_its_tokens_end_at_once(service: Service, product: Product) -> None:
    """Access and refresh; also those of others who logged in by it."""
    created(service)
    client = created_client(service, "hanako.s")
    own = issued(service, credentials_of(client), product)
    carried = as_user(service.organisation, "root") | {
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
    others = issued(service, carried, product)
    headers = [{"Authorization": f"Bearer {one['access_token']}"} for one in (own, others)]
    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in headers} == {200}

    delete_client(service, "hanako.s", client["client_id"])

    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in headers} == {401}
    again = credentials_of(client)
    for form in (
        again,
        again | {"grant_type": "refresh_token", "refresh_token": own["refresh_token"]},
        again | {"grant_type": "refresh_token", "refresh_token": others["refresh_token"]},
        carried,
    ):
        answer = ask(service, form, product)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")


def test_other_clients_of_the_user_go_on(service: Service) -> None:
    created(service)
    gone, kept = created_client(service, "hanako.s"), created_client(service, "hanako.s")
    token = issued(service, credentials_of(kept))
    by_password = as_user(service.organisation, "hanako.s", SUBUSER["password"])

    delete_client(service, "hanako.s", gone["client_id"])

    headers = {"Authorization": f"Bearer {token['access_token']}"}
    assert service.http.get(OWN_MAPPINGS, headers=headers).status_code == 200
    assert issued(service, by_password)


@pytest.mark.parametrize("product", BOTH)
def test_ones_own_always(service: Service, product: Product) -> None:
    person = new_person(service)
    client = created_client(service, person.user_id)

    answer = delete_client(service, person.username, client["client_id"], person.headers(product))

    assert answer.status_code == 200


def test_even_the_one_that_is_asking(service: Service) -> None:
    person = new_person(service)

    assert delete_client(service, person.user_id, person.client_id, person.core).is_success
    assert service.http.get(OWN_MAPPINGS, headers=person.core).status_code == 401


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles"]])
def test_others_not_without_the_action_whether_they_exist_or_not(
    service: Service, actions: list[str]
) -> None:
    person, caller = new_person(service), new_person(service, core=actions)

    for user in (person.user_id, person.username, "root", "nobody", new_id("usr")):
        for client_id in (person.client_id, service.organisation.client_id, new_id("cl")):
            answer = delete_client(service, user, client_id, caller.core)
            assert problem_of(answer, 403)["code"] == "role_action_missing"
    assert service.http.get(OWN_MAPPINGS, headers=person.core).status_code == 200


def test_others_with_the_action(service: Service) -> None:
    person, caller = new_person(service), new_person(service, core=["ModifyApiClients"])

    assert delete_client(service, person.username, person.client_id, caller.core).is_success
    assert service.http.get(OWN_MAPPINGS, headers=person.core).status_code == 401


def test_a_client_of_somebody_else_is_not_found_under_ones_own_name(service: Service) -> None:
    """Otherwise one's own name would open everybody's clients."""
    person, other = new_person(service), new_person(service)

    answer = delete_client(service, person.username, other.client_id, person.core)

    assert problem_of(answer, 404)["code"] == "not_found"
    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200


def test_what_is_not_there_is_not_found(service: Service) -> None:
    created(service)
    client = created_client(service, "hanako.s")
    other = service.new_organisation()
    create(service, service.root(other), username="theirs")
    theirs = create_client(service, "theirs", service.root(other)).json()

    for user, client_id in (
        ("hanako.s", new_id("cl")),
        ("nobody", client["client_id"]),
        ("root", client["client_id"]),
        ("theirs", theirs["client_id"]),
        ("hanako.s", theirs["client_id"]),
        (other.root_user_id, other.client_id),
    ):
        assert problem_of(delete_client(service, user, client_id), 404)["code"] == "not_found"
    assert issued(service, credentials_of(client))
    assert issued(service, credentials_of(theirs))
