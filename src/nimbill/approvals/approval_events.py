"""Announces requests and decisions to other programs."""

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals import records
from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.jobs.records import add_job
from nimbill.jobs.recurring import EXPIRE_APPROVALS
from nimbill.jobs.runner import Job, JobType
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, EventData, publish_event, publish_events

ANNOUNCE_APPROVAL = "announce_approval"


def _describe(approval_id: str, kind: str) -> EventData:
    return {"approval_id": approval_id, "kind": kind}


async def announce(
    db: AsyncConnection,
    scope: TenantScope,
    event_type: WebhookEventType,
    approval_id: str,
    kind: str,
) -> None:
    await publish_event(db, scope, event_type, _describe(approval_id, kind))


async def announce_later(db: AsyncConnection, scope: TenantScope, approval_id: str) -> None:
    """The event is published by a job, because a transaction publishes once.

    Otherwise two transactions could lock the endpoints of their events in different orders.
    """
    await add_job(db, scope, ANNOUNCE_APPROVAL, due=clock.now(), subject=approval_id)


async def _announce_approved(db: AsyncConnection, job: Job) -> None:
    row = await records.find_request(db, job.scope, job.subject)
    if row is not None:
        event = WebhookEventType.approval_approved
        await announce(db, job.scope, event, row.approval_id, row.kind)


async def expire_requests(db: AsyncConnection, scope: TenantScope, *, at: datetime) -> None:
    """Mark expired requests. Nobody can approve one even before this."""
    expired = await records.expire_requests(db, scope, at=at)
    await publish_events(
        db,
        scope,
        [
            Announcement(WebhookEventType.approval_expired, _describe(each.approval_id, each.kind))
            for each in expired
        ],
    )
    if expired:
        await audit.append_entries(
            db,
            [
                audit.AuditedChange(
                    actor="",
                    actor_name="",
                    action="expire_approval",
                    resource=f"approval/{each.approval_id}",
                    company_id=each.company_ids[0]
                    if each.company_ids and len(each.company_ids) == 1
                    else None,
                    request_id=each.approval_id,
                )
                for each in expired
            ],
        )


async def _expire(db: AsyncConnection, job: Job) -> None:
    await expire_requests(db, job.scope, at=clock.now())


def approval_job_types() -> list[JobType]:
    return [
        JobType(ANNOUNCE_APPROVAL, _announce_approved),
        JobType(EXPIRE_APPROVALS, _expire, every=timedelta(hours=1)),
    ]
