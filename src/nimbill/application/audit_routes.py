"""The route of the audit log; paths are relative to /m/core."""

from typing import Annotated, Literal

from litestar.params import FromQuery, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.application.audit_bodies import AuditEntry, AuditVerification
from nimbill.application.audit_names import add_names
from nimbill.application.audit_times import PATTERN, RULE, parse_end, parse_start
from nimbill.audit import records
from nimbill.audit.batch_verification import verify_in_batches
from nimbill.database.list_query import ListQuery
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.list_parameters import ReportTotal, Search, WithDetails
from nimbill.http.routing import Offset, RequestCaller, Transaction, WorkerResources, get

ENTRIES_MAX = 1000
LIMIT_RULE = f"a whole number from 1 to {ENTRIES_MAX}"
EntryLimit = Annotated[int | None, QueryParameter(ge=1, le=ENTRIES_MAX, description=LIMIT_RULE)]
SEQ_MAX = 2**63 - 1
TIME_PARAMETER = {"pattern": PATTERN, "description": RULE}
ACTIONS_LENGTH_MAX = 10_000
SearchActions = Annotated[
    str | None,
    QueryParameter(
        max_length=ACTIONS_LENGTH_MAX,
        pattern="^[a-z0-9_]+(,[a-z0-9_]+)*$",
        description="actions that `search` finds too, separated by commas",
    ),
]


@get(
    "/audit",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAudit],
    basis=chosen("audit-log"),
    counted=True,
)
async def list_audit_entries(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    resources: WorkerResources,
    since: Annotated[str | None, QueryParameter(name="from", **TIME_PARAMETER)] = None,
    until: Annotated[str | None, QueryParameter(name="to", **TIME_PARAMETER)] = None,
    actor: FromQuery[str | None] = None,
    resource: FromQuery[str | None] = None,
    object_type: FromQuery[str | None] = None,
    object_id: FromQuery[str | None] = None,
    action: FromQuery[str | None] = None,
    company_id: FromQuery[str | None] = None,
    before: Annotated[int | None, QueryParameter(ge=1, le=SEQ_MAX)] = None,
    limit: EntryLimit = None,
    offset: Offset = 0,
    search: Search = None,
    search_actions: SearchActions = None,
    sort: FromQuery[Literal["seq", "-seq"] | None] = None,
    details: WithDetails = False,
) -> list[AuditEntry]:
    """List changes, newest first, at most 1,000; `before` a seq returns the next page.

    `from` is inclusive and `to` is exclusive. A date is a day in UTC: `from` is its start and `to`
    its end, so that both days are included. A resource is `object_type/object_id`, sometimes with
    a part of the object behind it: `billinggroup/cmp_1/invoices/aws`. `search` looks in resource,
    actor, actor_name and action; `search_actions` are actions that it finds too, because a page
    shows them under names that contain the text. `details` adds the names of billing groups and of
    users.
    """
    first, last = _parse_period(since, until)
    selected = records.EntryFilter(
        since=first,
        until=last,
        actor=actor,
        resource=resource,
        object_type=object_type,
        object_id=object_id,
        action=action,
        company_id=company_id,
        before_seq=before,
    )
    # Counting a long log takes time, so only callers that page through it get a total.
    is_counted = limit is not None
    query = ListQuery(limit or ENTRIES_MAX, offset, search, sort, is_counted)
    found_actions = search_actions.split(",") if search_actions else ()
    rows, total = await records.list_entries(
        db, caller.scope, selected, query, found_actions=found_actions
    )
    if is_counted:
        report_total(total)
    entries = [
        AuditEntry(seq=seq, hash=hash_.hex(), **exact_json.decode_stored(entry))
        for seq, entry, hash_ in rows
    ]
    if not details:
        return entries
    return await add_names(db, caller.scope, entries, resources.hooks.list_group_names)


def _parse_period(since: str | None, until: str | None) -> tuple[str | None, str | None]:
    """Return both limits as entries store times. Refuse those that are no times."""
    violations: list[Violation] = []
    start = parse_start("from", since, violations)
    end = parse_end("to", until, violations)
    refuse_if(violations)
    return (
        None if start is None else records.format_timestamp(start),
        None if end is None else records.format_timestamp(end),
    )


@get(
    "/audit/verification",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAudit],
    basis=chosen("audit-verification"),
)
async def verify_audit_log(
    caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> AuditVerification:
    """Verify the hash chain of the audit log now, against its head and its checkpoints."""
    result = await verify_in_batches(
        db, caller.scope, resources.encryptor, resources.settings.data / "audit"
    )
    broken = result.first_break
    return AuditVerification(
        intact=broken is None,
        rows=result.rows,
        checkpoints=result.checkpoints,
        first_bad_row=None if broken is None else broken.seq,
        reason=None if broken is None else broken.reason,
        verified_at=clock.format_timestamp(clock.now()),
    )


ROUTES = [list_audit_entries, verify_audit_log]
