"""Recurring maintenance jobs of an organisation, and their first scheduling."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.jobs import records

AUDIT_CHECKPOINT = "audit_checkpoint"
DELETE_IDEMPOTENCY_KEYS = "delete_idempotency_keys"
DELETE_EXPIRED_LOGINS = "delete_expired_logins"
DELETE_EXPORTS = "delete_exports"
EXPIRE_APPROVALS = "expire_approvals"


async def schedule_maintenance(db: AsyncConnection, scope: TenantScope) -> None:
    """Schedule the recurring jobs of a new organisation in the transaction that creates it."""
    for job_type in (
        AUDIT_CHECKPOINT,
        DELETE_EXPORTS,
        DELETE_IDEMPOTENCY_KEYS,
        DELETE_EXPIRED_LOGINS,
        EXPIRE_APPROVALS,
    ):
        await records.add_job(db, scope, job_type, due=clock.now(), subject="maintenance")
