"""The kinds of work that come back by themselves, and the first row of each."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.jobs import records

AUDIT_CHECKPOINT = "audit_checkpoint"
FORGET_IDEMPOTENCY_KEYS = "forget_idempotency_keys"
FORGET_LOGINS = "forget_logins"
FORGET_EXPORTS = "forget_exports"


async def schedule_maintenance(db: AsyncConnection, scope: TenantScope) -> None:
    """For a new organisation, in the transaction that makes it."""
    for kind in (AUDIT_CHECKPOINT, FORGET_EXPORTS, FORGET_IDEMPOTENCY_KEYS, FORGET_LOGINS):
        await records.add_job(db, scope, kind, due=clock.now(), subject="upkeep")
