"""GET /m/u/users/{user_id}/sessions and DELETE /m/u/users/{user_id}/sessions/{session_id}"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from nimbill.foundation.product import Product
from tests.identity.login.console_sessions import refresh_session, sign_in, sign_in_for_token
from tests.identity.login.token_requests import (
    bearer_headers,
    client_form,
    create_user,
    is_token_valid,
    issue_tokens,
)
from tests.problem_responses import read_problem
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser


def list_sessions(
    service: Service, headers: dict[str, str], user_id: str | None = None
) -> list[dict[str, Any]]:
    user_id = user_id or service.organisation.root_user_id
    response = service.http.get(f"/m/u/users/{user_id}/sessions", headers=headers)
    assert response.status_code == 200, response.text
    sessions: list[dict[str, Any]] = response.json()
    return sessions


def test_sessions_are_listed_with_browser_and_address_the_last_used_first(
    service: Service,
) -> None:
    first = sign_in(service, headers={"User-Agent": "Firefox\x7f 140"})
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5), tick=False):
        sign_in(service, Product.portal, headers={"User-Agent": "x" * 1000})
        headers = bearer_headers(first.json()["access_token"])

        portal, core = list_sessions(service, headers)

    assert (core["product"], core["user_agent"], core["current"]) == ("core", "Firefox 140", True)
    assert (portal["product"], portal["current"]) == ("portal", False)
    assert portal["user_agent"] == "x" * 300
    assert core["address"] == portal["address"] == "testclient"
    assert core["create_time"] == core["last_use_time"] < portal["create_time"]


def test_a_refresh_is_a_use_and_keeps_the_session(service: Service) -> None:
    token = sign_in_for_token(service)
    (before,) = list_sessions(service, bearer_headers(token))
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5), tick=False):
        assert refresh_session(service).status_code == 200

        (after,) = list_sessions(service, bearer_headers(token))

    assert after["session_id"] == before["session_id"]
    assert after["create_time"] == before["create_time"]
    assert after["last_use_time"] > before["last_use_time"]


def test_tokens_of_clients_and_ended_sessions_are_not_listed(service: Service) -> None:
    issue_tokens(service, client_form(service.organisation))
    sign_in_for_token(service)
    assert len(list_sessions(service, service.root())) == 1

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=13), tick=False):
        assert list_sessions(service, service.root()) == []


def test_a_changed_password_removes_the_sessions_from_the_list(service: Service) -> None:
    user = create_user(service)
    sign_in_for_token(service, username=user.username)
    assert len(list_sessions(service, service.root(), user.user_id)) == 1
    body = {"password": "yet another 7"}
    path = f"/m/u/users/{user.user_id}/password"
    assert service.http.put(path, json=body, headers=service.root()).status_code == 200

    assert list_sessions(service, service.root(), user.user_id) == []


@pytest.mark.parametrize("by", ["own user", "administrator"])
def test_an_ended_session_is_refused_at_once_and_others_continue(service: Service, by: str) -> None:
    user = create_user(service)
    lost = sign_in_for_token(service, username=user.username)
    cookie = service.http.cookies["nimbill_core_session"]
    service.http.cookies.clear()
    own = sign_in_for_token(service, username=user.username)
    headers = bearer_headers(own) if by == "own user" else service.root()
    (other,) = [
        each
        for each in list_sessions(service, bearer_headers(own), user.user_id)
        if not each["current"]
    ]

    path = f"/m/u/users/{user.user_id}/sessions/{other['session_id']}"
    response = service.http.delete(path, headers=headers)

    assert response.status_code == 200
    assert not is_token_valid(service, lost)
    assert is_token_valid(service, own)
    lost_cookie = {"Cookie": f"nimbill_core_session={cookie}"}
    service.http.cookies.clear()
    assert refresh_session(service, headers=lost_cookie).status_code == 401
    assert read_problem(service.http.delete(path, headers=headers), 404)["code"] == "not_found"


def test_a_session_is_found_only_under_its_own_user(service: Service) -> None:
    user = create_user(service)
    token = sign_in_for_token(service, username=user.username)
    (session,) = list_sessions(service, service.root(), user.user_id)
    path = f"/m/u/users/{service.organisation.root_user_id}/sessions/{session['session_id']}"

    assert service.http.delete(path, headers=service.root()).status_code == 404

    assert is_token_valid(service, token)


def test_a_user_with_more_permissions_is_refused(service: Service) -> None:
    manager = create_subuser(service, core=["ModifyUsers"])
    token = sign_in_for_token(service, password=PASSWORD)
    (session,) = list_sessions(service, service.root())
    path = f"/m/u/users/{service.organisation.root_user_id}/sessions"

    listed = service.http.get(path, headers=manager.core)
    ended = service.http.delete(f"{path}/{session['session_id']}", headers=manager.core)

    for response in (listed, ended):
        assert read_problem(response, 403)["code"] == "holds_more"
    assert is_token_valid(service, token)
