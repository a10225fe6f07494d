"""Mails to several people: headers by RFC 2047, file names by RFC 2231."""

from __future__ import annotations

from dataclasses import replace
from email.header import decode_header, make_header
from email.utils import getaddresses

import pytest

from nimbill.foundation.settings import Settings
from nimbill.mail.mailer import Mail, MailRecipient, PdfAttachment, compose_mail
from tests.mail.smtp_server import parse_message
from tests.running_service import Service

HANAKO = MailRecipient("山田 花子", "hanako@example.com")
MAIL = Mail(
    message_id="inv_1@mail.example.com",
    to=[HANAKO],
    cc=[],
    subject="請求書送付のご案内",
    text="お世話になっております。\n",
    attachment=PdfAttachment("202609-0001_株式会社さくら商事.pdf", b"%PDF-1.7 \x00\xff"),
)


@pytest.fixture
def settings(service: Service) -> Settings:
    return replace(service.settings, mail_from="請求 <billing@mail.example.com>")


def test_everything_is_read_back_as_it_was(settings: Settings) -> None:
    cc = [MailRecipient("Sato, Taro", "taro@example.com"), MailRecipient("O'Neil", "o@example.com")]
    mail = replace(MAIL, cc=cc, reply_to="keiri@example.jp")

    message = parse_message(compose_mail(settings, mail).as_bytes())

    assert message["To"] == "山田 花子 <hanako@example.com>"
    assert getaddresses([message["Cc"]]) == [(each.name, each.email) for each in cc]
    assert message["Reply-To"] == "keiri@example.jp"
    assert message["Subject"] == mail.subject
    assert message["Message-ID"] == "<inv_1@mail.example.com>"
    (attachment,) = message.iter_attachments()
    assert mail.attachment is not None
    assert attachment.get_filename() == mail.attachment.name
    assert attachment.get_content() == mail.attachment.content


def test_a_long_name_is_folded_into_encoded_words(settings: Settings) -> None:
    long = MailRecipient("経理部" * 33, "k@example.com")

    raw = compose_mail(settings, replace(MAIL, to=[long], attachment=None)).as_bytes()

    lines = raw.replace(b"\r\n", b"\n").split(b"\n\n")[0].split(b"\n")
    assert all(len(line) <= 78 and line.isascii() for line in lines)
    folded = raw.decode().split("To: ")[1].split(" <k@example.com>")[0]
    assert str(make_header(decode_header(folded))).strip() == long.name


@pytest.mark.parametrize(
    "mail",
    [
        replace(MAIL, subject="hello\r\nBcc: b@example.net"),
        replace(MAIL, to=[MailRecipient("A\r\nBcc: b@example.net", "a@example.com")]),
        replace(MAIL, to=[MailRecipient("A", "a@example.com\r\nBcc: b@example.net")]),
        replace(MAIL, reply_to="a@example.com\nBcc: b@example.net"),
    ],
)
def test_a_line_break_in_a_header_is_refused(settings: Settings, mail: Mail) -> None:
    with pytest.raises(ValueError, match=r"newline|linefeed|CR or LF|CR, LF"):
        compose_mail(settings, mail)


def test_an_address_with_other_letters_is_kept(settings: Settings) -> None:
    mail = replace(MAIL, to=[MailRecipient("花子", "花子@例え.jp")])

    raw = compose_mail(settings, mail).as_bytes()

    assert "花子@例え.jp".encode() in raw


def test_a_mail_that_is_composed_again_has_the_same_boundary(settings: Settings) -> None:
    first, second = (compose_mail(settings, MAIL) for _ in range(2))

    assert first.get_boundary() == second.get_boundary() is not None
    assert first.get_payload(1).as_bytes() == second.get_payload(1).as_bytes()  # type: ignore[union-attr]
    other = compose_mail(settings, replace(MAIL, message_id="inv_2@mail.example.com"))
    assert other.get_boundary() != first.get_boundary()
