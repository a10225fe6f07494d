"""POST /m/core/reseller with a body: its passwords, letters, flags, and who may send it."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.resellers.meta_flags import FLAGS
from nimbill.storage import transaction
from tests.answers import problem_of, violations_of
from tests.people import new_person
from tests.resellers.accounts import (
    CUSTOM,
    EMAIL,
    RESELLERS,
    body,
    create,
    listed,
    log_in,
    the_one,
)
from tests.running_service import Service

PASSWORD_RULE = [("password", "length 8 to 18")]


def letters(service: Service) -> int:
    """How many were queued, sent or not."""
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            found = await db.execute(
                sa.text("SELECT count(*) FROM work WHERE kind = 'send_letter'")
            )
            number: int = found.scalar_one()
            return number

    return service.run(count)


# ── password ─────────────────────────────────────────────────────────────────────────────────────


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


# ── flags ────────────────────────────────────────────────────────────────────────────────────────


def test_flags_that_are_not_sent_get_their_default(service: Service, company: str) -> None:
    create(service, company, meta={})

    assert the_one(service)["meta"] == dict(FLAGS)


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_may_be_sent(service: Service, company: str, value: bool) -> None:
    assert create(service, company, meta=dict.fromkeys(FLAGS, value)).status_code == 200

    assert the_one(service)["meta"] == dict.fromkeys(FLAGS, value)


def test_a_flag_that_is_sent_changes_no_other(service: Service, company: str) -> None:
    create(service, company, meta={"invoice": True, "usage_tag": False, "aq_link": True})

    expected = {**FLAGS, "invoice": True, "usage_tag": False, "aq_link": True}
    assert the_one(service)["meta"] == expected


@pytest.mark.parametrize(
    "name", ["unheard_of", "", "Invoice", "INVOICE", "invoice ", "canary-7c1f", "__proto__"]
)
def test_an_unknown_flag_is_refused_and_not_repeated(
    service: Service, company: str, name: str
) -> None:
    answer = create(service, company, meta={"invoice": True, name: True})

    assert violations_of(answer) == [("meta", "known flags only")]
    assert listed(service) == []


@pytest.mark.parametrize("value", ["true", 1, 0, None, [], {}, "", 1.0])
def test_a_flag_that_is_neither_true_nor_false_is_refused(
    service: Service, company: str, value: Any
) -> None:
    answer = create(service, company, meta={"open_api": value})

    assert violations_of(answer) == [("meta.open_api", "true or false")]


# ── who may ──────────────────────────────────────────────────────────────────────────────────────


def test_reading_is_not_enough_to_create(service: Service, company: str) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    bodies: list[Any] = [body(company), {}, {"email": "broken"}, []]
    for sent in bodies:
        answer = service.http.post(RESELLERS, json=sent, headers=reader)
        assert problem_of(answer, 403)["code"] == "role_action_missing"
    assert listed(service) == []


def test_any_byte_of_a_body_is_a_body(service: Service) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    for content in (b" ", b"null", b"\n", b"{}", b"x"):
        for kind in ("application/json", "text/plain"):
            headers = {**reader, "Content-Type": kind}
            answer = service.http.post(RESELLERS, content=content, headers=headers)
            assert problem_of(answer, 403)["code"] == "role_action_missing"


@pytest.mark.parametrize("action", [RoleAction.ModifyReseller, RoleAction.Admin])
def test_who_may_modify_may_create(service: Service, company: str, action: RoleAction) -> None:
    assert create(service, company, service.caller(action)).status_code == 200


def test_who_may_do_neither_is_told_so(service: Service, company: str) -> None:
    stranger = new_person(service, core=["ReadBillingGroup", "ModifyBillingGroup"])

    assert problem_of(create(service, company, stranger.core), 403)
    assert problem_of(service.http.post(RESELLERS, headers=stranger.core), 403)
