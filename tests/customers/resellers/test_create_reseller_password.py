"""POST /m/core/reseller: whose password it is, and who is told"""

from __future__ import annotations

from typing import Any

import pytest

from tests.answers import violations_of
from tests.customers.resellers.accounts import (
    CUSTOM,
    EMAIL,
    RESELLERS,
    create,
    letters,
    listed,
    log_in,
)
from tests.running_service import Service

PASSWORD_RULE = [("password", "length 8 to 18")]


@pytest.mark.parametrize("password", ["12345678", "x" * 18, "パスワードは八文字", "  spaces  "])
def test_custom_uses_the_password_sent(service: Service, company: str, password: str) -> None:
    answer = create(service, company, password=password)

    assert answer.status_code == 200
    assert "password" not in answer.json()
    assert log_in(service, EMAIL, password).status_code == 200
    assert log_in(service, EMAIL, password + "x").status_code == 400


@pytest.mark.parametrize("password", ["", "1234567", "x" * 19, "七文字ですよね", ..., None])
def test_custom_asks_for_8_to_18_characters(service: Service, company: str, password: Any) -> None:
    answer = create(service, company, password=password)

    assert violations_of(answer) == PASSWORD_RULE
    assert listed(service) == []


def test_auto_without_notification_answers_the_password_once(
    service: Service, company: str
) -> None:
    answer = create(service, company, input_type="Auto", password=...)

    password = answer.json()["password"]
    assert set(answer.json()) == {"status", "user_id", "password"}
    assert len(password) == 18
    assert log_in(service, EMAIL, password).status_code == 200
    assert letters(service) == 0
    assert password not in service.http.get(RESELLERS, headers=service.root()).text


def test_auto_with_notification_writes_a_letter_and_answers_no_password(
    service: Service, company: str
) -> None:
    answer = create(service, company, input_type="Auto", password=..., notification=True)

    assert set(answer.json()) == {"status", "user_id"}
    assert letters(service) == 1


def test_auto_never_uses_what_was_sent_along(service: Service, company: str) -> None:
    sent = create(service, company, input_type="Auto", password=CUSTOM)
    short = create(service, company, input_type="Auto", password="x", email="b@example.com")

    assert sent.json()["password"] != CUSTOM
    assert log_in(service, EMAIL, CUSTOM).status_code == 400
    assert short.status_code == 200


def test_no_two_generated_passwords_are_alike(service: Service, company: str) -> None:
    made = {
        create(service, company, input_type="Auto", email=f"{n}@example.com").json()["password"]
        for n in range(5)
    }

    assert len(made) == 5


def test_custom_with_notification_writes_a_letter_too(service: Service, company: str) -> None:
    create(service, company, notification=True)

    assert letters(service) == 1


def test_custom_without_notification_writes_none(service: Service, company: str) -> None:
    create(service, company)

    assert letters(service) == 0


def test_a_refused_creation_writes_no_letter(service: Service, company: str) -> None:
    create(service, company)
    create(service, company, notification=True)
    create(service, "cmp_never_was", email="b@example.com", notification=True)

    assert letters(service) == 0


def test_a_repeat_with_the_same_key_answers_the_same_password(
    service: Service, company: str
) -> None:
    headers = {**service.root(), "Idempotency-Key": "once"}

    first, again = (create(service, company, headers, input_type="Auto") for _ in range(2))

    assert first.status_code == 200
    assert first.json() == again.json()
    assert len(listed(service)) == 1
