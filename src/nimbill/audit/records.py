"""Audit rows: appended in the transaction of the change, never updated, never deleted."""

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any, NotRequired, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit.chain import Link
from nimbill.database.tenant_scope import TenantScope, fetch_row, metadata, visible_rows
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

_APPEND = "SELECT append_audit($1)"
_APPEND_ALL = "SELECT append_audit(entry) FROM unnest($1::text[]) AS entry"


class Change(TypedDict):
    """Who did what to which record; `sent` is what was asked for, without secrets."""

    actor: str
    actor_name: str
    action: str
    resource: str
    request_id: str
    company_id: NotRequired[str | None]
    client_id: NotRequired[str | None]
    sent: NotRequired[Any]


def moment(at: datetime) -> str:
    """A timestamp whose text sorts as its time does; of a time in UTC."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


async def append(db: AsyncConnection, **change: Unpack[Change]) -> None:
    """One row for one change. The last statement before commit: it locks the chain's head."""
    await fetch_row(db, _APPEND, _entry(change))


async def append_all(db: AsyncConnection, changes: Iterable[Change]) -> None:
    """A row for each of many changes, in their order; the last statement before commit as well."""
    await fetch_row(db, _APPEND_ALL, [_entry(change) for change in changes])


def _entry(change: Change) -> str:
    entry: Mapping[str, Any] = {
        "at": moment(clock.now()),
        "actor": change["actor"],
        "actor_name": change["actor_name"],
        "client_id": change.get("client_id"),
        "action": change["action"],
        "resource": change["resource"],
        "company_id": change.get("company_id"),
        "request_id": change["request_id"],
        "sent": change.get("sent"),
    }
    return exact_json.write(entry).decode()


async def list_entries(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    since: str | None,
    until: str | None,
    actor: str | None,
    resource: str | None,
    before_seq: int | None,
    count_max: int,
) -> list[Link]:
    """Newest first. Who is narrowed to some billing groups sees the changes to those alone."""
    question = (
        sa.select(audit_log.c.seq, audit_log.c.entry, audit_log.c.hash)
        .where(audit_log.c.organisation_id == scope.organisation_id)
        .order_by(audit_log.c.seq.desc())
        .limit(count_max)
    )
    if scope.billing_groups is not None:
        question = question.where(visible_rows(audit_log.c.company_id, scope.billing_groups))
    if since is not None:
        question = question.where(audit_log.c.at >= since)
    if until is not None:
        question = question.where(audit_log.c.at < until)
    if actor is not None:
        question = question.where(audit_log.c.actor == actor)
    if resource is not None:
        question = question.where(audit_log.c.resource == resource)
    if before_seq is not None:
        question = question.where(audit_log.c.seq < before_seq)
    return [Link(row.seq, row.entry, row.hash) for row in await db.execute(question)]


async def links(db: AsyncConnection, scope: TenantScope) -> AsyncIterator[Link]:
    """The whole chain, oldest first, without holding it in memory."""
    question = (
        sa.select(audit_log.c.seq, audit_log.c.entry, audit_log.c.hash)
        .where(audit_log.c.organisation_id == scope.organisation_id)
        .order_by(audit_log.c.seq)
    )
    async with db.stream(question) as rows:
        async for row in rows:
            yield Link(row.seq, row.entry, row.hash)


async def head(db: AsyncConnection, scope: TenantScope) -> tuple[int, bytes] | None:
    question = sa.select(audit_heads.c.seq, audit_heads.c.hash).where(
        audit_heads.c.organisation_id == scope.organisation_id
    )
    row = (await db.execute(question)).one_or_none()
    return None if row is None else (row.seq, row.hash)
