"""Verification of a chain reports what a database superuser changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nimbill.audit import records
from nimbill.audit.chain import ChainBreak, genesis_hash, next_hash
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.audit.verification import VerificationResult, verify_chain
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.errors import NotFound
from tests.running_service import Service
from tests.temporary_database import execute_sql

ROWS = 6


@pytest.fixture
def organisation_id(service: Service) -> str:
    """An organisation with six rows in its chain."""
    organisation_id = service.organisation.organisation_id

    async def append() -> None:
        for number in range(2, ROWS + 1):
            async with transaction(service.resources.engine, organisation_id) as db:
                await records.append_entry(
                    db,
                    actor="usr_someone",
                    actor_name="someone",
                    action="test",
                    resource=f"thing/{number}",
                    request_id=f"req_{number}",
                    sent={"名": number},
                )

    service.run(append)
    return organisation_id


def verify(service: Service, organisation_id: str, folder: Path) -> VerificationResult:
    return service.run(
        lambda: verify_chain(
            service.database_url, service.resources.encryptor, folder, organisation_id
        )
    )


def set_checkpoint(service: Service, organisation_id: str, folder: Path) -> None:
    async def load_head() -> tuple[int, bytes] | None:
        async with transaction(service.resources.engine, organisation_id) as db:
            return await records.load_head(db, TenantScope(organisation_id))

    head = service.run(load_head)
    assert head is not None
    write_checkpoint(folder, service.resources.encryptor, organisation_id, *head)


def test_an_unchanged_chain_is_intact(
    service: Service, organisation_id: str, tmp_path: Path
) -> None:
    set_checkpoint(service, organisation_id, tmp_path)

    result = verify(service, organisation_id, tmp_path)

    assert result == VerificationResult(organisation_id, ROWS, 1, None)
    assert result.as_text() == f"intact: 6 rows and 1 checkpoints of {organisation_id}"
    assert json.loads(result.as_json()) == {
        "organisation_id": organisation_id,
        "rows": ROWS,
        "checkpoints": 1,
        "intact": True,
        "first_bad_row": None,
        "reason": None,
    }


TAMPERINGS: dict[str, tuple[str, int]] = {
    "edited": (
        (
            "UPDATE audit_log SET entry = replace(entry, 'someone', 'nobody')"
            " WHERE organisation_id = $1 AND seq = 3"
        ),
        3,
    ),
    "edited by a space": (
        "UPDATE audit_log SET entry = entry || ' ' WHERE organisation_id = $1 AND seq = 1",
        1,
    ),
    "hash edited": (
        "UPDATE audit_log SET hash = sha256('x') WHERE organisation_id = $1 AND seq = 6",
        6,
    ),
    "deleted": ("DELETE FROM audit_log WHERE organisation_id = $1 AND seq = 4", 4),
    "first deleted": ("DELETE FROM audit_log WHERE organisation_id = $1 AND seq = 1", 1),
    "tail cut": ("DELETE FROM audit_log WHERE organisation_id = $1 AND seq > 4", 5),
    "all deleted": ("DELETE FROM audit_log WHERE organisation_id = $1", 1),
    "inserted at the end": (
        (
            "INSERT INTO audit_log (organisation_id, seq, entry, hash)"
            " SELECT $1, 7, entry, hash FROM audit_log WHERE organisation_id = $1 AND seq = 6"
        ),
        7,
    ),
    "inserted before the first": (
        (
            "INSERT INTO audit_log (organisation_id, seq, entry, hash)"
            " SELECT $1, 0, entry, hash FROM audit_log WHERE organisation_id = $1 AND seq = 6"
        ),
        1,
    ),
    "reordered": (
        (
            "UPDATE audit_log a SET entry = b.entry, hash = b.hash FROM audit_log b"
            " WHERE a.organisation_id = $1 AND b.organisation_id = $1"
            " AND (a.seq, b.seq) IN ((2, 5), (5, 2))"
        ),
        2,
    ),
    "head hash edited": (
        "UPDATE audit_heads SET hash = sha256('x') WHERE organisation_id = $1",
        6,
    ),
    "head set back": ("UPDATE audit_heads SET seq = 4 WHERE organisation_id = $1", 5),
    "head set forward": ("UPDATE audit_heads SET seq = 9 WHERE organisation_id = $1", 7),
    "head deleted": ("DELETE FROM audit_heads WHERE organisation_id = $1", 6),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_tampering_is_reported_at_its_first_row(
    service: Service, superuser: Address, organisation_id: str, tmp_path: Path, tampering: str
) -> None:
    statement, seq = TAMPERINGS[tampering]
    execute_sql(superuser, statement, organisation_id)

    result = verify(service, organisation_id, tmp_path)

    assert result.first_break is not None
    assert result.first_break.seq == seq
    assert result.as_text().startswith(f"broken at row {seq}, ")
    assert json.loads(result.as_json())["first_bad_row"] == seq
    assert json.loads(result.as_json())["intact"] is False


def truncate_chain_and_head(superuser: Address, organisation_id: str) -> None:
    execute_sql(
        superuser, "DELETE FROM audit_log WHERE organisation_id = $1 AND seq > 4", organisation_id
    )
    execute_sql(
        superuser,
        "UPDATE audit_heads h SET seq = a.seq, hash = a.hash FROM audit_log a"
        " WHERE h.organisation_id = $1 AND a.organisation_id = $1 AND a.seq = 4",
        organisation_id,
    )


def rewrite_chain(superuser: Address, organisation_id: str) -> None:
    """Rewrite every row with correct hashes, as a superuser who knows the algorithm can."""
    rows = execute_sql(
        superuser,
        "SELECT seq, entry FROM audit_log WHERE organisation_id = $1 ORDER BY seq",
        organisation_id,
    )
    previous = genesis_hash(organisation_id)
    for row in rows:
        entry = row["entry"].replace("someone", "nobody")
        previous = next_hash(previous, seq=row["seq"], entry=entry)
        execute_sql(
            superuser,
            "UPDATE audit_log SET entry = $3, hash = $4 WHERE organisation_id = $1 AND seq = $2",
            *(organisation_id, row["seq"], entry, previous),
        )
    execute_sql(
        superuser,
        "UPDATE audit_heads SET hash = $2 WHERE organisation_id = $1",
        *(organisation_id, previous),
    )


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (truncate_chain_and_head, ChainBreak(5, "missing")),
        (rewrite_chain, ChainBreak(6, "rewritten since its checkpoint")),
    ],
)
def test_a_checkpoint_reveals_what_the_database_alone_hides(
    service: Service,
    superuser: Address,
    organisation_id: str,
    tmp_path: Path,
    tamper: Callable[[Address, str], None],
    expected: ChainBreak,
) -> None:
    set_checkpoint(service, organisation_id, tmp_path)
    tamper(superuser, organisation_id)

    assert verify(service, organisation_id, tmp_path / "no checkpoints").first_break is None
    assert verify(service, organisation_id, tmp_path).first_break == expected


def test_a_checkpoint_reveals_a_deleted_chain(
    service: Service, superuser: Address, organisation_id: str, tmp_path: Path
) -> None:
    set_checkpoint(service, organisation_id, tmp_path)
    for table in ("audit_log", "audit_heads"):
        execute_sql(superuser, f"DELETE FROM {table} WHERE organisation_id = $1", organisation_id)

    assert verify(service, organisation_id, tmp_path).first_break == ChainBreak(1, "missing")


def test_tampering_with_one_organisation_leaves_the_others_intact(
    service: Service, superuser: Address, organisation_id: str, tmp_path: Path
) -> None:
    other = service.new_organisation().organisation_id
    execute_sql(superuser, TAMPERINGS["edited"][0], organisation_id)

    assert verify(service, organisation_id, tmp_path).first_break is not None
    assert verify(service, other, tmp_path).first_break is None


def test_an_unknown_organisation_is_not_found(service: Service, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        verify(service, "org_unknown", tmp_path)
