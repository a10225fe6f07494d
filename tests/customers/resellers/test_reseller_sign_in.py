"""GET and DELETE /m/core/reseller/{user_id}/sessions, DELETE …/second-factors"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    RESELLERS,
    post_reseller,
)
from tests.identity.login.console_sessions import sign_in, sign_in_for_token
from tests.identity.login.token_requests import bearer_headers, is_token_valid
from tests.identity.second_factors.authenticator import Authenticator
from tests.identity.second_factors.factor_requests import (
    begin,
    complete,
    enter_password,
    list_factors,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

LOGIN = {"username": EMAIL, "password": CUSTOM_PASSWORD}


@pytest.fixture
def user_id(service: Service, company: str) -> str:
    user_id: str = post_reseller(service, company).json()["user_id"]
    return user_id


def list_sessions(service: Service, user_id: str) -> list[dict[str, Any]]:
    response = service.http.get(f"{RESELLERS}/{user_id}/sessions", headers=service.root())
    assert response.status_code == 200, response.text
    sessions: list[dict[str, Any]] = response.json()
    return sessions


def add_passkey(service: Service, headers: dict[str, str]) -> None:
    begun = begin(service, headers, "passkey", CUSTOM_PASSWORD).json()
    passkey = Authenticator().create(begun["passkey"])
    assert complete(service, headers, begun, passkey=passkey).status_code == 200


def test_staff_sees_where_a_login_is_signed_in(service: Service, user_id: str) -> None:
    assert list_sessions(service, user_id) == []
    sign_in(service, Product.portal, headers={"User-Agent": "Firefox 140"}, fields=LOGIN)

    (session,) = list_sessions(service, user_id)

    assert (session["user_agent"], session["address"]) == ("Firefox 140", "testclient")
    assert session["create_time"] == session["last_use_time"]
    assert session["session_id"].startswith("ses_")


def test_an_ended_session_is_refused_at_once_and_others_continue(
    service: Service, user_id: str
) -> None:
    lost = sign_in_for_token(service, Product.portal, **LOGIN)
    (session,) = list_sessions(service, user_id)
    service.http.cookies.clear()
    other = sign_in_for_token(service, Product.portal, **LOGIN)
    path = f"{RESELLERS}/{user_id}/sessions/{session['session_id']}"

    ended = service.http.delete(path, headers=service.root())

    assert ended.status_code == 200
    assert not is_token_valid(service, lost)
    assert is_token_valid(service, other)
    again = service.http.delete(path, headers=service.root())
    assert read_problem(again, 404)["code"] == "not_found"


def test_a_removed_factor_is_not_needed_any_more(service: Service, user_id: str) -> None:
    headers = bearer_headers(sign_in_for_token(service, Product.portal, **LOGIN))
    add_passkey(service, headers)
    enter_password(service, Product.portal, **LOGIN)

    response = service.http.delete(f"{RESELLERS}/{user_id}/second-factors", headers=service.root())

    assert response.status_code == 200
    assert list_factors(service, headers, user_id) == []
    assert sign_in(service, Product.portal, fields=LOGIN).status_code == 200


def test_sessions_and_factors_of_staff_are_not_found_here(service: Service, user_id: str) -> None:
    root = service.organisation.root_user_id
    token = sign_in_for_token(service)
    sessions = service.http.get(f"/m/u/users/{root}/sessions", headers=service.root()).json()
    session_id = sessions[0]["session_id"]

    responses = [
        service.http.get(f"{RESELLERS}/{root}/sessions", headers=service.root()),
        service.http.delete(f"{RESELLERS}/{root}/sessions/{session_id}", headers=service.root()),
        service.http.delete(f"{RESELLERS}/{user_id}/sessions/{session_id}", headers=service.root()),
        service.http.delete(f"{RESELLERS}/{root}/second-factors", headers=service.root()),
    ]

    assert [response.status_code for response in responses] == [404] * 4
    assert is_token_valid(service, token)


def test_a_login_of_a_hidden_billing_group_is_not_found(service: Service, user_id: str) -> None:
    other = create_billing_group(
        service, service.root(), billinggroup_id="BG-2", billinggroup_name="b", company_name="c"
    )
    filters = [("core", "billingGroup", other)]
    clerk = create_subuser(service, core=[RoleAction.ModifyReseller], filters=filters)
    token = sign_in_for_token(service, Product.portal, **LOGIN)
    (session,) = list_sessions(service, user_id)
    path = f"{RESELLERS}/{user_id}"

    responses = [
        service.http.get(f"{path}/sessions", headers=clerk.core),
        service.http.delete(f"{path}/sessions/{session['session_id']}", headers=clerk.core),
        service.http.delete(f"{path}/second-factors", headers=clerk.core),
    ]

    assert [response.status_code for response in responses] == [404] * 3
    assert is_token_valid(service, token)
