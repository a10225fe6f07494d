"""PUT /m/core/reseller/{user_id}/password"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    RESELLERS,
    count_messages,
    create_reseller,
    get_only_reseller,
    log_in,
    post_reseller,
)
from tests.identity.login.token_requests import credential_fields, is_token_valid
from tests.identity.users.user_requests import add_subuser
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

NEW_PASSWORD = "another horse 1"
VALID_BODY = {"input_type": "Custom", "notification": False, "password": NEW_PASSWORD}


def change(
    service: Service, user_id: str, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    body = {name: value for name, value in (VALID_BODY | changes).items() if value is not ...}
    return service.http.put(
        f"{RESELLERS}/{user_id}/password", json=body, headers=headers or service.root()
    )


@pytest.fixture
def user_id(service: Service, company: str) -> str:
    user_id: str = post_reseller(service, company).json()["user_id"]
    return user_id


def test_only_the_new_password_is_valid(service: Service, user_id: str) -> None:
    response = change(service, user_id)

    assert response.status_code == 200
    assert response.json() == {"status": "success", "user_id": user_id}
    assert log_in(service, EMAIL, NEW_PASSWORD).status_code == 200
    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 400


def test_a_new_password_ends_the_wait_after_wrong_ones(service: Service, user_id: str) -> None:
    for _ in range(10):
        assert log_in(service, EMAIL, "guessed 5d").status_code == 400
    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 429

    assert change(service, user_id).status_code == 200

    assert log_in(service, EMAIL, NEW_PASSWORD).status_code == 200


def test_a_refused_request_changes_nothing(service: Service, user_id: str) -> None:
    response = change(service, user_id, input_type=None)
    assert read_violations(response) == [("input_type", "required")]

    response = change(service, user_id, password="1234567", notification="false")
    assert read_violations(response) == [
        ("notification", "true or false"),
        ("password", "length 8 to 18"),
    ]

    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 200
    assert get_only_reseller(service)["password_update_time"] is None
    assert get_only_reseller(service)["update_time"] is None


@pytest.mark.parametrize("password", ["12345678", "x" * 18])
def test_the_shortest_and_the_longest_password_can_be_used(
    service: Service, user_id: str, password: str
) -> None:
    assert change(service, user_id, password=password).status_code == 200
    assert log_in(service, EMAIL, password).status_code == 200


def test_without_notification_the_response_shows_the_generated_password(
    service: Service, user_id: str
) -> None:
    response = change(service, user_id, input_type="Auto", password=...)

    assert set(response.json()) == {"status", "user_id", "password"}
    assert len(response.json()["password"]) == 18
    assert log_in(service, EMAIL, response.json()["password"]).status_code == 200
    assert count_messages(service) == 0


@pytest.mark.parametrize("input_type", ["Auto", "Custom"])
def test_with_notification_a_message_is_queued_and_the_response_shows_no_password(
    service: Service, user_id: str, input_type: str
) -> None:
    response = change(service, user_id, input_type=input_type, notification=True)

    assert response.json() == {"status": "success", "user_id": user_id}
    assert count_messages(service) == 1


def test_the_change_sets_both_update_times(service: Service, user_id: str) -> None:
    change(service, user_id)

    record = get_only_reseller(service)

    update_time = datetime.fromisoformat(record["password_update_time"])
    assert update_time.utcoffset() == timedelta(hours=9)
    assert abs(datetime.now(update_time.tzinfo) - update_time) < timedelta(minutes=1)
    assert record["update_time"] == record["password_update_time"]


def test_a_change_by_the_account_itself_sets_both_update_times(
    service: Service, company: str
) -> None:
    reseller = create_reseller(service, company)
    body = {"password": NEW_PASSWORD, "old_password": CUSTOM_PASSWORD}

    response = service.http.put(
        f"/m/u/users/{reseller.user_id}/password", json=body, headers=reseller.portal
    )

    assert response.status_code == 200, response.text
    record = get_only_reseller(service)
    assert record["password_update_time"] is not None
    assert record["update_time"] == record["password_update_time"]


# ── tokens and sessions ──────────────────────────────────────────────────────────────────────────


def test_every_token_and_session_of_the_account_is_revoked(service: Service, company: str) -> None:
    reseller = create_reseller(service, company, meta={"open_api": True})
    user_tokens = log_in(service, EMAIL).json()
    client = service.http.post(
        f"/m/u/users/client/{reseller.user_id}", json={"name": "own"}, headers=reseller.portal
    ).json()
    client_fields = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    client_tokens = service.http.post(
        "/access_token", data={"grant_type": "client_credentials", **client_fields}
    ).json()
    session = service.http.post(
        "/portal/session",
        json={
            "organisation": service.organisation.organisation_id,
            "username": EMAIL,
            "password": CUSTOM_PASSWORD,
        },
    ).json()
    access_tokens = [each["access_token"] for each in (user_tokens, client_tokens, session)]
    assert all(is_token_valid(service, token) for token in access_tokens)

    assert change(service, reseller.user_id).status_code == 200

    assert not any(is_token_valid(service, token) for token in access_tokens)
    assert service.http.post("/portal/session/refresh").status_code == 401
    for tokens, credentials in (
        (user_tokens, credential_fields(service.organisation)),
        (client_tokens, client_fields),
    ):
        refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        response = service.http.post("/access_token", data=refresh | credentials)
        assert response.status_code == 400


def test_other_accounts_stay_logged_in(service: Service, company: str) -> None:
    other = create_reseller(service, company, email="other@example.com")
    user_id = post_reseller(service, company).json()["user_id"]

    change(service, user_id)

    assert is_token_valid(service, other.portal["Authorization"].removeprefix("Bearer "))


def test_subusers_of_the_account_stay_logged_in(service: Service, company: str) -> None:
    reseller = create_reseller(service, company, meta={"users_management": True})
    subuser = {
        "username": "sub.user",
        "password": CUSTOM_PASSWORD,
        "notification": {"email": "false"},
    }
    created = service.http.post("/m/u/users", json=subuser, headers=reseller.portal)
    assert created.status_code == 200, created.text
    token = log_in(service, "sub.user").json()["access_token"]

    change(service, reseller.user_id)

    assert is_token_valid(service, token)


# ── visibility and audit ─────────────────────────────────────────────────────────────────────────


def test_users_that_are_no_reseller_accounts_are_not_found(service: Service, user_id: str) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign_group = create_billing_group(service, foreign_root, billinggroup_id="1")
    foreign = post_reseller(service, foreign_group, foreign_root, email="f@example.com").json()
    subuser = add_subuser(service)["user_id"]
    root = service.organisation.root_user_id

    for name in ("usr_unknown", EMAIL, foreign["user_id"], subuser, root):
        assert read_problem(change(service, name), 404)["code"] == "not_found", name
    assert log_in(service, "root", "correct horse 7").status_code == 200


def test_an_account_of_a_hidden_group_is_not_found(service: Service, user_id: str) -> None:
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    assert read_problem(change(service, user_id, restricted), 404)
    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 200


def test_the_audit_row_does_not_contain_the_password(service: Service, user_id: str) -> None:
    change(service, user_id)

    rows = service.http.get("/m/core/audit", headers=service.root())

    assert NEW_PASSWORD not in rows.text
    assert f"reseller/{user_id}/password" in rows.text
