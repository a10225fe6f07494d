"""Recurring jobs of every organisation: audit checkpoints and deletion of expired records."""

import asyncio
import contextlib
from datetime import timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import maintain_keys
from nimbill.access.login_failures import (
    KNOWN_SOURCE_LIFETIME,
    UNKNOWN_ORGANISATION,
    WINDOW_MAX,
    delete_old_attempts,
    delete_old_sources,
)
from nimbill.access.request_context import Resources
from nimbill.audit import records as audit
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.database.tenant_scope import is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.settings import Settings
from nimbill.http import idempotency
from nimbill.identity.login import records as logins
from nimbill.identity.login.refresh_tokens import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from nimbill.identity.second_factors.records import delete_expired_challenges
from nimbill.identity.users.password_link_records import delete_expired_links
from nimbill.invoicing.exports.records import delete_old_exports
from nimbill.jobs.records import delete_old_jobs
from nimbill.jobs.recurring import (
    AUDIT_CHECKPOINT,
    DELETE_EXPIRED_LOGINS,
    DELETE_EXPORTS,
    DELETE_IDEMPOTENCY_KEYS,
)
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.delivery import message_job_type
from nimbill.portal.staff_views.records import delete_expired_views
from nimbill.webhooks import records as webhooks

MAINTENANCE_INTERVAL_SECONDS = 3600
FINISHED_JOBS_RETENTION = timedelta(days=90)
WEBHOOK_EVENTS_RETENTION = timedelta(days=90)

log = structlog.get_logger()


async def run_hourly_maintenance(resources: Resources, stopping: asyncio.Event) -> None:
    """Rotate and reload the signing keys once an hour, in every process."""
    issuers = resources.tokens.issuers
    while not stopping.is_set():
        try:
            async with resources.engine.begin() as db:
                await maintain_keys(db, resources.encryptor, at=clock.now(), issuers=issuers)
            async with transaction(resources.engine, UNKNOWN_ORGANISATION.organisation_id) as db:
                await delete_old_attempts(db, UNKNOWN_ORGANISATION, before=clock.now() - WINDOW_MAX)
            await resources.reload_keys()
        except Exception as error:
            if not is_database_unavailable(error):
                log.error("maintenance_failed", exc_info=error)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), MAINTENANCE_INTERVAL_SECONDS)


def maintenance_job_types(settings: Settings, encryptor: Encryptor) -> list[JobType]:
    checkpoint_folder = settings.data / "audit"
    # A family of tokens is kept until its last access token has expired.
    token_seconds = max(settings.core_token_seconds, settings.portal_token_seconds)
    access_token_lifetime = max(timedelta(days=2), timedelta(seconds=token_seconds + 60))

    async def write_audit_checkpoint(db: AsyncConnection, job: Job) -> None:
        head = await audit.load_head(db, job.scope)
        if head is not None:
            write_checkpoint(checkpoint_folder, encryptor, job.scope.organisation_id, *head)

    async def delete_idempotency_keys(db: AsyncConnection, job: Job) -> None:
        await idempotency.delete_old_keys(db, job.scope)
        await delete_old_jobs(db, job.scope, before=clock.now() - FINISHED_JOBS_RETENTION)
        await webhooks.delete_expired_secrets(db, job.scope, at=clock.now())
        await webhooks.delete_old_events(
            db, job.scope, before=clock.now() - WEBHOOK_EVENTS_RETENTION
        )

    async def delete_expired_logins(db: AsyncConnection, job: Job) -> None:
        now = clock.now()
        await logins.delete_old_families(
            db,
            job.scope,
            before=now - ABSOLUTE_LIFETIME - access_token_lifetime,
            unused_since=now - IDLE_LIFETIME,
        )
        await delete_old_attempts(db, job.scope, before=now - WINDOW_MAX)
        await delete_expired_links(db, job.scope, at=now)
        await delete_expired_views(db, job.scope, at=now)
        await delete_expired_challenges(db, job.scope, at=now)
        await delete_old_sources(db, job.scope, before=now - KNOWN_SOURCE_LIFETIME)

    async def delete_exports(db: AsyncConnection, job: Job) -> None:
        await delete_old_exports(db, job.scope, days=1)

    return [
        message_job_type(settings, encryptor),
        JobType(DELETE_EXPORTS, delete_exports, every=timedelta(days=1)),
        JobType(AUDIT_CHECKPOINT, write_audit_checkpoint, every=timedelta(hours=1)),
        JobType(DELETE_IDEMPOTENCY_KEYS, delete_idempotency_keys, every=timedelta(days=1)),
        JobType(DELETE_EXPIRED_LOGINS, delete_expired_logins, every=timedelta(hours=1)),
    ]
