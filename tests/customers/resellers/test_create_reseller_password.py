"""POST /m/core/reseller: custom and generated passwords, and the notification"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    RESELLERS,
    count_messages,
    list_resellers,
    log_in,
    post_reseller,
)
from tests.mail.outbox_messages import find_link, read_link, read_outbox
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


@pytest.mark.parametrize("password", ["12345678", "x" * 18, "パスワードは八文字", "  spaces  "])
def test_custom_uses_the_sent_password(service: Service, company: str, password: str) -> None:
    response = post_reseller(service, company, password=password)

    assert response.status_code == 200
    assert "password" not in response.json()
    assert log_in(service, EMAIL, password).status_code == 200
    assert log_in(service, EMAIL, password + "x").status_code == 400


def test_a_custom_password_that_is_too_short_is_refused(service: Service, company: str) -> None:
    response = post_reseller(service, company, password="1234567")

    assert read_violations(response) == [("password", "length 8 to 18")]
    assert list_resellers(service) == []


def test_without_notification_the_response_shows_the_generated_password(
    service: Service, company: str
) -> None:
    response = post_reseller(service, company, input_type="Auto", password=...)

    password = response.json()["password"]
    assert set(response.json()) == {"status", "user_id", "password"}
    assert len(password) == 18
    assert log_in(service, EMAIL, password).status_code == 200
    assert count_messages(service) == 0
    assert password not in service.http.get(RESELLERS, headers=service.root()).text


def test_with_notification_a_message_is_queued_and_the_response_shows_no_password(
    service: Service, company: str
) -> None:
    response = post_reseller(service, company, input_type="Auto", password=..., notification=True)

    assert set(response.json()) == {"status", "user_id"}
    assert count_messages(service) == 1


def test_the_invitation_leads_to_choosing_a_password(service: Service, company: str) -> None:
    post_reseller(service, company, input_type="Auto", password=..., notification=True)
    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)
    body = {**read_link(message), "password": "chosen by me 1"}

    with time_machine.travel(datetime.now(UTC) + timedelta(days=6), tick=False):
        response = service.http.post("/portal/password-reset/confirm", json=body)

    assert response.status_code == 200
    assert message["To"] == EMAIL
    assert find_link(message).startswith(f"{service.settings.link_url}/portal/choose-password#")
    assert log_in(service, EMAIL, "chosen by me 1").status_code == 200


def test_an_invitation_ends_after_seven_days(service: Service, company: str) -> None:
    post_reseller(service, company, notification=True)
    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)
    body = {**read_link(message), "password": "chosen by me 1"}

    with time_machine.travel(datetime.now(UTC) + timedelta(days=7, minutes=1), tick=False):
        response = service.http.post("/portal/password-reset/confirm", json=body)

    assert read_problem(response, 400)["code"] == "link_invalid"
    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 200


def test_auto_ignores_the_sent_password(service: Service, company: str) -> None:
    response = post_reseller(service, company, input_type="Auto", password=CUSTOM_PASSWORD)

    assert response.json()["password"] != CUSTOM_PASSWORD
    assert log_in(service, EMAIL, CUSTOM_PASSWORD).status_code == 400


def test_generated_passwords_differ(service: Service, company: str) -> None:
    passwords = {
        post_reseller(service, company, input_type="Auto", email=f"{n}@example.com").json()[
            "password"
        ]
        for n in range(5)
    }

    assert len(passwords) == 5


def test_a_custom_password_with_notification_queues_a_message(
    service: Service, company: str
) -> None:
    post_reseller(service, company)
    assert count_messages(service) == 0

    post_reseller(service, company, email="b@example.com", notification=True)
    assert count_messages(service) == 1


def test_a_refused_request_queues_no_message(service: Service, company: str) -> None:
    post_reseller(service, company)
    post_reseller(service, company, notification=True)
    post_reseller(service, "cmp_unknown", email="b@example.com", notification=True)

    assert count_messages(service) == 0


def test_a_repeated_request_with_the_same_key_shows_the_same_password(
    service: Service, company: str
) -> None:
    headers = {**service.root(), "Idempotency-Key": "once"}

    first, second = (post_reseller(service, company, headers, input_type="Auto") for _ in range(2))

    assert first.status_code == 200
    assert first.json() == second.json()
    assert len(list_resellers(service)) == 1
