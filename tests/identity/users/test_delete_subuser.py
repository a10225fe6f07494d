"""DELETE /m/u/users/{user_id}"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.contract.behind_the_walls import Superuser, behind_the_walls
from tests.identity.login.asking import OWN_MAPPINGS, as_user, ask, issued, refreshing
from tests.identity.users.subusers import SUBUSER, USERS, create, created, listed
from tests.identity.users.who_holds_more import GROUP_A, HOLDS_MORE, HOLDS_NO_MORE
from tests.people import new_person
from tests.running_service import Service


@pytest.fixture
def behind(service: Service, superuser: Address) -> Iterator[Superuser]:
    with behind_the_walls(service, superuser) as found:
        yield found


def delete(service: Service, user_id: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return service.http.delete(f"{USERS}/{user_id}", headers=headers or service.root())


def test_a_deleted_subuser_is_gone_from_the_list(service: Service) -> None:
    record, other = created(service), created(service, username="another")

    answer = delete(service, record["user_id"])

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert listed(service) == [other]
    assert problem_of(delete(service, record["user_id"]), 404)["code"] == "not_found"


def test_every_token_of_the_user_dies_with_it(service: Service) -> None:
    record = created(service)
    client = service.http.post(
        f"{USERS}/client/hanako.s", json={"name": "own"}, headers=service.root()
    ).json()
    by_password = as_user(service.organisation, "hanako.s", SUBUSER["password"])
    by_client = {
        "grant_type": "client_credentials",
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
    tokens = [
        issued(service, form, product)
        for form in (by_password, by_client)
        for product in (Product.core, Product.portal)
    ]
    headers = [{"Authorization": f"Bearer {one['access_token']}"} for one in tokens]
    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in headers} == {200}

    delete(service, record["user_id"])

    assert {service.http.get(OWN_MAPPINGS, headers=one).status_code for one in headers} == {401}
    for form in (by_password, refreshing(service.organisation, tokens[0]["refresh_token"])):
        assert ask(service, form).json()["error"] == "invalid_grant"
    assert ask(service, by_client).json()["error"] == "invalid_client"
    last = {**by_client, "grant_type": "refresh_token", "refresh_token": tokens[2]["refresh_token"]}
    assert ask(service, last).json()["error"] == "invalid_client"


def test_nothing_is_left_of_it_but_the_audit_log(service: Service, behind: Superuser) -> None:
    person = new_person(service, core=["ModifyRoles"], portal=["ReadTags"], filters=[GROUP_A])
    issued(service, as_user(service.organisation, "root"))
    keyed = {**person.core, "Idempotency-Key": "once"}
    service.http.post(f"{USERS}/client/{person.user_id}", json={"name": "more"}, headers=keyed)
    organisation_id = service.organisation.organisation_id
    before = behind.rows(organisation_id)
    holding = {table for table, rows in before.items() if person.user_id in repr(rows)}
    assert holding >= {
        *("users", "api_clients", "role_mappings", "role_filters", "idempotency_keys"),
    }

    delete(service, person.user_id)

    after = behind.rows(organisation_id)
    left = {table for table, rows in after.items() if person.user_id in repr(rows)}
    assert left == {"audit_log"}
    clients = {row["client_id"] for row in before["api_clients"]}
    assert len(clients) == 3  # root's, and two that went
    assert {row["key"] for row in after["directory"]} & clients == {service.organisation.client_id}
    assert {row["name"] for row in after["roles"]} == {row["name"] for row in before["roles"]}


def test_the_audit_log_keeps_the_name(service: Service) -> None:
    record = created(service)
    token = issued(service, as_user(service.organisation, "hanako.s", SUBUSER["password"]))
    headers = {"Authorization": f"Bearer {token['access_token']}"}
    service.http.post(f"{USERS}/client/hanako.s", json={"name": "own"}, headers=headers)

    delete(service, record["user_id"])

    root = service.root()
    own = service.http.get("/m/core/audit", params={"actor": record["user_id"]}, headers=root)
    assert [entry["actor_name"] for entry in own.json()] == ["hanako.s"]
    resource = {"resource": f"user/{record['user_id']}"}
    about = service.http.get("/m/core/audit", params=resource, headers=root).json()
    assert [entry["action"] for entry in about] == ["delete_subuser", "create_subuser"]
    assert about[1]["sent"]["username"] == "hanako.s"


def test_its_name_and_email_are_free_again(service: Service) -> None:
    record = created(service, email="hanako@example.com")

    delete(service, record["user_id"])

    again = created(service, email="hanako@example.com")
    assert again["user_id"] != record["user_id"]


def test_the_root_user_cannot_be_deleted(service: Service) -> None:
    root_id = service.organisation.root_user_id
    admin = new_person(service, core=["Admin"], portal=["Admin"])

    assert problem_of(delete(service, root_id), 409)["code"] == "root_user"
    assert problem_of(delete(service, root_id, admin.core), 403)["code"] == "holds_more"
    assert service.http.get(USERS, headers=service.root()).status_code == 200


@pytest.mark.parametrize("more", HOLDS_MORE)
def test_who_may_do_more_is_not_deleted_by_who_may_less(service: Service, more: str) -> None:
    mine, theirs = HOLDS_MORE[more]
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    answer = delete(service, other.user_id, caller.core)

    assert problem_of(answer, 403)["code"] == "holds_more"
    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200


@pytest.mark.parametrize("no_more", HOLDS_NO_MORE)
def test_who_may_do_no_more_is_deleted(service: Service, no_more: str) -> None:
    mine, theirs = HOLDS_NO_MORE[no_more]
    caller, other = new_person(service, **mine), new_person(service, **theirs)

    assert delete(service, other.user_id, caller.core).status_code == 200
    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 401


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "the-last-one"}])
def test_one_may_delete_oneself(service: Service, key: dict[str, str]) -> None:
    person = new_person(service, core=["ModifyUsers"])

    answer = delete(service, person.user_id, person.core | key)

    assert answer.status_code == 200
    assert service.http.get(OWN_MAPPINGS, headers=person.core).status_code == 401
    assert listed(service) == []


def test_it_is_named_by_its_id_alone(service: Service) -> None:
    record = created(service)
    other = service.new_organisation()
    theirs = create(service, service.root(other)).json()

    for user_id in ("hanako.s", new_id("usr"), theirs["user_id"], "client", "usr_", "%20"):
        assert problem_of(delete(service, user_id), 404)["code"] == "not_found", user_id

    assert listed(service) == [record]
    assert listed(service, service.root(other)) == [theirs]
