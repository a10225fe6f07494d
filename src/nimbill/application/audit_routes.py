"""The route of the audit log; paths are relative to /m/core."""

from typing import Annotated

from litestar.params import FromQuery, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.application.audit_bodies import AuditEntry
from nimbill.application.audit_times import PATTERN, RULE, parse_end, parse_start
from nimbill.audit import records
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.routing import RequestCaller, Transaction, get

ENTRIES_MAX = 1000
SEQ_MAX = 2**63 - 1
TIME_PARAMETER = {"pattern": PATTERN, "description": RULE}


@get(
    "/audit",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAudit],
    basis=chosen("audit-log"),
)
async def list_audit_entries(
    caller: RequestCaller,
    db: Transaction,
    since: Annotated[str | None, QueryParameter(name="from", **TIME_PARAMETER)] = None,
    until: Annotated[str | None, QueryParameter(name="to", **TIME_PARAMETER)] = None,
    actor: FromQuery[str | None] = None,
    resource: FromQuery[str | None] = None,
    before: Annotated[int | None, QueryParameter(ge=1, le=SEQ_MAX)] = None,
) -> list[AuditEntry]:
    """List changes, newest first, at most 1,000; `before` a seq returns the next page.

    `from` is inclusive and `to` is exclusive. A date is a day in UTC: `from` is its start and `to`
    its end, so that both days are included.
    """
    violations: list[Violation] = []
    start = parse_start("from", since, violations)
    end = parse_end("to", until, violations)
    refuse_if(violations)
    rows = await records.list_entries(
        db,
        caller.scope,
        since=None if start is None else records.format_timestamp(start),
        until=None if end is None else records.format_timestamp(end),
        actor=actor,
        resource=resource,
        before_seq=before,
        count_max=ENTRIES_MAX,
    )
    return [
        AuditEntry(seq=seq, hash=hash_.hex(), **exact_json.decode_stored(entry))
        for seq, entry, hash_ in rows
    ]


ROUTES = [list_audit_entries]
