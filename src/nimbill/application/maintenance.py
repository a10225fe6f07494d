"""Work that comes back by itself for every organisation: checkpoints and forgetting."""

import asyncio
import contextlib
from datetime import timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import keep_keys
from nimbill.access.request_context import Resources
from nimbill.audit import records as audit
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.database.tenant_scope import is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.settings import Settings
from nimbill.http import idempotency
from nimbill.identity.login import records as logins
from nimbill.identity.login.password_attempts import NOBODY, SOURCE_KEPT, WINDOW
from nimbill.identity.login.refresh_tokens import ABSOLUTE, IDLE
from nimbill.invoicing.exports.records import forget_old_exports
from nimbill.jobs.records import delete_old_jobs
from nimbill.jobs.recurring import (
    AUDIT_CHECKPOINT,
    DELETE_EXPIRED_LOGINS,
    DELETE_EXPORTS,
    DELETE_IDEMPOTENCY_KEYS,
)
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.delivery import message_job_type

HOUSE_KEPT_EVERY_SECONDS = 3600
WORK_KEPT = timedelta(days=90)  # after it was done or given up

log = structlog.get_logger()


async def run_hourly_maintenance(resources: Resources, stopping: asyncio.Event) -> None:
    """Once an hour, in every process: keys give way in time, and this process knows of it."""
    issuers = resources.tokens.issuers
    while not stopping.is_set():
        try:
            async with resources.engine.begin() as db:
                await keep_keys(db, resources.encryptor, at=clock.now(), issuers=issuers)
            async with transaction(resources.engine, NOBODY.organisation_id) as db:
                await logins.forget_old_attempts(db, NOBODY, before=clock.now() - WINDOW)
            await resources.read_keys()
        except Exception as error:
            if not is_database_unavailable(error):
                log.error("keep_house", exc_info=error)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), HOUSE_KEPT_EVERY_SECONDS)


def maintenance_job_types(settings: Settings, encryptor: Encryptor) -> list[JobType]:
    """Everything the work loop knows how to do."""
    checkpoint_folder = settings.data / "audit"

    async def checkpoint(db: AsyncConnection, taken: Job) -> None:
        head = await audit.load_head(db, taken.scope)
        if head is not None:
            seq, hash_ = head
            write_checkpoint(checkpoint_folder, encryptor, taken.scope.organisation_id, seq, hash_)

    async def forget(db: AsyncConnection, taken: Job) -> None:
        await idempotency.forget_old_keys(db, taken.scope)
        await delete_old_jobs(db, taken.scope, before=clock.now() - WORK_KEPT)

    async def forget_logins(db: AsyncConnection, taken: Job) -> None:
        # a family outlives its last refresh token by the life of the access token it gave
        now = clock.now()
        await logins.forget_old_families(
            db, taken.scope, before=now - ABSOLUTE - timedelta(days=2), unused_since=now - IDLE
        )
        await logins.forget_old_attempts(db, taken.scope, before=clock.now() - WINDOW)
        await logins.forget_old_sources(db, taken.scope, before=clock.now() - SOURCE_KEPT)

    async def forget_exports(db: AsyncConnection, taken: Job) -> None:
        await forget_old_exports(db, taken.scope, days=1)

    return [
        message_job_type(settings, encryptor),
        JobType(DELETE_EXPORTS, forget_exports, every=timedelta(days=1)),
        JobType(AUDIT_CHECKPOINT, checkpoint, every=timedelta(hours=1)),
        JobType(DELETE_IDEMPOTENCY_KEYS, forget, every=timedelta(days=1)),
        JobType(DELETE_EXPIRED_LOGINS, forget_logins, every=timedelta(hours=1)),
    ]
