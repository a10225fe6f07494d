"""The mailer: composes a mail, and delivers it by SMTP or as a file in the outbox folder.

`send` raises an exception if a mail was not delivered. `hand_over` says what is known of the
outcome: a mail that the server may have accepted without our knowledge has an unknown outcome, and
handing it over again could deliver it twice.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate, parseaddr
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import aiosmtplib

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.fsync import create_folder, fsync_path
from nimbill.foundation.settings import Settings

SMTP_SECONDS = 20
CAUSE_LENGTH_MAX = 500

# See docs/choices.md, mail-sender.


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
    return f"{local_part}@{_find_sender(settings).rpartition('@')[2]}"


def compose_mail(settings: Settings, mail: Mail) -> EmailMessage:
    """Build the mail. A line break in a header is refused by the library with a ValueError."""
    email = EmailMessage(policy=SMTP if "".join(mail.addresses).isascii() else SMTPUTF8)
    email["From"] = _build_sender(settings, mail.sender_name)
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


def _find_sender(settings: Settings) -> str:
    """Return the address without a name."""
    return parseaddr(settings.mail_from)[1]


def _build_sender(settings: Settings, organisation_name: str | None) -> Address | str:
    """Return the header From; a name in the configuration has priority."""
    configured_name, address = parseaddr(settings.mail_from)
    if configured_name or organisation_name is None:
        return settings.mail_from
    user, _, host = address.rpartition("@")
    # one line, so that a name cannot add a header
    return Address(" ".join(organisation_name.split()), user, host)


class HandOverResult(StrEnum):
    accepted = "accepted"
    refused = "refused"  # for good
    postponed = "postponed"  # nothing was delivered; the same mail may be accepted later
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class HandOver:
    result: HandOverResult
    cause: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict)  # address to cause, of some recipients


class _SmtpClient(aiosmtplib.SMTP):
    """Notices when the text of the mail is sent: only from then on can it be accepted."""

    is_sending_text = False

    async def data(self, *args: Any, **options: Any) -> aiosmtplib.SMTPResponse:
        self.is_sending_text = True
        return await super().data(*args, **options)


async def send(settings: Settings, scope: TenantScope, mail: Mail) -> None:
    email = compose_mail(settings, mail)
    if settings.smtp_url is None:
        _write_to_outbox_of(settings, scope, mail, email)
    else:
        await _transmit(_build_client(settings.smtp_url), settings, mail, email)


async def hand_over(settings: Settings, scope: TenantScope, mail: Mail) -> HandOver:
    try:
        email = compose_mail(settings, mail)
    except ValueError:
        return HandOver(HandOverResult.refused, "The mail has an invalid header.")
    if settings.smtp_url is None:
        _write_to_outbox_of(settings, scope, mail, email)
        return HandOver(HandOverResult.accepted)
    client = _build_client(settings.smtp_url)
    try:
        refused = await _transmit(client, settings, mail, email)
    except aiosmtplib.SMTPRecipientsRefused as error:
        replies = {each.recipient: each for each in error.recipients}
        permanent = all(_is_permanent(each.code) for each in replies.values())
        cause = "; ".join(_describe_reply(each.code, each.message) for each in replies.values())
        return _refuse(cause, permanent=permanent)
    except aiosmtplib.SMTPResponseException as error:
        permanent = _is_permanent(error.code) and not isinstance(
            error, aiosmtplib.SMTPAuthenticationError
        )
        return _refuse(_describe_reply(error.code, error.message), permanent=permanent)
    except aiosmtplib.SMTPNotSupported as error:
        return _refuse(str(error), permanent=True)
    except ValueError:
        return _refuse("The mail has an invalid address.", permanent=True)
    except (aiosmtplib.SMTPException, OSError) as error:
        cause = _shorten(f"{type(error).__name__}: {error}")
        result = HandOverResult.unknown if client.is_sending_text else HandOverResult.postponed
        return HandOver(result, cause)
    causes = {each: _describe_reply(*reply) for each, reply in refused.items()}
    return HandOver(HandOverResult.accepted, None, causes)


def _build_client(smtp_url: str) -> _SmtpClient:
    address = urlsplit(smtp_url)
    return _SmtpClient(
        hostname=address.hostname,
        port=address.port,
        username=unquote(address.username) if address.username else None,
        password=unquote(address.password) if address.password else None,
        use_tls=address.scheme == "smtps",
        timeout=SMTP_SECONDS,
    )


async def _transmit(
    client: _SmtpClient, settings: Settings, mail: Mail, email: EmailMessage
) -> Mapping[str, aiosmtplib.SMTPResponse]:
    """Send the mail in a connection of its own; return the refused of several recipients."""
    try:
        await client.connect()
        # explicit recipients, so that no header adds one
        refused, _ = await client.send_message(
            email, sender=_find_sender(settings), recipients=mail.addresses
        )
        with suppress(aiosmtplib.SMTPException, OSError):  # the mail is accepted already
            await client.quit()
    finally:
        client.close()
    return refused


def _is_permanent(code: int) -> bool:
    return code >= 500


def _refuse(cause: str, *, permanent: bool) -> HandOver:
    result = HandOverResult.refused if permanent else HandOverResult.postponed
    return HandOver(result, _shorten(cause))


def _describe_reply(code: int, message: str) -> str:
    return _shorten(f"{code} {message}")


def _shorten(text: str) -> str:
    """One line of printable text, as the server may send anything."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:CAUSE_LENGTH_MAX]


def outbox_folder(settings: Settings, scope: TenantScope) -> Path:
    """Each organisation has a folder, so that its messages can be deleted with it."""
    return settings.data / "outbox" / scope.organisation_id


def _write_to_outbox_of(
    settings: Settings, scope: TenantScope, mail: Mail, email: EmailMessage
) -> None:
    name = mail.message_id.partition("@")[0]
    write_to_outbox(outbox_folder(settings, scope), name, email)


def write_to_outbox(folder: Path, message_id: str, email: EmailMessage) -> None:
    """Write a temporary file and rename it, so that a reader never sees half a message."""
    create_folder(folder.parent, 0o700)
    create_folder(folder, 0o700)  # the mode does not apply to parents
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(email.as_bytes())
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).rename(folder / f"{message_id}.eml")
    except BaseException:
        Path(temporary).unlink()
        raise
    fsync_path(folder)
