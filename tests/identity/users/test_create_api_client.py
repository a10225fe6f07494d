"""POST /m/u/users/client/:user"""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import BOTH, OWN_MAPPINGS, ask, issued
from tests.identity.users.clients import (
    create_client,
    created_client,
    credentials_of,
    listed_clients,
)
from tests.identity.users.subusers import MOMENT, USERS, create, created
from tests.identity.users.who_holds_more import HOLDS_MORE, HOLDS_NO_MORE
from tests.people import new_person
from tests.running_service import Service


def test_the_answer_is_the_client_with_its_secret(service: Service) -> None:
    user_id = created(service)["user_id"]

    client = created_client(service, "hanako.s")

    assert client == {
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "grant_type": "client_credentials",
        "create_time": client["create_time"],
        "user_id": user_id,
        "username": "hanako.s",
        "name": "nightly export",
    }
    assert MOMENT.fullmatch(client["create_time"])
    assert len(client["client_secret"]) > 43
    assert issued(service, credentials_of(client))


def test_its_time_is_told_to_the_nanosecond(service: Service) -> None:
    """Nine digits that are measured, not six and three zeros."""
    times = [created_client(service, "root")["create_time"] for _ in range(6)]

    assert times == sorted(set(times))
    assert any(not time.endswith("000Z") for time in times)
    assert [one["create_time"] for one in listed_clients(service, "root")][1:] == times


def test_no_two_clients_share_id_or_secret(service: Service) -> None:
    clients = [created_client(service, "root", name="same name") for _ in range(5)]

    assert len({one["client_id"] for one in clients}) == 5
    assert len({one["client_secret"] for one in clients}) == 5


@pytest.mark.parametrize("product", BOTH)
def test_a_client_acts_as_its_user(service: Service, product: Product) -> None:
    person = new_person(service, core=["ReadUsers"], portal=["ReadUsers"])

    token = issued(service, credentials_of(created_client(service, person.user_id)), product)

    headers = {"Authorization": f"Bearer {token['access_token']}"}
    claims = jwt.decode(token["access_token"], options={"verify_signature": False})
    assert claims["sub"] == person.user_id
    assert service.http.get(USERS, headers=headers).status_code == 200
    assert create(service, headers).status_code == 403
    assert {one["sub_user"] for one in service.http.get(OWN_MAPPINGS, headers=headers).json()} == {
        person.user_id
    }


@pytest.mark.parametrize("spelled", ["id", "name", "name in other letters"])
def test_the_user_is_named_by_id_or_by_name(service: Service, spelled: str) -> None:
    user_id = created(service)["user_id"]
    user = {"id": user_id, "name": "hanako.s", "name in other letters": "HANAKO.S"}[spelled]

    client = created_client(service, user)

    assert (client["user_id"], client["username"]) == (user_id, "hanako.s")


@pytest.mark.parametrize("product", BOTH)
def test_the_root_user_is_a_user_too(service: Service, product: Product) -> None:
    root_id = service.organisation.root_user_id
    for user in ("root", root_id):
        client = created_client(service, user, service.root(product=product))

        assert (client["user_id"], client["username"]) == (root_id, "root")
        assert issued(service, credentials_of(client))


@pytest.mark.parametrize("product", BOTH)
def test_of_oneself_always(service: Service, product: Product) -> None:
    person = new_person(service)

    for user in (person.user_id, person.username, person.username.upper()):
        assert created_client(service, user, person.headers(product))["user_id"] == person.user_id


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyUsers", "ModifyRoles", "ReadRoles"]])
def test_of_others_not_without_the_action_whether_they_exist_or_not(
    service: Service, actions: list[str]
) -> None:
    created(service)
    caller = new_person(service, core=actions, portal=actions)
    others = ("hanako.s", "root", service.organisation.root_user_id, "nobody", new_id("usr"))

    answers = [create_client(service, user, caller.core) for user in others]

    told = [problem_of(answer, 403) for answer in answers]
    assert {(one["code"], one["detail"]) for one in told} == {
        ("role_action_missing", "needs one of: ModifyApiClients")
    }
    assert len(listed_clients(service, "root")) == 1


@pytest.mark.parametrize("more", HOLDS_MORE)
def test_nobody_makes_one_for_somebody_who_may_do_more(service: Service, more: str) -> None:
    mine, theirs = (with_clients(one) for one in HOLDS_MORE[more])
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    for user in (other.user_id, other.username):
        answer = create_client(service, user, caller.core)

        assert problem_of(answer, 403)["code"] == "holds_more"
    assert len(listed_clients(service, other.user_id)) == 1


@pytest.mark.parametrize("no_more", HOLDS_NO_MORE)
def test_one_makes_one_for_somebody_who_may_do_no_more(service: Service, no_more: str) -> None:
    mine, theirs = (with_clients(one) for one in HOLDS_NO_MORE[no_more])
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    assert created_client(service, other.username, caller.core)["user_id"] == other.user_id


def with_clients(holds: dict[str, Any]) -> dict[str, Any]:
    """The same people with ModifyApiClients in the place of ModifyUsers."""
    return {
        key: [one if one != "ModifyUsers" else "ModifyApiClients" for one in value]
        for key, value in holds.items()
    }


@pytest.mark.parametrize("product", BOTH)
def test_not_even_an_admin_makes_one_for_the_root_user(service: Service, product: Product) -> None:
    admin = new_person(service, core=["Admin"], portal=["Admin"])

    for user in ("root", "ROOT", service.organisation.root_user_id):
        answer = create_client(service, user, admin.headers(product))
        assert problem_of(answer, 403)["code"] == "holds_more"


def test_an_unknown_user_is_not_found(service: Service) -> None:
    other = service.new_organisation()
    theirs = create(service, service.root(other), username="theirs").json()["user_id"]

    for user in ("nobody", new_id("usr"), "theirs", theirs, other.root_user_id, "%20", "usr_"):
        assert problem_of(create_client(service, user), 404)["code"] == "not_found", user


@pytest.mark.parametrize("name", ["x", "n" * 100, "夜間エクスポート", "😀" * 100, " "])
def test_a_name_has_1_to_100_characters(service: Service, name: str) -> None:
    client = created_client(service, "root", name=name)

    assert client["name"] == name
    assert listed_clients(service, "root")[-1]["name"] == name


def test_any_other_name_is_refused(service: Service) -> None:
    for name in ("", "n" * 101, "😀" * 101):
        answer = create_client(service, "root", name=name)
        assert violations_of(answer) == [("name", "length 1 to 100")]
    for no_text in (1, True, ["a"], {"a": "b"}):
        answer = create_client(service, "root", name=no_text)
        assert violations_of(answer) == [("name", "length 1 to 100")]
    assert violations_of(create_client(service, "root", name=None)) == [("name", "required")]
    assert len(listed_clients(service, "root")) == 1


def test_a_secret_of_another_client_does_not_open_it(service: Service) -> None:
    first, second = created_client(service, "root"), created_client(service, "root")
    crossed = credentials_of(first) | {"client_secret": second["client_secret"]}

    assert ask(service, crossed).json()["error"] == "invalid_client"
