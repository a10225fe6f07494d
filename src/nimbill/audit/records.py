"""Audit rows: appended in the transaction of the change, never updated or deleted."""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSON, distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit.chain import ChainedEntry
from nimbill.database.list_query import ListColumns, ListQuery, contains_text, fetch_page
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    fetch_row,
    is_any_of,
    metadata,
    of_tenant,
)
from nimbill.foundation import clock, exact_json

audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("entry", sa.Text, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sa.Column("at", sa.Text),
    sa.Column("actor", sa.Text),
    sa.Column("resource", sa.Text),
    sa.Column("company_id", sa.Text),
)

audit_heads = sa.Table(
    "audit_heads",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

INDEXED_LENGTH = 100  # characters of a resource in the index `audit_log_resource_idx`

_APPEND_ENTRIES = Path(__file__).with_name("append_entries.sql").read_text()


class AuditedChange(TypedDict):
    """Who did what to which record. `sent` is the request body without secrets."""

    actor: str
    actor_name: str
    action: str
    resource: str
    request_id: str
    company_id: NotRequired[str | None]
    client_id: NotRequired[str | None]
    sent: NotRequired[Any]


def describe_change(
    actor: Mapping[str, Any], *, action: str, resource: str, company_id: str | None, sent: Any
) -> AuditedChange:
    """Describe a change that has an audit row of its own. `actor` is what describes the caller."""
    return AuditedChange(
        actor=actor["actor"],
        actor_name=actor["actor_name"],
        client_id=actor.get("client_id"),
        request_id=actor["request_id"],
        action=action,
        resource=resource,
        company_id=company_id,
        sent=sent,
    )


def format_timestamp(at: datetime) -> str:
    """Format a UTC time so that the text sorts like the time."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


async def append_entry(db: AsyncConnection, **change: Unpack[AuditedChange]) -> None:
    """Append one row. Call it last before the commit: it locks the head of the chain."""
    await append_entries(db, [change])


async def append_entries(db: AsyncConnection, changes: Iterable[AuditedChange]) -> None:
    """Append one row per change, in order. Call it last before the commit, like `append_entry`."""
    await fetch_row(db, _APPEND_ENTRIES, [_format_entry(change) for change in changes])


def _format_entry(change: AuditedChange) -> str:
    entry: Mapping[str, Any] = {
        "at": format_timestamp(clock.now()),
        "actor": change["actor"],
        "actor_name": change["actor_name"],
        "client_id": change.get("client_id"),
        "action": change["action"],
        "resource": change["resource"],
        "company_id": change.get("company_id"),
        "request_id": change["request_id"],
        "sent": change.get("sent"),
    }
    return exact_json.encode(entry).decode()


_ENTRY = sa.cast(audit_log.c.entry, JSON)
_ACTION, _ACTOR_NAME = _ENTRY["action"].astext, _ENTRY["actor_name"].astext
_COLUMNS = ListColumns(
    table=audit_log,
    order=[audit_log.c.seq.desc()],
    searched=[audit_log.c.resource, audit_log.c.actor, _ACTION, _ACTOR_NAME],
    sortable={"seq": audit_log.c.seq},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which rows to list; None selects all. `since` is inclusive, `until` exclusive."""

    since: str | None = None
    until: str | None = None
    actor: str | None = None
    resource: str | None = None
    object_type: str | None = None  # the first word of the resource, such as `billinggroup`
    object_id: str | None = None  # the second one, such as a company_id
    action: str | None = None
    company_id: str | None = None
    before_seq: int | None = None

    def conditions(self) -> Iterator[sa.ColumnElement[bool]]:
        log = audit_log.c
        for column, value in (
            (log.actor, self.actor),
            (log.resource, self.resource),
            (sa.func.split_part(log.resource, "/", 1), self.object_type),
            (sa.func.split_part(log.resource, "/", 2), self.object_id),
            (log.company_id, self.company_id),
            (_ACTION, self.action),
        ):
            if value is not None:
                yield column == value
        if self.since is not None:
            yield log.at >= self.since
        if self.until is not None:
            yield log.at < self.until
        if self.before_seq is not None:
            yield log.seq < self.before_seq


async def list_entries(
    db: AsyncConnection,
    scope: TenantScope,
    selected: EntryFilter,
    query: ListQuery,
    *,
    found_actions: Collection[str] = (),
) -> tuple[list[ChainedEntry], int]:
    """List newest first. A caller restricted to billing groups sees only their changes.

    A search finds rows with one of `found_actions` too.
    """
    stmt = sa.select(audit_log.c.seq, audit_log.c.entry, audit_log.c.hash)
    stmt = stmt.where(*selected.conditions())
    if scope.billing_groups is not None:
        stmt = stmt.where(is_any_of(audit_log.c.company_id, scope.billing_groups))
    if query.search is not None:
        is_found = contains_text(_COLUMNS.searched, query.search)
        stmt = stmt.where(is_found | is_any_of(_ACTION, found_actions))
        query = replace(query, search=None)
    rows, total = await fetch_page(db, scope, stmt, _COLUMNS, query)
    return [ChainedEntry(row.seq, row.entry, row.hash) for row in rows], total


async def list_latest_entries(
    db: AsyncConnection, scope: TenantScope, resources: Collection[str]
) -> Sequence[Row]:
    """List resource and entry of the newest change to each of these resources."""
    log = audit_log.c
    # the index has a prefix of the resource, because an index cannot hold a text of any length
    prefixes = [resource[:INDEXED_LENGTH] for resource in resources]
    stmt = (
        sa.select(log.resource, log.entry)
        .where(
            of_tenant(audit_log, scope),
            sa.func.left(log.resource, sa.literal_column(str(INDEXED_LENGTH))).in_(prefixes),
            is_any_of(log.resource, resources),
        )
        .order_by(log.resource, log.seq.desc())
        .ext(distinct_on(log.resource))
    )
    return (await db.execute(stmt)).all()


async def find_latest_change(
    db: AsyncConnection, scope: TenantScope, resource: str
) -> dict[str, Any] | None:
    """Find the newest entry about the object or a part of it, such as `resource/invoices/aws`."""
    is_part = audit_log.c.resource.startswith(f"{resource}/", autoescape=True)
    stmt = (
        sa.select(audit_log.c.entry)
        .where(of_tenant(audit_log, scope), (audit_log.c.resource == resource) | is_part)
        .order_by(audit_log.c.seq.desc())
        .limit(1)
    )
    entry = (await db.execute(stmt)).scalar_one_or_none()
    return None if entry is None else exact_json.decode_stored(entry)


async def stream_chain(db: AsyncConnection, scope: TenantScope) -> AsyncIterator[ChainedEntry]:
    """Stream the whole chain, oldest first."""
    stmt = (
        sa.select(audit_log.c.seq, audit_log.c.entry, audit_log.c.hash)
        .where(of_tenant(audit_log, scope))
        .order_by(audit_log.c.seq)
    )
    async with db.stream(stmt) as rows:
        async for row in rows:
            yield ChainedEntry(row.seq, row.entry, row.hash)


async def list_chain(
    db: AsyncConnection, scope: TenantScope, *, after_seq: int, last_seq: int, count: int
) -> list[ChainedEntry]:
    """List this many rows of the chain behind a row, oldest first, at most to the last one."""
    stmt = (
        sa.select(audit_log.c.seq, audit_log.c.entry, audit_log.c.hash)
        .where(
            of_tenant(audit_log, scope), audit_log.c.seq > after_seq, audit_log.c.seq <= last_seq
        )
        .order_by(audit_log.c.seq)
        .limit(count)
    )
    return [ChainedEntry(row.seq, row.entry, row.hash) for row in await db.execute(stmt)]


async def load_head(db: AsyncConnection, scope: TenantScope) -> tuple[int, bytes] | None:
    stmt = sa.select(audit_heads.c.seq, audit_heads.c.hash).where(of_tenant(audit_heads, scope))
    row = (await db.execute(stmt)).one_or_none()
    return None if row is None else (row.seq, row.hash)
