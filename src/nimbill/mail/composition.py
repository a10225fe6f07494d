"""Compose a mail to several people, with headers and file names by RFC 2047 and RFC 2231."""

from collections.abc import Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate
from hashlib import sha256

from nimbill.foundation import clock
from nimbill.foundation.settings import Settings
from nimbill.mail.sender import build_sender, find_sender


@dataclass(frozen=True, slots=True)
class MailRecipient:
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class PdfAttachment:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    message_id: str  # without angle brackets
    to: Sequence[MailRecipient]
    cc: Sequence[MailRecipient]
    subject: str
    text: str
    sender_name: str | None = None  # the name of the organisation
    reply_to: str | None = None
    attachment: PdfAttachment | None = None

    @property
    def addresses(self) -> list[str]:
        return [recipient.email for recipient in (*self.to, *self.cc)]


def build_message_id(settings: Settings, local_part: str) -> str:
    """Return a Message-ID below the domain of the sender."""
    return f"{local_part}@{find_sender(settings).rpartition('@')[2]}"


def compose_mail(settings: Settings, mail: Mail) -> EmailMessage:
    """Build the mail. A line break in a header is refused by the library with a ValueError."""
    email = EmailMessage(policy=SMTP if "".join(mail.addresses).isascii() else SMTPUTF8)
    email["From"] = build_sender(settings, mail.sender_name)
    email["To"] = [_build_address(recipient) for recipient in mail.to]
    if mail.cc:
        email["Cc"] = [_build_address(recipient) for recipient in mail.cc]
    if mail.reply_to is not None:
        email["Reply-To"] = mail.reply_to
    email["Subject"] = mail.subject
    email["Date"] = formatdate(clock.unix_seconds())
    email["Message-ID"] = f"<{mail.message_id}>"
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(mail.text)
    if mail.attachment is not None:
        email.add_attachment(
            mail.attachment.content,
            maintype="application",
            subtype="pdf",
            filename=mail.attachment.name,
        )
        # The library would draw one at random; a retry is to be the same mail.
        email.set_boundary(f"=_{sha256(mail.message_id.encode()).hexdigest()[:32]}")
    return email


def _build_address(recipient: MailRecipient) -> Address:
    user, _, host = recipient.email.rpartition("@")
    return Address(recipient.name, user, host)
