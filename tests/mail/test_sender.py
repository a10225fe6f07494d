"""The sender of mails: the configured address, under the name of the organisation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nimbill.foundation.settings import Settings
from nimbill.mail.mailer import Mail, MailRecipient, compose_mail
from tests.mail.smtp_server import parse_message
from tests.running_service import Service

NAME = "株式会社あおぞらクラウド"
MAIL = Mail(
    message_id="inv_1@mail.example.com",
    to=[MailRecipient("山田 花子", "hanako@example.com")],
    cc=[],
    subject="請求書送付のご案内",
    text="お世話になっております。\n",
    sender_name=NAME,
)


@pytest.fixture
def settings(service: Service) -> Settings:
    return replace(service.settings, mail_from="billing@mail.example.com")


def read_sender(settings: Settings, mail: Mail) -> str:
    return str(parse_message(compose_mail(settings, mail).as_bytes())["From"])


def test_the_organisation_is_the_display_name_as_an_encoded_word(settings: Settings) -> None:
    raw = compose_mail(settings, MAIL).as_bytes()

    assert raw.startswith(b"From: =?utf-8?")
    assert read_sender(settings, MAIL) == f"{NAME} <billing@mail.example.com>"


def test_a_configured_name_has_priority(settings: Settings) -> None:
    named = replace(settings, mail_from="請求センター <billing@mail.example.com>")

    assert read_sender(named, MAIL) == "請求センター <billing@mail.example.com>"


def test_without_a_name_the_address_stands_alone(settings: Settings) -> None:
    assert read_sender(settings, replace(MAIL, sender_name=None)) == "billing@mail.example.com"


def test_a_name_cannot_add_a_header(settings: Settings) -> None:
    mail = replace(MAIL, sender_name="Evil\r\nBcc: b@example.net")

    message = parse_message(compose_mail(settings, mail).as_bytes())

    assert "Bcc" not in message
    assert message["From"].addresses[0].display_name == "Evil Bcc: b@example.net"
