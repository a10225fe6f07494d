"""The audit log over HTTP, with its bodies, times and names; paths are relative to /m/core."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from litestar.params import FromQuery, QueryParameter
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.gate import Audience
from nimbill.access.hooks import ListGroupNames
from nimbill.access.role_actions import RoleAction
from nimbill.audit import records
from nimbill.audit.batch_verification import verify_in_batches
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.list_parameters import ReportTotal, Search, WithDetails
from nimbill.http.request_bodies import Body
from nimbill.http.routing import Offset, RequestCaller, Transaction, WorkerResources, get
from nimbill.identity.users.records import load_usernames

ENTRIES_MAX = 1000
LIMIT_RULE = f"a whole number from 1 to {ENTRIES_MAX}"
EntryLimit = Annotated[int | None, QueryParameter(ge=1, le=ENTRIES_MAX, description=LIMIT_RULE)]
SEQ_MAX = 2**63 - 1
TIME_RULE = "a date or an RFC 3339 timestamp"
TIME_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].+)?$"
TIME_PARAMETER = {"pattern": TIME_PATTERN, "description": TIME_RULE}
ACTIONS_LENGTH_MAX = 10_000
SearchActions = Annotated[
    str | None,
    QueryParameter(
        max_length=ACTIONS_LENGTH_MAX,
        pattern="^[a-z0-9_]+(,[a-z0-9_]+)*$",
        description="actions that `search` finds too, separated by commas",
    ),
]


# See docs/choices.md, list-details.

_RESOURCES_OF_USERS = ("user", "userroles")


class AuditEntry(Body, frozen=True, kw_only=True):
    """A change with its actor, time, client and position in the hash chain."""

    basis: ClassVar[Basis] = chosen("audit-log")

    seq: int
    hash: str
    at: str
    actor: str
    actor_name: str
    client_id: str | None
    action: str
    resource: str
    company_id: str | None
    request_id: str
    sent: Any
    # with the parameter `details`; null if the caller cannot see it, or it was deleted
    billinggroup_name: str | UnsetType | None = UNSET  # of company_id
    object_username: str | UnsetType | None = UNSET  # of the user that the resource names


class AuditVerification(Body, frozen=True, kw_only=True):
    """`first_bad_row` and `reason` say where the chain is broken; both are null if it is intact."""

    basis: ClassVar[Basis] = chosen("audit-verification")

    intact: bool
    rows: int
    checkpoints: int
    first_bad_row: int | None
    reason: str | None
    verified_at: str


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


async def add_names(
    db: AsyncConnection,
    scope: TenantScope,
    entries: Sequence[AuditEntry],
    list_group_names: ListGroupNames,
) -> list[AuditEntry]:
    company_ids = {entry.company_id for entry in entries if entry.company_id is not None}
    groups = {
        group.company_id: group.billinggroup_name
        for group in await list_group_names(db, scope, company_ids)
    }
    user_ids = {find_user_id(entry.resource) for entry in entries}
    usernames = await load_usernames(db, scope, user_ids)
    return [
        replace(
            entry,
            billinggroup_name=groups.get(entry.company_id or ""),
            object_username=usernames.get(find_user_id(entry.resource)),
        )
        for entry in entries
    ]


def find_user_id(resource: str) -> str:
    """Read `user/{id}` and its parts; empty if the resource is no user."""
    kind, _, rest = resource.partition("/")
    return rest.partition("/")[0] if kind in _RESOURCES_OF_USERS else ""


def parse_start(name: str, text: str | None, violations: list[Violation]) -> datetime | None:
    """The time in UTC; a date is the start of the day."""
    return _parse(name, text, violations, days=0)


def parse_end(name: str, text: str | None, violations: list[Violation]) -> datetime | None:
    """The time in UTC; a date is the end of the day. None after the last possible date."""
    return _parse(name, text, violations, days=1)


def _parse(
    name: str, text: str | None, violations: list[Violation], *, days: int
) -> datetime | None:
    if text is None:
        return None
    try:
        if len(text) > len("yyyy-mm-dd"):
            parsed = msgspec.convert(text, datetime)
        elif (day := date.fromisoformat(text)) == date.max and days:
            return None
        else:
            parsed = datetime.combine(day + timedelta(days=days), time())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        violations.append(Violation(name, TIME_RULE))
        return None


ROUTES = [list_audit_entries, verify_audit_log]
