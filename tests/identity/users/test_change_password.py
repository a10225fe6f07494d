"""PUT /m/u/users/{user_id}/password"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    PRODUCTS,
    bearer_headers,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.identity.users.client_requests import add_client, build_client_form
from tests.identity.users.permission_pairs import MORE_PERMISSIONS, NO_MORE_PERMISSIONS
from tests.identity.users.user_requests import SUBUSER, USERS, add_subuser, post_subuser
from tests.problem_responses import read_problem, read_violations
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser

OLD_PASSWORD, NEW_PASSWORD = SUBUSER["password"], "a better one, 9"
WRONG_OLD_PASSWORD = [("old_password", "the current password")]


def change(
    service: Service, user_id: str, headers: dict[str, str] | None = None, **fields: Any
) -> httpx.Response:
    body = {"password": NEW_PASSWORD, **fields}
    return service.http.put(
        f"{USERS}/{user_id}/password", json=body, headers=headers or service.root()
    )


def log_in(service: Service, username: str, password: str) -> dict[str, str]:
    """Return headers with a new access token."""
    tokens = issue_tokens(service, password_form(service.organisation, username, password))
    return bearer_headers(tokens["access_token"])


def can_log_in(service: Service, username: str, password: str) -> bool:
    form = password_form(service.organisation, username, password)
    return request_token(service, form).is_success


@pytest.fixture
def user_id(service: Service) -> str:
    """A subuser without roles."""
    return str(add_subuser(service)["user_id"])


@pytest.fixture
def own_token(service: Service, user_id: str) -> dict[str, str]:
    """Headers with a token of that subuser."""
    return log_in(service, "hanako.s", OLD_PASSWORD)


# ── the own password ─────────────────────────────────────────────────────────────────────────────


def test_users_change_their_password_with_the_old_one(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    response = change(service, user_id, own_token, old_password=OLD_PASSWORD)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert can_log_in(service, "hanako.s", NEW_PASSWORD)
    assert not can_log_in(service, "hanako.s", OLD_PASSWORD)


def test_without_the_correct_old_password_nothing_changes(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    similar = [OLD_PASSWORD + " ", OLD_PASSWORD[:-1], OLD_PASSWORD.upper()]
    wrong = ["", NEW_PASSWORD, *similar, "x" * 10_000, "😀"]
    bodies = [{}, {"old_password": None}, *({"old_password": each} for each in wrong)]

    for body in bodies:
        response = change(service, user_id, own_token, **body)
        assert read_violations(response) == WRONG_OLD_PASSWORD, body
    assert can_log_in(service, "hanako.s", OLD_PASSWORD)
    assert service.http.get(OWN_MAPPINGS, headers=own_token).status_code == 200


def test_a_stolen_token_cannot_be_used_to_guess_the_old_password(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    """After ten wrong passwords in fifteen minutes even the correct one is refused."""
    other = add_subuser(service, username="another")["user_id"]
    other_token = log_in(service, "another", OLD_PASSWORD)

    guesses = [change(service, user_id, own_token, old_password=f"guess {n}") for n in range(12)]
    correct = change(service, user_id, own_token, old_password=OLD_PASSWORD)

    assert [guess.status_code for guess in guesses] == [400] * 10 + [429] * 2
    assert read_problem(correct, 429)["code"] == "login_throttled"
    assert 0 < int(correct.headers["Retry-After"]) <= 901
    assert can_log_in(service, "hanako.s", OLD_PASSWORD)
    assert change(service, other, other_token, old_password=OLD_PASSWORD).status_code == 200
    assert change(service, user_id).status_code == 200


def test_the_correct_old_password_resets_the_count_of_wrong_ones(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    for _ in range(9):
        assert change(service, user_id, own_token, old_password="wrong").status_code == 400
    assert change(service, user_id, own_token, old_password=OLD_PASSWORD).status_code == 200
    new_token = log_in(service, "hanako.s", NEW_PASSWORD)

    responses = [change(service, user_id, new_token, old_password="wrong") for _ in range(10)]

    assert {response.status_code for response in responses} == {400}


def test_the_root_user_needs_its_old_password_too(service: Service) -> None:
    root_id = service.organisation.root_user_id

    assert read_violations(change(service, root_id)) == WRONG_OLD_PASSWORD
    assert change(service, root_id, old_password=PASSWORD).status_code == 200
    assert can_log_in(service, "root", NEW_PASSWORD)
    assert not can_log_in(service, "root", PASSWORD)


def test_an_invalid_new_password_changes_nothing(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    response = change(
        service, user_id, own_token, password="e\u0301" * 10, old_password=OLD_PASSWORD
    )

    assert read_violations(response) == [("password", "length 8 to 18")]
    assert can_log_in(service, "hanako.s", OLD_PASSWORD)


def test_the_shortest_and_longest_passwords_can_be_used(service: Service, user_id: str) -> None:
    for password in ("12345678", "a" * 18, "😀" * 18, "e\u0301" * 4):
        assert change(service, user_id, password=password).status_code == 200
        assert can_log_in(service, "hanako.s", password)


# ── passwords of other users ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("product", PRODUCTS)
def test_with_permission_to_modify_users_the_old_password_is_not_needed(
    service: Service, user_id: str, product: Product
) -> None:
    caller = create_subuser(service, core=["ModifyUsers"], portal=["ModifyUsers"])

    assert change(service, user_id, caller.headers(product)).status_code == 200
    assert can_log_in(service, "hanako.s", NEW_PASSWORD)


def test_a_password_set_by_an_administrator_ends_the_wait_after_wrong_ones(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    """Wrong logins and wrong old passwords are forgotten, of this user only."""
    add_subuser(service, username="another")
    for name in ("hanako.s", "another"):
        for _ in range(10):
            assert not can_log_in(service, name, "guessed 5d")
        assert not can_log_in(service, name, OLD_PASSWORD)
    for _ in range(10):
        change(service, user_id, own_token, old_password="guessed 5d")

    assert change(service, user_id).status_code == 200

    new_token = log_in(service, "hanako.s", NEW_PASSWORD)
    again = change(service, user_id, new_token, password="third one 7", old_password=NEW_PASSWORD)
    assert again.status_code == 200
    assert not can_log_in(service, "another", OLD_PASSWORD)


def test_an_own_new_password_does_not_end_the_wait(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    """Otherwise a guesser would get ten more attempts whenever the user acts."""
    for _ in range(10):
        assert not can_log_in(service, "hanako.s", "guessed 5d")

    assert change(service, user_id, own_token, old_password=OLD_PASSWORD).status_code == 200

    assert not can_log_in(service, "hanako.s", NEW_PASSWORD)


@pytest.mark.parametrize("actions", [[], ["ReadUsers", "ModifyRoles", "ModifyApiClients"]])
def test_without_permission_the_old_password_of_another_user_does_not_help(
    service: Service, user_id: str, actions: list[str]
) -> None:
    caller = create_subuser(service, core=actions)

    for other in (user_id, service.organisation.root_user_id, new_id("usr"), "hanako.s"):
        response = change(service, other, caller.core, old_password=OLD_PASSWORD)
        assert read_problem(response, 403)["code"] == "role_action_missing"
    assert can_log_in(service, "hanako.s", OLD_PASSWORD)


def test_the_password_of_a_user_with_more_permissions_cannot_be_changed(service: Service) -> None:
    for case, (caller_roles, user_roles) in MORE_PERMISSIONS.items():
        caller = create_subuser(service, **caller_roles)
        user = create_subuser(service, **user_roles)

        response = change(service, user.user_id, caller.core)

        assert read_problem(response, 403)["code"] == "holds_more", case
        assert service.http.get(OWN_MAPPINGS, headers=user.core).status_code == 200
        assert not can_log_in(service, user.username, NEW_PASSWORD)


def test_the_password_of_a_user_with_no_more_permissions_can_be_changed(service: Service) -> None:
    for case, (caller_roles, user_roles) in NO_MORE_PERMISSIONS.items():
        caller = create_subuser(service, **caller_roles)
        user = create_subuser(service, **user_roles)

        assert change(service, user.user_id, caller.core).status_code == 200, case
        assert can_log_in(service, user.username, NEW_PASSWORD)


def test_an_admin_cannot_change_the_password_of_the_root_user(service: Service) -> None:
    admin = create_subuser(service, core=["Admin"], portal=["Admin"])
    root_id = service.organisation.root_user_id

    for fields in ({}, {"old_password": PASSWORD}):
        response = change(service, root_id, admin.core, **fields)
        assert read_problem(response, 403)["code"] == "holds_more"
    assert can_log_in(service, "root", PASSWORD)


def test_users_are_found_by_their_id_only(
    service: Service, user_id: str, own_token: dict[str, str]
) -> None:
    other = service.new_organisation()
    foreign = post_subuser(service, service.root(other)).json()["user_id"]

    for user in ("hanako.s", new_id("usr"), foreign, other.root_user_id):
        assert read_problem(change(service, user), 404)["code"] == "not_found"
    assert read_problem(change(service, "hanako.s", own_token, old_password=OLD_PASSWORD), 404)
    assert can_log_in(service, "hanako.s", OLD_PASSWORD)


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("changed_by", ["user", "root"])
def test_every_token_of_the_user_is_revoked(
    service: Service, user_id: str, own_token: dict[str, str], changed_by: str
) -> None:
    client = build_client_form(add_client(service, user_id))
    forms = (password_form(service.organisation, "hanako.s", OLD_PASSWORD), client)
    tokens = {
        (position, product): issue_tokens(service, form, product)
        for position, form in enumerate(forms)
        for product in PRODUCTS
    }
    headers = [own_token, *(bearer_headers(each["access_token"]) for each in tokens.values())]

    def read_statuses() -> set[int]:
        return {service.http.get(OWN_MAPPINGS, headers=each).status_code for each in headers}

    assert read_statuses() == {200}

    if changed_by == "user":
        response = change(service, user_id, own_token, old_password=OLD_PASSWORD)
    else:
        response = change(service, user_id)

    assert response.status_code == 200
    assert read_statuses() == {401}
    for (position, product), token in tokens.items():
        form = refresh_form(service.organisation, token["refresh_token"])
        if position == 1:
            form |= {name: client[name] for name in ("client_id", "client_secret")}
        assert request_token(service, form, product).json()["error"] == "invalid_grant"
    new_token = bearer_headers(issue_tokens(service, client)["access_token"])
    assert service.http.get(OWN_MAPPINGS, headers=new_token).status_code == 200


def test_tokens_of_other_users_stay_valid(service: Service, user_id: str) -> None:
    other = create_subuser(service)

    change(service, user_id)

    assert service.http.get(OWN_MAPPINGS, headers=other.core).status_code == 200
    assert service.http.get(OWN_MAPPINGS, headers=service.root()).status_code == 200
