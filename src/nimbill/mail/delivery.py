"""Send messages to people: encrypted in a job until delivered by SMTP or to a folder."""

import json
import os
import tempfile
from dataclasses import asdict
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote, urlsplit

import aiosmtplib
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.fsync import create_folder, fsync_path
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.jobs.records import add_job, clear_payload
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.messages import Message
from nimbill.mail.records import find_organisation_name
from nimbill.mail.sender import build_sender, find_sender

SEND_MESSAGE = "send_message"
SMTP_SECONDS = 20
# Retries are at most ten minutes apart, so this is about two days of an unavailable mail server.
ATTEMPTS_MAX = 300

# See docs/choices.md, notification-mail.


async def queue_message(
    db: AsyncConnection, scope: TenantScope, encryptor: Encryptor, message: Message
) -> None:
    """Add the job in the caller's transaction. The payload is encrypted: it may hold a password."""
    message_id = new_id("msg")
    own_encryptor = await load_organisation_encryptor(db, scope, encryptor)
    plaintext = json.dumps(asdict(message)).encode()
    ciphertext = own_encryptor.encrypt(plaintext, _associated_data(scope, message_id))
    payload = {"encrypted": ciphertext.hex()}
    await add_job(db, scope, SEND_MESSAGE, due=clock.now(), subject=message_id, payload=payload)


def message_job_type(settings: Settings, encryptor: Encryptor) -> JobType:
    async def send(db: AsyncConnection, job: Job) -> None:
        own_encryptor = await load_organisation_encryptor(db, job.scope, encryptor)
        ciphertext = bytes.fromhex(job.payload["encrypted"])
        plaintext = own_encryptor.decrypt(ciphertext, _associated_data(job.scope, job.subject))
        message = Message(**json.loads(plaintext))
        sender_name = await find_organisation_name(db, job.scope)
        await deliver(settings, job.scope, job.subject, message, sender_name)
        await clear_payload(db, job.scope, job.job_id)

    return JobType(SEND_MESSAGE, send, attempts_max=ATTEMPTS_MAX)


def _associated_data(scope: TenantScope, message_id: str) -> tuple[str, ...]:
    return ("jobs", "payload", scope.organisation_id, message_id)


async def deliver(
    settings: Settings,
    scope: TenantScope,
    message_id: str,
    message: Message,
    sender_name: str | None = None,
) -> None:
    """Deliver by SMTP where it is configured, otherwise as a file in the outbox folder."""
    email = _build_email(settings, message_id, message, sender_name)
    if settings.smtp_url is None:
        write_to_outbox(outbox_folder(settings, scope), message_id, email)
        return
    address = urlsplit(settings.smtp_url)
    await aiosmtplib.send(
        email,
        sender=find_sender(settings),
        recipients=[message.to],  # explicit, so that no header adds a recipient
        hostname=address.hostname,
        port=address.port,
        username=unquote(address.username) if address.username else None,
        password=unquote(address.password) if address.password else None,
        use_tls=address.scheme == "smtps",
        timeout=SMTP_SECONDS,
    )


def outbox_folder(settings: Settings, scope: TenantScope) -> Path:
    """Each organisation has a folder, so that its messages can be deleted with it."""
    return settings.data / "outbox" / scope.organisation_id


def _build_email(
    settings: Settings, message_id: str, message: Message, sender_name: str | None
) -> EmailMessage:
    """The Message-ID is stable, so that mail programs recognise a repeat after a crash."""
    email = EmailMessage(policy=SMTP if message.to.isascii() else SMTPUTF8)
    email["From"] = build_sender(settings, sender_name)
    email["To"] = message.to
    email["Subject"] = message.subject
    email["Date"] = formatdate(clock.unix_seconds())
    email["Message-ID"] = f"<{message_id}@{find_sender(settings).rpartition('@')[2]}>"
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(message.text)
    return email


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
