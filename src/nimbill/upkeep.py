"""Work that comes back by itself for every organisation: checkpoints and forgetting."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill import clock, idempotency
from nimbill.audit import records as audit
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.seal import Sealer
from nimbill.storage import Scope
from nimbill.work import records as work
from nimbill.work.runner import Kind, Taken

AUDIT_CHECKPOINT = "audit_checkpoint"
FORGET_IDEMPOTENCY_KEYS = "forget_idempotency_keys"


async def schedule_upkeep(db: AsyncConnection, scope: Scope) -> None:
    """For a new organisation, in the transaction that makes it."""
    for kind in (AUDIT_CHECKPOINT, FORGET_IDEMPOTENCY_KEYS):
        await work.add_work(db, scope, kind, due=clock.now(), subject="upkeep")


def upkeep_kinds(checkpoint_folder: Path, sealer: Sealer) -> list[Kind]:
    async def checkpoint(db: AsyncConnection, taken: Taken) -> None:
        head = await audit.head(db, taken.scope)
        if head is not None:
            seq, hash_ = head
            write_checkpoint(checkpoint_folder, sealer, taken.scope.organisation_id, seq, hash_)

    async def forget(db: AsyncConnection, taken: Taken) -> None:
        await idempotency.forget_old_keys(db, taken.scope)

    return [
        Kind(AUDIT_CHECKPOINT, checkpoint, every=timedelta(hours=1)),
        Kind(FORGET_IDEMPOTENCY_KEYS, forget, every=timedelta(days=1)),
    ]
