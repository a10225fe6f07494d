"""Messages are sent by SMTP, encrypted until then, and retried while the server is unavailable."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.encryption import DecryptionError
from nimbill.mail.delivery import ATTEMPTS_MAX, deliver
from nimbill.mail.messages import Message
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.resellers.reseller_accounts import EMAIL, RESELLERS, log_in, post_reseller
from tests.mail.smtp_server import (
    ReceivedMessage,
    SmtpServer,
    all_sent,
    list_message_jobs,
    retry_now,
    wait_for_jobs,
)
from tests.running_service import Service
from tests.temporary_database import execute_sql

HEADERS = {
    *("From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"),
    *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
}


def create_account(service: Service, **group_fields: Any) -> str:
    """Create an account with a generated password and a notification; return its user_id."""
    group = {"billinggroup_id": "BG-1", "company_name": "株式会社さくら商事", **group_fields}
    company_id = create_group(service, service.root(), **group)
    response = post_reseller(service, company_id, input_type="Auto", notification=True)
    assert response.status_code == 200, response.text
    user_id: str = response.json()["user_id"]
    return user_id


def password_in(received: ReceivedMessage) -> str:
    text = received.message.get_content()
    (line,) = [
        line for line in text.splitlines() if line.startswith(("パスワード: ", "Password: "))
    ]
    return str(line.partition(": ")[2])


def was_rescheduled(rows: list[Any], *, attempts: int) -> bool:
    return bool(rows[0].attempts == attempts and rows[0].state == "waiting")


def send_one(service: Service, server: SmtpServer, **group_fields: Any) -> ReceivedMessage:
    with server.open(service):
        create_account(service, **group_fields)
        wait_for_jobs(service, all_sent)
    (received,) = server.messages
    return received


# ── received messages ────────────────────────────────────────────────────────────────────────────


def test_the_password_in_a_message_logs_in(mail_service: Service, smtp_server: SmtpServer) -> None:
    received = send_one(mail_service, smtp_server)

    assert received.recipients == (EMAIL,)
    assert received.sender == "billing@mail.example.com"
    assert log_in(mail_service, EMAIL, password_in(received)).status_code == 200


def test_japanese_headers_and_text_are_preserved(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    message = send_one(mail_service, smtp_server).message

    assert set(message.keys()) == HEADERS
    assert message["Subject"] == "ポータルのアカウントを作成しました"
    assert message["From"] == "請求 Nimbill <billing@mail.example.com>"
    assert message["To"] == EMAIL
    assert message["Auto-Submitted"] == "auto-generated"
    text = message.get_content()
    assert "株式会社さくら商事 様" in text
    assert f"ログイン先: {mail_service.settings.link_url}/portal" in text
    assert f"ユーザー名: {EMAIL}" in text


def test_headers_are_ascii_and_lines_are_short(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    received = send_one(mail_service, smtp_server, company_name="長" * 600)

    head, _, _ = received.raw.partition(b"\r\n\r\n")
    assert head.isascii()
    assert max(len(line) for line in received.raw.splitlines()) < 998
    assert "長" * 600 in received.message.get_content()


def test_a_non_ascii_address_receives_its_message(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    company_id = create_group(mail_service, mail_service.root(), billinggroup_id="1")

    with smtp_server.open(mail_service, enable_SMTPUTF8=True):
        post_reseller(mail_service, company_id, email="花子@example.com", notification=True)
        wait_for_jobs(mail_service, all_sent)

    (received,) = smtp_server.messages
    assert received.recipients == ("花子@example.com",)
    assert received.message["To"] == "花子@example.com"


@pytest.mark.parametrize(
    ("group_language", "organisation_language", "opening"),
    [
        ("ja", "en", "株式会社さくら商事 様"),
        ("en", "ja", "Dear 株式会社さくら商事,"),
        (None, "en", "Dear 株式会社さくら商事,"),
        (None, "ja", "株式会社さくら商事 様"),
        (None, None, "株式会社さくら商事 様"),
    ],
)
def test_the_language_of_the_group_precedes_that_of_the_organisation(
    mail_service: Service,
    smtp_server: SmtpServer,
    group_language: str | None,
    organisation_language: str | None,
    opening: str,
) -> None:
    if organisation_language is not None:
        settings = {"language": organisation_language}
        changed = mail_service.http.put(
            "/m/core/settings", json=settings, headers=mail_service.root()
        )
        assert changed.status_code == 200

    received = send_one(mail_service, smtp_server, language=group_language)

    assert received.message.get_content().startswith(opening)


def test_a_changed_password_sends_a_second_message(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    with smtp_server.open(mail_service):
        user_id = create_account(mail_service, language="en")
        body = {"input_type": "Auto", "notification": True}
        changed = mail_service.http.put(
            f"{RESELLERS}/{user_id}/password", json=body, headers=mail_service.root()
        )
        wait_for_jobs(mail_service, lambda rows: len(rows) == 2 and all_sent(rows))

    assert changed.json() == {"status": "success", "user_id": user_id}
    first, second = sorted(
        smtp_server.messages, key=lambda received: str(received.message["Subject"])
    )
    assert first.message["Subject"] == "Your portal account"
    assert second.message["Subject"] == "Your portal password has changed"
    assert log_in(mail_service, EMAIL, password_in(second)).status_code == 200
    assert log_in(mail_service, EMAIL, password_in(first)).status_code == 400


def test_a_password_chosen_by_the_caller_is_not_in_the_message(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    company_id = create_group(mail_service, mail_service.root(), billinggroup_id="1")

    with smtp_server.open(mail_service):
        post_reseller(mail_service, company_id, password="canary-7c1f-own", notification=True)
        wait_for_jobs(mail_service, all_sent)

    (received,) = smtp_server.messages
    assert "canary-7c1f-own" not in received.message.get_content()
    assert "パスワード:" not in received.message.get_content()


@pytest.mark.parametrize("name", ["evil\r\nBcc: b@example.net\r\n\r\nhello", "evil\nTo: b@b.net"])
def test_a_name_with_line_breaks_adds_no_header_and_no_recipient(
    mail_service: Service, smtp_server: SmtpServer, name: str
) -> None:
    received = send_one(mail_service, smtp_server, company_name=name)

    assert received.recipients == (EMAIL,)
    assert set(received.message.keys()) == HEADERS
    first, *_ = received.message.get_content().splitlines()
    assert first == f"{' '.join(name.split())} 様"


# ── an unavailable server ────────────────────────────────────────────────────────────────────────


def test_a_message_is_retried_while_the_server_is_unavailable(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    create_account(mail_service)

    (waiting,) = wait_for_jobs(
        mail_service, lambda rows: rows[0].attempts >= 1 and rows[0].state == "waiting"
    )
    assert waiting.reason == "SMTPConnectError"
    assert waiting.due > waiting.update_time
    assert set(waiting.payload) == {"encrypted"}

    with smtp_server.open(mail_service):
        retry_now(mail_service)
        (sent,) = wait_for_jobs(mail_service, all_sent)

    (received,) = smtp_server.messages
    assert sent.attempts > waiting.attempts
    assert log_in(mail_service, EMAIL, password_in(received)).status_code == 200


def test_a_retried_message_arrives_once(mail_service: Service, smtp_server: SmtpServer) -> None:
    smtp_server.refusals[:] = ["451 try again later", "452 insufficient storage"]
    with smtp_server.open(mail_service):
        create_account(mail_service)
        for attempt in (1, 2):
            wait_for_jobs(mail_service, partial(was_rescheduled, attempts=attempt))
            retry_now(mail_service)
        (sent,) = wait_for_jobs(mail_service, all_sent)

    (received,) = smtp_server.messages
    assert sent.attempts == 3
    assert received.message["Message-ID"] == f"<{sent.subject}@mail.example.com>"


def test_a_message_is_retried_for_two_days() -> None:
    """The delays are 2, 4, 8 … seconds, at most ten minutes."""
    waited = sum(min(2**attempt, 600) for attempt in range(1, ATTEMPTS_MAX))

    assert 2 * 24 * 3600 <= waited + 3600 <= 2.2 * 24 * 3600


def test_the_request_does_not_wait_for_the_server(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    create_account(mail_service)

    assert len(list_message_jobs(mail_service)) == 1
    assert smtp_server.messages == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_the_configured_credentials_are_sent(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    credentials = []

    def authenticate(_s: Any, _session: Any, _e: Any, _m: Any, data: LoginPassword) -> AuthResult:
        credentials.append((data.login, data.password))
        return AuthResult(success=True)

    address = f"smtp://bill%40example.com:p%40ss%2Fword@127.0.0.1:{smtp_server.port}"
    settings = replace(mail_service.settings, smtp_url=address)
    message = Message(EMAIL, "subject", "text")
    with smtp_server.open(
        mail_service, authenticator=authenticate, auth_required=True, auth_require_tls=False
    ):
        mail_service.run(lambda: deliver(settings, TenantScope("org_1"), "msg_1", message))

    assert credentials == [(b"bill@example.com", b"p@ss/word")]
    assert [received.recipients for received in smtp_server.messages] == [(EMAIL,)]


# ── encryption ───────────────────────────────────────────────────────────────────────────────────


def dump_database(server: SmtpServer) -> str:
    """Return the text of every row of every table."""
    tables = execute_sql(
        server.database,
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )
    assert len(tables) > 15
    selects = [f"SELECT t::text AS line FROM {table['name']} t" for table in tables]
    return "\n".join(
        str(row["line"]) for row in execute_sql(server.database, " UNION ALL ".join(selects))
    )


def is_in(secret: str, dump: str) -> bool:
    """Also find the hexadecimal form in which bytes are printed."""
    return secret in dump or secret.encode().hex() in dump


def test_a_password_is_in_no_table_before_and_after_sending(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    create_account(mail_service)
    wait_for_jobs(mail_service, lambda rows: rows[0].attempts >= 1)
    before = dump_database(smtp_server)
    with smtp_server.open(mail_service):
        retry_now(mail_service)
        wait_for_jobs(mail_service, all_sent)
    after = dump_database(smtp_server)

    secret = password_in(smtp_server.messages[0])
    assert EMAIL in before, "the dump contains public values"
    assert "send_message" in before
    assert not is_in(secret, before)
    assert not is_in(secret, after)


def test_a_password_in_a_stored_response_is_in_no_table(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    company_id = create_group(mail_service, mail_service.root(), billinggroup_id="1")
    headers = {**mail_service.root(), "Idempotency-Key": "again"}

    generated = post_reseller(mail_service, company_id, headers, input_type="Auto").json()[
        "password"
    ]
    chosen = post_reseller(
        mail_service, company_id, email="b@example.com", password="canary-7c1f-own"
    )

    assert chosen.status_code == 200
    dump = dump_database(smtp_server)
    assert not is_in(generated, dump)
    assert not is_in("canary-7c1f-own", dump)


def test_a_waiting_message_is_encrypted_and_removed_once_sent(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    create_account(mail_service)
    (waiting,) = list_message_jobs(mail_service)
    with smtp_server.open(mail_service):
        wait_for_jobs(mail_service, lambda rows: rows[0].attempts >= 1 or rows[0].state == "done")
        retry_now(mail_service)
        (sent,) = wait_for_jobs(mail_service, all_sent)

    assert set(waiting.payload) == {"encrypted"}
    assert EMAIL.encode() not in bytes.fromhex(waiting.payload["encrypted"])
    assert EMAIL not in str(waiting.payload)
    assert sent.payload == {}


def test_a_ciphertext_moved_to_another_job_is_not_sent(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    create_account(mail_service)
    wait_for_jobs(mail_service, lambda rows: rows[0].state == "waiting" and rows[0].attempts >= 1)
    execute_sql(
        smtp_server.database,
        "UPDATE jobs SET subject = 'msg_other' "
        "WHERE organisation_id = $1 AND kind = 'send_message'",
        mail_service.organisation.organisation_id,
    )

    with smtp_server.open(mail_service):
        attempts = list_message_jobs(mail_service)[0].attempts
        retry_now(mail_service)
        (row,) = wait_for_jobs(mail_service, partial(was_rescheduled, attempts=attempts + 1))

    assert row.reason == DecryptionError.__name__
    assert smtp_server.messages == []
