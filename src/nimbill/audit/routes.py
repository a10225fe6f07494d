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
from nimbill.errors import Violation, refuse_if
from nimbill.web import CallerOfRequest, Transaction, get

ENTRIES_MAX = 1000
SEQ_MAX = 2**63 - 1


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
    before: Annotated[int | None, QueryParameter(ge=1, le=SEQ_MAX)] = None,
) -> list[AuditEntry]:
    """Changes, newest first, at most 1,000; `before` a seq pages on."""
    rows = await records.list_entries(
        db,
        caller.scope,
        since=_moment("from", since),
        until=_moment("to", until),
        actor=actor,
        resource=resource,
        before_seq=before,
        count_max=ENTRIES_MAX,
    )
    return [
        AuditEntry(seq=seq, hash=hash_.hex(), **exact_json.read_own(entry))
        for seq, entry, hash_ in rows
    ]


def _moment(name: str, at: datetime | None) -> str | None:
    """A time without an offset is taken as UTC; one beyond the calendar's ends is refused."""
    if at is None:
        return None
    try:
        in_utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        refuse_if([Violation(name, "an RFC 3339 timestamp")])
        raise
    return records.moment(in_utc)


ROUTES = [list_audit_entries]
