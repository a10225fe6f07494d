"""Letters leave by SMTP, sealed until then, and wait for a mail server that is away."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from nimbill.foundation.encryption import DecryptionError
from nimbill.mail.delivery import ATTEMPTS_MAX, deliver
from nimbill.mail.messages import Message
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import EMAIL, RESELLERS, create, log_in
from tests.mail.post_office import PostOffice, Received, all_sent, letters_of, try_now, until
from tests.own_database import sql
from tests.running_service import Service

HEADERS = {
    *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
    *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
}


def new_account(service: Service, **of_group: Any) -> str:
    """An account with a password of our making, which is written to; its user_id."""
    group = {"billinggroup_id": "BG-1", "company_name": "株式会社さくら商事", **of_group}
    company_id = create_group(service, service.root(), **group)
    made = create(service, company_id, input_type="Auto", notification=True)
    assert made.status_code == 200, made.text
    user_id: str = made.json()["user_id"]
    return user_id


def password_in(letter: Received) -> str:
    text = letter.message.get_content()
    (line,) = [one for one in text.splitlines() if one.startswith(("パスワード: ", "Password: "))]
    return str(line.partition(": ")[2])


def was_put_off(rows: list[Any], *, attempts: int) -> bool:
    return bool(rows[0].attempts == attempts and rows[0].state == "waiting")


def sent_one(service: Service, office: PostOffice, **of_group: Any) -> Received:
    with office.open(service):
        new_account(service, **of_group)
        until(service, all_sent)
    (letter,) = office.letters
    return letter


# ── what arrives ─────────────────────────────────────────────────────────────────────────────────


def test_a_letter_arrives_with_a_password_that_opens_the_account(
    mailing: Service, post_office: PostOffice
) -> None:
    letter = sent_one(mailing, post_office)

    assert letter.recipients == (EMAIL,)
    assert letter.sender == "billing@mail.example.com"
    assert log_in(mailing, EMAIL, password_in(letter)).status_code == 200


def test_japanese_headers_and_text_are_read_back(mailing: Service, post_office: PostOffice) -> None:
    message = sent_one(mailing, post_office).message

    assert set(message.keys()) == HEADERS
    assert message["Subject"] == "ポータルのアカウントを作成しました"
    assert message["From"] == "請求 Nimbill <billing@mail.example.com>"
    assert message["To"] == EMAIL
    assert message["Auto-Submitted"] == "auto-generated"
    text = message.get_content()
    assert "株式会社さくら商事 様" in text
    assert f"ログイン先: {mailing.settings.link_url}/portal" in text
    assert f"ユーザー名: {EMAIL}" in text


def test_the_wire_carries_ascii_headers_and_short_lines(
    mailing: Service, post_office: PostOffice
) -> None:
    letter = sent_one(mailing, post_office, company_name="長" * 600)

    head, _, _ = letter.raw.partition(b"\r\n\r\n")
    assert head.isascii()
    assert max(len(line) for line in letter.raw.splitlines()) < 998
    assert "長" * 600 in letter.message.get_content()


def test_an_address_that_is_not_ascii_is_written_to(
    mailing: Service, post_office: PostOffice
) -> None:
    company_id = create_group(mailing, mailing.root(), billinggroup_id="1")

    with post_office.open(mailing, enable_SMTPUTF8=True):
        create(mailing, company_id, email="花子@example.com", notification=True)
        until(mailing, all_sent)

    (letter,) = post_office.letters
    assert letter.recipients == ("花子@example.com",)
    assert letter.message["To"] == "花子@example.com"


@pytest.mark.parametrize(
    ("of_group", "of_organisation", "opening"),
    [
        ("ja", "en", "株式会社さくら商事 様"),
        ("en", "ja", "Dear 株式会社さくら商事,"),
        (None, "en", "Dear 株式会社さくら商事,"),
        (None, "ja", "株式会社さくら商事 様"),
        (None, None, "株式会社さくら商事 様"),
    ],
)
def test_the_language_is_the_groups_or_else_the_organisations(
    mailing: Service,
    post_office: PostOffice,
    of_group: str | None,
    of_organisation: str | None,
    opening: str,
) -> None:
    if of_organisation is not None:
        settings = {"language": of_organisation}
        changed = mailing.http.put("/m/core/settings", json=settings, headers=mailing.root())
        assert changed.status_code == 200

    letter = sent_one(mailing, post_office, language=of_group)

    assert letter.message.get_content().startswith(opening)


def test_a_changed_password_is_told_in_a_letter_of_its_own(
    mailing: Service, post_office: PostOffice
) -> None:
    with post_office.open(mailing):
        user_id = new_account(mailing, language="en")
        body = {"input_type": "Auto", "notification": True}
        changed = mailing.http.put(
            f"{RESELLERS}/{user_id}/password", json=body, headers=mailing.root()
        )
        until(mailing, lambda rows: len(rows) == 2 and all_sent(rows))

    assert changed.json() == {"status": "success", "user_id": user_id}
    first, second = sorted(post_office.letters, key=lambda one: str(one.message["Subject"]))
    assert first.message["Subject"] == "Your portal account"
    assert second.message["Subject"] == "Your portal password has changed"
    assert log_in(mailing, EMAIL, password_in(second)).status_code == 200
    assert log_in(mailing, EMAIL, password_in(first)).status_code == 400


def test_a_password_of_the_callers_own_stands_in_no_letter(
    mailing: Service, post_office: PostOffice
) -> None:
    company_id = create_group(mailing, mailing.root(), billinggroup_id="1")

    with post_office.open(mailing):
        create(mailing, company_id, password="canary-7c1f-own", notification=True)
        until(mailing, all_sent)

    (letter,) = post_office.letters
    assert "canary-7c1f-own" not in letter.message.get_content()
    assert "パスワード:" not in letter.message.get_content()


@pytest.mark.parametrize("name", ["evil\r\nBcc: b@example.net\r\n\r\nhello", "evil\nTo: b@b.net"])
def test_a_name_with_line_breaks_adds_no_header_and_no_recipient(
    mailing: Service, post_office: PostOffice, name: str
) -> None:
    letter = sent_one(mailing, post_office, company_name=name)

    assert letter.recipients == (EMAIL,)
    assert set(letter.message.keys()) == HEADERS
    first, *_ = letter.message.get_content().splitlines()
    assert first == f"{' '.join(name.split())} 様"


# ── a server that is away ────────────────────────────────────────────────────────────────────────


def test_a_letter_waits_for_a_server_that_is_away(
    mailing: Service, post_office: PostOffice
) -> None:
    new_account(mailing)

    (waiting,) = until(mailing, lambda rows: rows[0].attempts >= 1 and rows[0].state == "waiting")
    assert waiting.reason == "SMTPConnectError"
    assert waiting.due > waiting.update_time
    assert set(waiting.payload) == {"sealed"}

    with post_office.open(mailing):
        try_now(mailing)
        (sent,) = until(mailing, all_sent)

    (letter,) = post_office.letters
    assert sent.attempts > waiting.attempts
    assert log_in(mailing, EMAIL, password_in(letter)).status_code == 200


def test_a_letter_that_was_put_off_is_one_letter(mailing: Service, post_office: PostOffice) -> None:
    post_office.refusals[:] = ["451 come back later", "452 no room"]
    with post_office.open(mailing):
        new_account(mailing)
        for attempt in (1, 2):
            until(mailing, partial(was_put_off, attempts=attempt))
            try_now(mailing)
        (sent,) = until(mailing, all_sent)

    (letter,) = post_office.letters
    assert sent.attempts == 3
    assert letter.message["Message-ID"] == f"<{sent.subject}@mail.example.com>"


def test_a_letter_is_tried_for_two_days() -> None:
    """Seconds between attempts: 2, 4, 8 and so on, ten minutes at most."""
    waited = sum(min(2**attempt, 600) for attempt in range(1, ATTEMPTS_MAX))

    assert 2 * 24 * 3600 <= waited + 3600 <= 2.2 * 24 * 3600


def test_the_request_waits_for_no_mail_server(mailing: Service, post_office: PostOffice) -> None:
    """Answered while nobody listens; the letter is work."""
    new_account(mailing)

    assert len(letters_of(mailing)) == 1
    assert post_office.letters == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_a_server_that_asks_who_we_are_is_told(mailing: Service, post_office: PostOffice) -> None:
    asked = []

    def authenticate(_s: Any, _session: Any, _e: Any, _m: Any, data: LoginPassword) -> AuthResult:
        asked.append((data.login, data.password))
        return AuthResult(success=True)

    address = f"smtp://bill%40example.com:p%40ss%2Fword@127.0.0.1:{post_office.port}"
    settings = replace(mailing.settings, smtp_url=address)
    letter = Message(EMAIL, "subject", "text")
    with post_office.open(
        mailing, authenticator=authenticate, auth_required=True, auth_require_tls=False
    ):
        mailing.run(lambda: deliver(settings, "ltr_1", letter))

    assert asked == [(b"bill@example.com", b"p@ss/word")]
    assert [letter.recipients for letter in post_office.letters] == [(EMAIL,)]


# ── sealed ───────────────────────────────────────────────────────────────────────────────────────


def everything(office: PostOffice) -> str:
    """All that a dump of the database would show, every table and every column."""
    tables = sql(
        office.database,
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    assert len(tables) > 15
    each = [f"SELECT t::text AS line FROM {table['name']} t" for table in tables]
    return "\n".join(str(row["line"]) for row in sql(office.database, " UNION ALL ".join(each)))


def is_in(secret: str, dump: str) -> bool:
    """Plain, or as the digits in which bytes are shown."""
    return secret in dump or secret.encode().hex() in dump


def test_a_password_is_in_no_table_neither_before_nor_after_it_is_sent(
    mailing: Service, post_office: PostOffice
) -> None:
    new_account(mailing)
    until(mailing, lambda rows: rows[0].attempts >= 1)
    before = everything(post_office)
    with post_office.open(mailing):
        try_now(mailing)
        until(mailing, all_sent)
    after = everything(post_office)

    secret = password_in(post_office.letters[0])
    assert EMAIL in before, "the dump shows what is not secret"
    assert "send_letter" in before
    assert not is_in(secret, before)
    assert not is_in(secret, after)


def test_a_password_that_was_answered_and_kept_for_a_repeat_is_in_no_table(
    mailing: Service, post_office: PostOffice
) -> None:
    company_id = create_group(mailing, mailing.root(), billinggroup_id="1")
    headers = {**mailing.root(), "Idempotency-Key": "again"}

    made = create(mailing, company_id, headers, input_type="Auto").json()["password"]
    own = create(mailing, company_id, email="b@example.com", password="canary-7c1f-own")

    assert own.status_code == 200
    dump = everything(post_office)
    assert not is_in(made, dump)
    assert not is_in("canary-7c1f-own", dump)


def test_a_letter_is_sealed_while_it_waits_and_emptied_when_it_is_sent(
    mailing: Service, post_office: PostOffice
) -> None:
    new_account(mailing)
    (waiting,) = letters_of(mailing)
    with post_office.open(mailing):
        until(mailing, lambda rows: rows[0].attempts >= 1 or rows[0].state == "done")
        try_now(mailing)
        (sent,) = until(mailing, all_sent)

    assert set(waiting.payload) == {"sealed"}
    assert b"@" not in bytes.fromhex(waiting.payload["sealed"])[:12]
    assert EMAIL not in str(waiting.payload)
    assert sent.payload == {}


def test_a_sealed_letter_moved_to_another_row_is_not_sent(
    mailing: Service, post_office: PostOffice
) -> None:
    new_account(mailing)
    until(mailing, lambda rows: rows[0].state == "waiting" and rows[0].attempts >= 1)
    sql(
        post_office.database,
        "UPDATE work SET subject = 'ltr_other' WHERE organisation_id = $1 AND kind = 'send_letter'",
        mailing.organisation.organisation_id,
    )

    with post_office.open(mailing):
        attempts = letters_of(mailing)[0].attempts
        try_now(mailing)
        (row,) = until(mailing, partial(was_put_off, attempts=attempts + 1))

    assert row.reason == DecryptionError.__name__
    assert post_office.letters == []
