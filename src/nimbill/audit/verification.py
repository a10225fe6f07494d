"""Reading a whole chain and saying where, if anywhere, it breaks."""

import json
from dataclasses import dataclass
from pathlib import Path

from nimbill.audit import records
from nimbill.audit.chain import Break, first_break
from nimbill.audit.checkpoints import read_checkpoints
from nimbill.database.tenant_scope import TenantScope, engine_for, transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found


@dataclass(frozen=True, slots=True)
class Finding:
    organisation_id: str
    rows: int
    checkpoints: int
    first_bad: Break | None

    def as_json(self) -> str:
        bad = self.first_bad
        return json.dumps(
            {
                "organisation_id": self.organisation_id,
                "rows": self.rows,
                "checkpoints": self.checkpoints,
                "intact": bad is None,
                "first_bad_row": None if bad is None else bad.seq,
                "reason": None if bad is None else bad.reason,
            }
        )

    def as_sentence(self) -> str:
        seen = f"{self.rows} rows and {self.checkpoints} checkpoints of {self.organisation_id}"
        if self.first_bad is None:
            return f"intact: {seen}"
        return f"broken at row {self.first_bad.seq}, {self.first_bad.reason}: {seen}"


async def verify_chain(url: str, sealer: Encryptor, folder: Path, organisation_id: str) -> Finding:
    """Nothing is trusted but the key: rows, head and checkpoints must all agree."""
    scope = TenantScope(organisation_id)
    checkpoints = read_checkpoints(folder, sealer, organisation_id)
    engine = engine_for(url)
    try:
        async with transaction(engine, organisation_id) as db:
            head = await records.head(db, scope)
            links = [link async for link in records.links(db, scope)]
    finally:
        await engine.dispose()
    if head is None and not links and not checkpoints:
        raise not_found()
    bad = first_break(organisation_id, links, head=head, checkpoints=checkpoints)
    return Finding(organisation_id, len(links), len(checkpoints), bad)
