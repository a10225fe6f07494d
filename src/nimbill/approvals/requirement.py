"""Refuses an operation that needs the approval of a second person.

Each operation calls `require_approval` itself, so that no route, user or command can go around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.required_kinds import load_required_kinds
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, Violation


@dataclass(frozen=True, slots=True)
class ApprovedRequest:
    """A request while it is executed or tried. Only `approvals/operations.py` creates it."""

    approval_id: str
    kind: ApprovalKind


async def is_approval_required(db: AsyncConnection, scope: TenantScope, kind: ApprovalKind) -> bool:
    return kind in await load_required_kinds(db, scope)


async def require_approval(
    db: AsyncConnection, scope: TenantScope, kind: ApprovalKind, approved: ApprovedRequest | None
) -> None:
    """Refuse the operation if its organisation requires an approval that it does not have."""
    if approved is not None and approved.kind is kind:
        return
    if await is_approval_required(db, scope, kind):
        raise approval_required(kind)


def approval_required(kind: ApprovalKind, violations: Sequence[Violation] = ()) -> Conflict:
    return Conflict(
        "approval_required",
        "This organisation requires the approval of a second person, so nothing was changed. "
        f"Request it with POST /m/core/approvals, kind {kind}, or on the page of the console.",
        violations,
    )
