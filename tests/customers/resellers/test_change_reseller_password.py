"""PUT /m/core/reseller/{user_id}/password"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import (
    CUSTOM,
    EMAIL,
    RESELLERS,
    create,
    letters,
    log_in,
    new_reseller,
    the_one,
)
from tests.identity.login.asking import client_fields, stands
from tests.running_service import Service

NEW = "another horse 1"
SOUND = {"input_type": "Custom", "notification": False, "password": NEW}


def change(
    service: Service, user_id: str, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    sent = {name: value for name, value in (SOUND | changes).items() if value is not ...}
    return service.http.put(
        f"{RESELLERS}/{user_id}/password", json=sent, headers=headers or service.root()
    )


@pytest.fixture
def user_id(service: Service, company: str) -> str:
    made: str = create(service, company).json()["user_id"]
    return made


def test_the_new_password_holds_and_the_old_one_does_not(service: Service, user_id: str) -> None:
    answer = change(service, user_id)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success", "user_id": user_id}
    assert log_in(service, EMAIL, NEW).status_code == 200
    assert log_in(service, EMAIL, CUSTOM).status_code == 400


@pytest.mark.parametrize("field", ["input_type", "notification"])
@pytest.mark.parametrize("how", [..., None])
def test_a_required_field_is_required(service: Service, user_id: str, field: str, how: Any) -> None:
    assert violations_of(change(service, user_id, **{field: how})) == [(field, "required")]
    assert log_in(service, EMAIL, CUSTOM).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("input_type", "custom", "one of Auto, Custom"),
        ("input_type", True, "one of Auto, Custom"),
        ("notification", "false", "true or false"),
        ("notification", 0, "true or false"),
        ("password", 12345678, "a text"),
        ("password", "1234567", "length 8 to 18"),
        ("password", "x" * 19, "length 8 to 18"),
        ("password", None, "length 8 to 18"),
        ("password", ..., "length 8 to 18"),
    ],
)
def test_a_value_against_its_rule_is_refused(
    service: Service, user_id: str, field: str, value: Any, rule: str
) -> None:
    assert violations_of(change(service, user_id, **{field: value})) == [(field, rule)]


@pytest.mark.parametrize("password", ["12345678", "x" * 18])
def test_both_edges_of_the_length_are_allowed(
    service: Service, user_id: str, password: str
) -> None:
    assert change(service, user_id, password=password).status_code == 200
    assert log_in(service, EMAIL, password).status_code == 200


def test_auto_without_notification_answers_the_password_once(
    service: Service, user_id: str
) -> None:
    answer = change(service, user_id, input_type="Auto", password=...)

    assert set(answer.json()) == {"status", "user_id", "password"}
    assert len(answer.json()["password"]) == 18
    assert log_in(service, EMAIL, answer.json()["password"]).status_code == 200
    assert letters(service) == 0


@pytest.mark.parametrize("input_type", ["Auto", "Custom"])
def test_with_notification_a_letter_is_written_and_no_password_answered(
    service: Service, user_id: str, input_type: str
) -> None:
    answer = change(service, user_id, input_type=input_type, notification=True)

    assert answer.json() == {"status": "success", "user_id": user_id}
    assert letters(service) == 1


def test_the_change_is_noted_in_the_record(service: Service, user_id: str) -> None:
    change(service, user_id)

    record = the_one(service)

    moment = datetime.fromisoformat(record["password_update_time"])
    assert moment.utcoffset() == timedelta(hours=9)
    assert abs(datetime.now(moment.tzinfo) - moment) < timedelta(minutes=1)
    assert record["update_time"] == record["password_update_time"]


def test_a_password_that_the_account_changed_itself_is_noted_too(
    service: Service, company: str
) -> None:
    reseller = new_reseller(service, company)
    body = {"password": NEW, "old_password": CUSTOM}

    answer = service.http.put(
        f"/m/u/users/{reseller.user_id}/password", json=body, headers=reseller.portal
    )

    assert answer.status_code == 200, answer.text
    record = the_one(service)
    assert record["password_update_time"] is not None
    assert record["update_time"] == record["password_update_time"]


def test_a_refused_change_is_not_noted(service: Service, user_id: str) -> None:
    change(service, user_id, password="short")

    assert the_one(service)["password_update_time"] is None
    assert the_one(service)["update_time"] is None


# ── what ends ────────────────────────────────────────────────────────────────────────────────────


def test_every_token_and_session_of_the_account_ends_at_once(
    service: Service, company: str
) -> None:
    reseller = new_reseller(service, company, meta={"open_api": True})
    granted = log_in(service, EMAIL).json()
    client = service.http.post(
        f"/m/u/users/client/{reseller.user_id}", json={"name": "own"}, headers=reseller.portal
    ).json()
    fields = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    form = {"grant_type": "client_credentials", **fields}
    by_client = service.http.post("/access_token", data=form).json()
    signed_in = service.http.post(
        "/portal/session",
        json={
            "organisation": service.organisation.organisation_id,
            "username": EMAIL,
            "password": CUSTOM,
        },
    )
    tokens = [told["access_token"] for told in (granted, by_client, signed_in.json())]
    assert all(stands(service, token) for token in tokens)

    assert change(service, reseller.user_id).status_code == 200

    assert not any(stands(service, token) for token in tokens)
    assert service.http.post("/portal/session/refresh").status_code == 401
    for told, who in ((granted, client_fields(service.organisation)), (by_client, fields)):
        again = {"grant_type": "refresh_token", "refresh_token": told["refresh_token"], **who}
        assert service.http.post("/access_token", data=again).status_code == 400


def test_others_stay_logged_in(service: Service, company: str) -> None:
    other = new_reseller(service, company, email="other@example.com")
    user_id = create(service, company).json()["user_id"]

    change(service, user_id)

    assert stands(service, other.portal["Authorization"].removeprefix("Bearer "))


def test_subusers_of_the_account_stay_logged_in(service: Service, company: str) -> None:
    reseller = new_reseller(service, company, meta={"users_management": True})
    subuser = {"username": "sub.user", "password": CUSTOM, "notification": {"email": "false"}}
    made = service.http.post("/m/u/users", json=subuser, headers=reseller.portal)
    assert made.status_code == 200, made.text
    token = log_in(service, "sub.user").json()["access_token"]

    change(service, reseller.user_id)

    assert stands(service, token)


# ── whose ────────────────────────────────────────────────────────────────────────────────────────


def test_an_account_that_is_not_there_is_404(service: Service, user_id: str) -> None:
    other = service.new_organisation()
    theirs = create_group(service, service.root(other), billinggroup_id="1")
    foreign = create(service, theirs, service.root(other), email="f@example.com").json()["user_id"]
    subuser = service.http.post(
        "/m/u/users",
        json={"username": "subuser", "password": CUSTOM, "notification": {"email": "false"}},
        headers=service.root(),
    ).json()["user_id"]

    for name in ("usr_never_was", EMAIL, foreign, subuser, service.organisation.root_user_id):
        assert problem_of(change(service, name), 404)["code"] == "not_found", name
    assert log_in(service, "root", "correct horse 7").status_code == 200


def test_an_account_of_a_hidden_group_is_404(service: Service, user_id: str) -> None:
    visible = create_group(service, service.root(), billinggroup_id="visible")
    narrowed = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    assert problem_of(change(service, user_id, narrowed), 404)
    assert log_in(service, EMAIL, CUSTOM).status_code == 200


def test_reading_is_not_enough(service: Service, user_id: str) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    assert problem_of(change(service, user_id, reader), 403)["code"] == "role_action_missing"


def test_the_audit_row_keeps_no_password(service: Service, user_id: str) -> None:
    change(service, user_id)

    rows = service.http.get("/m/core/audit", headers=service.root())

    assert NEW not in rows.text
    assert f"reseller/{user_id}/password" in rows.text
