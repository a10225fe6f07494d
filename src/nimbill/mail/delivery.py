"""Sending letters: queued sealed with the change they tell of, delivered by SMTP or to a folder."""

import json
import os
import tempfile
from dataclasses import asdict
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate, parseaddr
from pathlib import Path
from urllib.parse import unquote, urlsplit

import aiosmtplib
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import organisation_sealer
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.jobs.records import add_job, forget_payload
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.messages import Message

SEND_MESSAGE = "send_letter"
SMTP_SECONDS = 20
# at most ten minutes apart, so for about two days: mail servers are away over a weekend's night
ATTEMPTS_MAX = 300

basis = chosen("letters")


async def queue_message(
    db: AsyncConnection, scope: TenantScope, sealer: Encryptor, letter: Message
) -> None:
    """In the transaction of the change. Sealed: a letter may hold a password."""
    name = new_id("ltr")
    own = await organisation_sealer(db, scope, sealer)
    sealed = own.seal(json.dumps(asdict(letter)).encode(), _place(scope, name))
    payload = {"sealed": sealed.hex()}
    await add_job(db, scope, SEND_MESSAGE, due=clock.now(), subject=name, payload=payload)


def message_job_type(settings: Settings, sealer: Encryptor) -> JobType:
    async def send(db: AsyncConnection, taken: Job) -> None:
        own = await organisation_sealer(db, taken.scope, sealer)
        place = _place(taken.scope, taken.subject)
        letter = Message(**json.loads(own.open(bytes.fromhex(taken.payload["sealed"]), place)))
        await deliver(settings, taken.subject, letter)
        await forget_payload(db, taken.scope, taken.work_id)

    return JobType(SEND_MESSAGE, send, attempts_max=ATTEMPTS_MAX)


def _place(scope: TenantScope, name: str) -> tuple[str, ...]:
    return ("work", "payload", scope.organisation_id, name)


async def deliver(settings: Settings, name: str, letter: Message) -> None:
    """By SMTP where it is configured, otherwise as a file in the outbox folder."""
    message = _message(settings, name, letter)
    if settings.smtp_url is None:
        _put_in_outbox(settings.data / "outbox", name, message)
        return
    address = urlsplit(settings.smtp_url)
    await aiosmtplib.send(
        message,
        sender=parseaddr(settings.mail_from)[1],
        recipients=[letter.to],  # said, not read back from a header
        hostname=address.hostname,
        port=address.port,
        username=unquote(address.username) if address.username else None,
        password=unquote(address.password) if address.password else None,
        use_tls=address.scheme == "smtps",
        timeout=SMTP_SECONDS,
    )


def _message(settings: Settings, name: str, letter: Message) -> EmailMessage:
    """Its id is the name of its work: delivered twice after a crash, it is still one letter."""
    _, sender = parseaddr(settings.mail_from)
    message = EmailMessage(policy=SMTP if letter.to.isascii() else SMTPUTF8)
    message["From"] = settings.mail_from
    message["To"] = letter.to
    message["Subject"] = letter.subject
    message["Date"] = formatdate(clock.unix_seconds())
    message["Message-ID"] = f"<{name}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    return message


def _put_in_outbox(folder: Path, name: str, message: EmailMessage) -> None:
    """Complete or absent: written apart, then renamed."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(message.as_bytes())
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).rename(folder / f"{name}.eml")
    except BaseException:
        Path(temporary).unlink()
        raise
