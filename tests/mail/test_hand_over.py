"""Handing a mail over: what the answers of a mail server mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nimbill.database.tenant_scope import TenantScope
from nimbill.mail.mailer import (
    CAUSE_LENGTH_MAX,
    HandOver,
    HandOverResult,
    Mail,
    MailRecipient,
    hand_over,
)
from tests.mail.smtp_server import SmtpServer
from tests.running_service import Service

SCOPE = TenantScope("org_1")
MAIL = Mail(
    message_id="inv_1@mail.example.com",
    to=[MailRecipient("花子", "hanako@example.com")],
    cc=[MailRecipient("Taro", "taro@example.com")],
    subject="件名",
    text="本文\n",
)


def send(service: Service, mail: Mail = MAIL, **settings: Any) -> HandOver:
    changed = replace(service.settings, **settings)
    return service.run(lambda: hand_over(changed, SCOPE, mail))


def test_a_mail_without_smtp_is_a_file(service: Service) -> None:
    assert send(service) == HandOver(HandOverResult.accepted)

    folder = service.settings.data / "outbox" / SCOPE.organisation_id
    assert (folder / "inv_1.eml").exists()


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("554 5.7.1 blocked", HandOverResult.refused),
        ("552 5.3.4 too large", HandOverResult.refused),
        ("451 4.7.1 greylisted", HandOverResult.postponed),
        ("421 4.3.2 closing", HandOverResult.postponed),
    ],
)
def test_the_answer_to_the_text_decides(
    mail_service: Service, smtp_server: SmtpServer, answer: str, result: HandOverResult
) -> None:
    smtp_server.refusals.append(answer)
    with smtp_server.open(mail_service):
        assert send(mail_service) == HandOver(result, answer)
        assert send(mail_service) == HandOver(HandOverResult.accepted)

    (received,) = smtp_server.messages
    assert received.recipients == ("hanako@example.com", "taro@example.com")


@pytest.mark.parametrize(
    ("codes", "result"),
    [
        (("550", "550"), HandOverResult.refused),
        (("550", "450"), HandOverResult.postponed),
        (("450", "450"), HandOverResult.postponed),
    ],
)
def test_a_mail_that_no_recipient_gets_is_refused_for_good_or_for_now(
    mail_service: Service,
    smtp_server: SmtpServer,
    monkeypatch: pytest.MonkeyPatch,
    codes: tuple[str, str],
    result: HandOverResult,
) -> None:
    answers = iter(codes)

    async def refuse(*_: Any) -> str:
        return f"{next(answers)} no such mailbox"

    monkeypatch.setattr(SmtpServer, "handle_RCPT", refuse, raising=False)
    with smtp_server.open(mail_service):
        handed = send(mail_service)

    assert handed.result is result
    assert handed.cause == "; ".join(f"{code} no such mailbox" for code in codes)
    assert smtp_server.messages == []


def test_an_unavailable_server_postpones(mail_service: Service, smtp_server: SmtpServer) -> None:
    handed = send(mail_service)

    assert handed.result is HandOverResult.postponed
    assert handed.cause is not None
    assert handed.cause.startswith("SMTPConnectError")


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
def test_refused_credentials_postpone(mail_service: Service, smtp_server: SmtpServer) -> None:
    url = f"smtp://bill:wrong@127.0.0.1:{smtp_server.port}"
    with smtp_server.open(mail_service, auth_require_tls=False):
        handed = send(mail_service, smtp_url=url)

    assert handed.result is HandOverResult.postponed
    assert "wrong" not in str(handed.cause)


def test_what_the_server_says_is_one_short_line(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    smtp_server.refusals.append(f"554 first\tline {'x' * 300}\r\n")
    with smtp_server.open(mail_service):
        handed = send(mail_service)

    assert handed.cause is not None
    assert handed.cause.isprintable()
    assert len(handed.cause) <= CAUSE_LENGTH_MAX


def test_a_header_that_cannot_be_written_is_refused(service: Service) -> None:
    handed = send(service, replace(MAIL, subject="a\r\nBcc: b@example.com"))

    assert handed.result is HandOverResult.refused


def test_an_address_that_the_server_cannot_take_is_refused(
    mail_service: Service, smtp_server: SmtpServer
) -> None:
    mail = replace(MAIL, to=[MailRecipient("花子", "花子@example.com")])
    with smtp_server.open(mail_service):
        handed = send(mail_service, mail)

    assert handed.result is HandOverResult.refused
    assert smtp_server.messages == []
