"""Verifies the chain in batches, so that a long log fits into memory and blocks no request."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records
from nimbill.audit.chain import ChainBreak, ChainedEntry, find_first_break
from nimbill.audit.checkpoints import read_checkpoints
from nimbill.audit.verification import VerificationResult
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.encryption import Encryptor

BATCH_ROWS = 5_000


async def verify_in_batches(
    db: AsyncConnection, scope: TenantScope, encryptor: Encryptor, folder: Path
) -> VerificationResult:
    """Compare rows, head and checkpoints. Rows that are written meanwhile are not read.

    A thread computes the hashes and asks the event loop for the next rows.
    """
    loop = asyncio.get_running_loop()
    head = await records.load_head(db, scope)
    last_seq = 0 if head is None else head[0]

    def iterate_entries() -> Iterator[ChainedEntry]:
        seq = 0
        while True:
            query = records.list_chain(
                db, scope, after_seq=seq, last_seq=last_seq, count=BATCH_ROWS
            )
            batch = asyncio.run_coroutine_threadsafe(query, loop).result()
            yield from batch
            if len(batch) < BATCH_ROWS:
                return
            seq = batch[-1].seq

    def verify() -> tuple[ChainBreak | None, int]:
        checkpoints = read_checkpoints(folder, encryptor, scope.organisation_id)
        found = find_first_break(
            scope.organisation_id, iterate_entries(), head=head, checkpoints=checkpoints
        )
        return found, len(checkpoints)

    first_break, checkpoints = await asyncio.to_thread(verify)
    return VerificationResult(scope.organisation_id, last_seq, checkpoints, first_break)
