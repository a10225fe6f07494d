"""GET and PUT /m/u/users/{user_id}/email, and the invitation to an address"""

from __future__ import annotations

from typing import Any

import httpx

from tests.identity.login.token_requests import bearer_headers, issue_tokens, password_form
from tests.identity.users.user_requests import SUBUSER, USERS, add_subuser, list_subusers
from tests.mail.outbox_messages import find_link, read_link, read_outbox
from tests.problem_responses import read_problem, read_violations
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser

EMAIL = "new@example.com"


def change(
    service: Service, user_id: str, headers: dict[str, str] | None = None, **fields: Any
) -> httpx.Response:
    body = {"email": EMAIL, **fields}
    path = f"{USERS}/{user_id}/email"
    return service.http.put(path, json=body, headers=headers or service.root())


def test_an_administrator_changes_the_address_of_another_user(service: Service) -> None:
    user_id = add_subuser(service, email="old@example.com")["user_id"]

    response = change(service, user_id)

    assert response.json() == {"status": "success"}
    assert [user["email"] for user in list_subusers(service)] == [EMAIL]


def test_the_address_is_shown(service: Service) -> None:
    user_id = add_subuser(service, email="old@example.com")["user_id"]
    root_id = service.organisation.root_user_id

    addresses = [
        service.http.get(f"{USERS}/{each}/email", headers=service.root()).json()
        for each in (user_id, root_id)
    ]

    assert addresses == [{"email": "old@example.com"}, {"email": None}]


def test_the_own_address_needs_the_current_password(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]
    form = password_form(service.organisation, "hanako.s", SUBUSER["password"])
    own = bearer_headers(issue_tokens(service, form)["access_token"])

    for fields in ({}, {"old_password": "wrong 123"}):
        response = change(service, user_id, own, **fields)
        assert read_violations(response) == [("old_password", "the current password")]
    assert [user["email"] for user in list_subusers(service)] == [None]

    assert change(service, user_id, own, old_password=SUBUSER["password"]).status_code == 200
    assert [user["email"] for user in list_subusers(service)] == [EMAIL]


def test_the_root_user_sets_an_address_and_then_gets_a_link(service: Service) -> None:
    organisation = service.organisation

    response = change(service, organisation.root_user_id, old_password=PASSWORD)

    assert response.status_code == 200
    body = {"organisation": organisation.organisation_id, "username": "root"}
    assert service.http.post("/core/password-reset", json=body).status_code == 202
    (message,) = read_outbox(service.settings.data, organisation.organisation_id)
    assert message["To"] == EMAIL


def test_an_address_of_another_user_is_refused_in_any_case(service: Service) -> None:
    add_subuser(service, email=EMAIL.upper())
    other = add_subuser(service, username="taro.y")["user_id"]

    response = change(service, other)

    assert read_problem(response, 409)["code"] == "email_taken"


def test_the_same_address_can_be_set_again(service: Service) -> None:
    user_id = add_subuser(service, email=EMAIL)["user_id"]

    assert change(service, user_id, email=EMAIL.upper()).status_code == 200


def test_a_text_that_is_no_address_is_refused(service: Service) -> None:
    user_id = add_subuser(service)["user_id"]

    assert read_violations(change(service, user_id, email="nobody")) == [
        ("email", "an e-mail address")
    ]


def test_a_user_with_more_permissions_is_refused(service: Service) -> None:
    manager = create_subuser(service, core=["ModifyUsers"])

    response = change(service, service.organisation.root_user_id, manager.core)

    assert read_problem(response, 403)["code"] == "holds_more"


def test_a_user_of_another_organisation_is_not_found(service: Service) -> None:
    other = service.new_organisation()

    assert change(service, other.root_user_id).status_code == 404


def test_a_subuser_with_notification_is_invited_to_choose_a_password(service: Service) -> None:
    add_subuser(service, email=EMAIL, notification={"email": "true"})
    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)

    body = {**read_link(message), "password": "chosen by me 1"}
    response = service.http.post("/core/password-reset/confirm", json=body)

    assert response.status_code == 200
    assert message["To"] == EMAIL
    assert find_link(message).startswith(f"{service.settings.link_url}/console/choose-password#")
    assert SUBUSER["password"] not in message.get_content()
    form = password_form(service.organisation, "hanako.s", "chosen by me 1")
    assert issue_tokens(service, form)
