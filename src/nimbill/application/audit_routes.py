"""The audit log over HTTP; paths are relative to /m/core."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

import msgspec
from litestar.params import FromQuery, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.application.audit_bodies import AuditEntry
from nimbill.audit import records
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.routing import CallerOfRequest, Transaction, get

ENTRIES_MAX = 1000
SEQ_MAX = 2**63 - 1
MOMENT = {
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].+)?$",
    "description": "a date or an RFC 3339 timestamp",
}


@get(
    "/audit",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAudit],
    basis=chosen("audit-log"),
)
async def list_audit_entries(
    caller: CallerOfRequest,
    db: Transaction,
    since: Annotated[str | None, QueryParameter(name="from", **MOMENT)] = None,
    until: Annotated[str | None, QueryParameter(name="to", **MOMENT)] = None,
    actor: FromQuery[str | None] = None,
    resource: FromQuery[str | None] = None,
    before: Annotated[int | None, QueryParameter(ge=1, le=SEQ_MAX)] = None,
) -> list[AuditEntry]:
    """Changes, newest first, at most 1,000; `before` a seq pages on.

    From the moment `from` on and before the moment `to`. Of a plain date, which is a day in UTC,
    `from` is its beginning and `to` its end, so that both days are shown.
    """
    wrong: list[Violation] = []
    first, last = _moment("from", since, wrong), _moment("to", until, wrong, days=1)
    refuse_if(wrong)
    rows = await records.list_entries(
        db,
        caller.scope,
        since=first,
        until=last,
        actor=actor,
        resource=resource,
        before_seq=before,
        count_max=ENTRIES_MAX,
    )
    return [
        AuditEntry(seq=seq, hash=hash_.hex(), **exact_json.read_own(entry))
        for seq, entry, hash_ in rows
    ]


def _moment(name: str, written: str | None, wrong: list[Violation], days: int = 0) -> str | None:
    """In UTC where no offset is given; a date is so many days after its beginning."""
    if written is None:
        return None
    try:
        if len(written) > len("yyyy-mm-dd"):
            at = msgspec.convert(written, datetime)
        elif (day := date.fromisoformat(written)) == date.max and days:
            return None
        else:
            at = datetime.combine(day + timedelta(days=days), time())
        in_utc = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        wrong.append(Violation(name, MOMENT["description"]))
        return None
    return records.format_timestamp(in_utc)


ROUTES = [list_audit_entries]
