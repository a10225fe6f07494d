"""Hand a mail over once, and tell what is known of its outcome.

A mail that the server may have accepted without our knowledge has an unknown outcome: handing it
over again could deliver it twice.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

import aiosmtplib

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.settings import Settings
from nimbill.mail.composition import Mail, compose_mail
from nimbill.mail.delivery import SMTP_SECONDS, outbox_folder, write_to_outbox
from nimbill.mail.sender import find_sender

CAUSE_LENGTH_MAX = 500


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


async def hand_over(settings: Settings, scope: TenantScope, mail: Mail) -> HandOver:
    """Deliver by SMTP where it is configured, otherwise as a file in the outbox folder."""
    try:
        email = compose_mail(settings, mail)
    except ValueError:
        return HandOver(HandOverResult.refused, "The mail has an invalid header.")
    if settings.smtp_url is None:
        name = mail.message_id.partition("@")[0]
        write_to_outbox(outbox_folder(settings, scope), name, email)
        return HandOver(HandOverResult.accepted)
    return await _send(settings, settings.smtp_url, mail, email)


async def _send(settings: Settings, smtp_url: str, mail: Mail, email: EmailMessage) -> HandOver:
    address = urlsplit(smtp_url)
    client = _SmtpClient(
        hostname=address.hostname,
        port=address.port,
        username=unquote(address.username) if address.username else None,
        password=unquote(address.password) if address.password else None,
        use_tls=address.scheme == "smtps",
        timeout=SMTP_SECONDS,
    )
    try:
        await client.connect()
        # explicit recipients, so that no header adds one
        refused, _ = await client.send_message(
            email, sender=find_sender(settings), recipients=mail.addresses
        )
        with suppress(aiosmtplib.SMTPException, OSError):  # the mail is accepted already
            await client.quit()
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
    finally:
        client.close()
    causes = {each: _describe_reply(*reply) for each, reply in refused.items()}
    return HandOver(HandOverResult.accepted, None, causes)


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
