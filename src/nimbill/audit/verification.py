"""Verify the chain of an organisation against its head and its checkpoints."""

import json
from dataclasses import dataclass
from pathlib import Path

from nimbill.audit import records
from nimbill.audit.chain import ChainBreak, find_first_break
from nimbill.audit.checkpoints import read_checkpoints
from nimbill.database.tenant_scope import TenantScope, create_app_engine, transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found


@dataclass(frozen=True, slots=True)
class VerificationResult:
    organisation_id: str
    rows: int
    checkpoints: int
    first_break: ChainBreak | None

    def as_json(self) -> str:
        return json.dumps(
            {
                "organisation_id": self.organisation_id,
                "rows": self.rows,
                "checkpoints": self.checkpoints,
                "intact": self.first_break is None,
                "first_bad_row": None if self.first_break is None else self.first_break.seq,
                "reason": None if self.first_break is None else self.first_break.reason,
            }
        )

    def as_text(self) -> str:
        checked = f"{self.rows} rows and {self.checkpoints} checkpoints of {self.organisation_id}"
        if self.first_break is None:
            return f"intact: {checked}"
        return f"broken at row {self.first_break.seq}, {self.first_break.reason}: {checked}"


async def verify_chain(
    url: str, encryptor: Encryptor, folder: Path, organisation_id: str
) -> VerificationResult:
    """Trust only the key: rows, head and checkpoints must all agree."""
    scope = TenantScope(organisation_id)
    checkpoints = read_checkpoints(folder, encryptor, organisation_id)
    engine = create_app_engine(url)
    try:
        async with transaction(engine, organisation_id) as db:
            head = await records.load_head(db, scope)
            entries = [entry async for entry in records.stream_chain(db, scope)]
    finally:
        await engine.dispose()
    if head is None and not entries and not checkpoints:
        raise not_found()
    first_break = find_first_break(organisation_id, entries, head=head, checkpoints=checkpoints)
    return VerificationResult(organisation_id, len(entries), len(checkpoints), first_break)
