"""The job of an endpoint: sends what is due, records each attempt, and sets the next time.

An endpoint has one job, so that the events of an object are sent one after the other. A process
that dies after a request and before its record sends the event again, with the same webhook-id.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.metrics import count_webhook_attempt
from nimbill.foundation.settings import Settings
from nimbill.jobs.runner import PARALLEL, Job, JobType, ReportProgress
from nimbill.webhooks import delivery_records, records
from nimbill.webhooks.bodies import DeliveryError, EventState
from nimbill.webhooks.endpoint_secrets import decrypt_secrets
from nimbill.webhooks.events import DELIVER_WEBHOOKS
from nimbill.webhooks.http_sender import Attempt, send_request
from nimbill.webhooks.retry_rules import find_next_attempt
from nimbill.webhooks.signature import build_headers

BATCH_DELIVERIES = 100
CONCURRENT_REQUESTS = 4  # to one endpoint
# Then the job ends and is queued again, so that the endpoints of an organisation take turns.
BATCHES_MAX = 5
# A failure of the job itself, for example of the database, never ends the deliveries.
ATTEMPTS_MAX = 1_000_000
RECHECK_PAUSE = timedelta(seconds=1)
GONE = "gone"


@dataclass(frozen=True, slots=True)
class _Target:
    """Where the events of a job are sent, and with which secrets they are signed."""

    url: str
    signing_secrets: Sequence[str]


def webhook_job_types(
    settings: Settings, engine: AsyncEngine, encryptor: Encryptor
) -> list[JobType]:
    async def deliver(job: Job, _report: ReportProgress) -> None:
        delivery = EndpointDelivery(settings, engine, encryptor, job.scope, job.subject)
        for _ in range(BATCHES_MAX):
            if not await delivery.send_batch():
                return

    async def schedule_next(db: AsyncConnection, job: Job) -> datetime | None:
        return await find_next_run(db, job.scope, job.subject)

    return [
        JobType(
            DELIVER_WEBHOOKS,
            schedule_next,
            prepare=deliver,
            lane=PARALLEL,
            attempts_max=ATTEMPTS_MAX,
        )
    ]


async def find_next_run(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str
) -> datetime | None:
    """Return when the job of the endpoint has to run again, or None if nothing waits.

    Somebody who is writing an event holds the endpoint's lock; the event is not visible yet.
    """
    if await records.try_lock_endpoint(db, scope, endpoint_id):
        return await delivery_records.find_next_due(db, scope, endpoint_id)
    exists = await records.find_endpoint(db, scope, endpoint_id) is not None
    return clock.now() + RECHECK_PAUSE if exists else None


class EndpointDelivery:
    """Sends the due events of one endpoint."""

    def __init__(
        self,
        settings: Settings,
        engine: AsyncEngine,
        encryptor: Encryptor,
        scope: TenantScope,
        endpoint_id: str,
    ) -> None:
        self.settings, self.engine, self.encryptor = settings, engine, encryptor
        self.scope, self.endpoint_id = scope, endpoint_id

    async def send_batch(self) -> bool:
        """Send the next event of each object. Return whether more may be due."""
        async with transaction(self.engine, self.scope.organisation_id) as db:
            target = await self._load_target(db)
            if target is None:
                return False
            due = await delivery_records.list_due_deliveries(
                db, self.scope, self.endpoint_id, at=clock.now(), limit=BATCH_DELIVERIES
            )
        remaining = iter(due)

        async def send_remaining() -> None:
            for row in remaining:
                await self._send(target, row)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(CONCURRENT_REQUESTS, len(due))):
                tasks.create_task(send_remaining())
        return bool(due)

    async def _load_target(self, db: AsyncConnection) -> _Target | None:
        """Return None if the endpoint was deleted or disabled."""
        row = await records.find_endpoint(db, self.scope, self.endpoint_id)
        if row is None or not row.enabled:
            return None
        own_encryptor = await load_organisation_encryptor(db, self.scope, self.encryptor)
        signing_secrets = decrypt_secrets(own_encryptor, self.scope, row, at=clock.now())
        return _Target(row.url, signing_secrets)

    async def _send(self, target: _Target, row: Row) -> None:
        body = row.payload.encode()
        headers = build_headers(row.event_id, clock.now(), body, target.signing_secrets)
        attempt = await send_request(target.url, headers, body, self.settings.webhook_networks)
        async with transaction(self.engine, self.scope.organisation_id) as db:
            outcome = await self._record(db, row, attempt)
        count_webhook_attempt(outcome)

    async def _record(self, db: AsyncConnection, row: Row, attempt: Attempt) -> str:
        """Store the outcome and return its name for the metrics."""
        now, number = clock.now(), row.attempts + 1
        is_gone = attempt.error is DeliveryError.gone
        next_time = find_next_attempt(number, now) if attempt.error and not is_gone else None
        state = EventState.delivered if attempt.error is None else EventState.failed
        values: dict[str, Any] = {
            "state": state if next_time is None else EventState.waiting,
            "next_attempt_time": next_time,
            "last_attempt_time": now,
            "last_status": attempt.status,
            "last_error": attempt.error,
        }
        if is_gone:
            await records.lock_endpoint(db, self.scope, self.endpoint_id)
        await delivery_records.record_attempt(
            db, self.scope, row.delivery_id, attempt=number, **values
        )
        if is_gone:
            await disable_endpoint(db, self.scope, self.endpoint_id, at=now, reason=GONE)
            return GONE
        return "retried" if next_time is not None else str(state)


async def disable_endpoint(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, *, at: datetime, reason: str
) -> None:
    """Send nothing more to the endpoint; what waits can be replayed later."""
    await records.change_endpoint(db, scope, endpoint_id, at, enabled=False, disabled_reason=reason)
    await delivery_records.fail_waiting_deliveries(db, scope, endpoint_id)
