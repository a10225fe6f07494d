"""The audit log over HTTP; paths are relative to /m/core."""

from datetime import UTC, datetime
from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from nimbill import exact_json
from nimbill.access.guards import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.audit import records
from nimbill.audit.bodies import AuditEntry
from nimbill.basis import chosen
from nimbill.web import CallerOfRequest, Transaction, get

ENTRIES_MAX = 1000


@get(
    "/audit",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAudit],
    basis=chosen("audit-log"),
)
async def list_audit_entries(
    caller: CallerOfRequest,
    db: Transaction,
    since: Annotated[datetime | None, QueryParameter(name="from")] = None,
    until: Annotated[datetime | None, QueryParameter(name="to")] = None,
    actor: FromQuery[str | None] = None,
    resource: FromQuery[str | None] = None,
    before: FromQuery[int | None] = None,
) -> list[AuditEntry]:
    """Changes, newest first, at most 1,000; `before` a seq pages on."""
    rows = await records.list_entries(
        db,
        caller.scope,
        since=None if since is None else records.moment(_utc(since)),
        until=None if until is None else records.moment(_utc(until)),
        actor=actor,
        resource=resource,
        before_seq=before,
        count_max=ENTRIES_MAX,
    )
    return [
        AuditEntry(seq=seq, hash=hash_.hex(), **exact_json.read(entry.encode()))
        for seq, entry, hash_ in rows
    ]


def _utc(at: datetime) -> datetime:
    """A time without an offset is taken as UTC."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


ROUTES = [list_audit_entries]
