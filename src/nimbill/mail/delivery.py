"""Messages to one person: encrypted in a job until they are sent."""

import json
from dataclasses import asdict

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.jobs.records import add_job, clear_payload
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.mailer import Mail, MailRecipient, build_message_id, send
from nimbill.mail.messages import Message
from nimbill.mail.records import find_organisation_name

SEND_MESSAGE = "send_message"
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
    """The Message-ID is stable, so that mail programs recognise a repeat after a crash."""
    mail = Mail(
        message_id=build_message_id(settings, message_id),
        to=[MailRecipient("", message.to)],
        cc=[],
        subject=message.subject,
        text=message.text,
        sender_name=sender_name,
    )
    await send(settings, scope, mail)
