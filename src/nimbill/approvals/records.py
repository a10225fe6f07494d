"""Stored approval requests and the queries on them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.database.list_query import ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant

approval_requests = sa.Table(
    "approval_requests",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("approval_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),  # JSON, like body, review and result
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("review", sa.Text, nullable=False),
    sa.Column("review_hash", sa.Text, nullable=False),
    sa.Column("result", sa.Text, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("company_ids", ARRAY(sa.Text)),  # null: it belongs to no single billing groups
    sa.Column("makers", ARRAY(sa.Text), nullable=False),
    sa.Column("requested_by", sa.Text, nullable=False),
    sa.Column("requested_by_name", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expire_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("decided_by", sa.Text),
    sa.Column("decided_by_name", sa.Text),
    sa.Column("decide_time", sa.DateTime(timezone=True)),
    sa.Column("reason", sa.Text),
)
_requests = approval_requests.c
REQUESTED = "requested"

_COLUMNS = ListColumns(
    table=approval_requests,
    order=[_requests.create_time.desc(), _requests.approval_id],
    searched=[
        _requests.approval_id,
        _requests.kind,
        _requests.target,
        _requests.comment,
        _requests.requested_by_name,
    ],
    sortable={
        "create_time": _requests.create_time,
        "expire_time": _requests.expire_time,
        "kind": _requests.kind,
        "requested_by": _requests.requested_by_name,
    },
)


async def add_request(db: AsyncConnection, scope: TenantScope, values: Mapping[str, Any]) -> None:
    await db.execute(
        sa.insert(approval_requests).values(organisation_id=scope.organisation_id, **values)
    )


class ApprovalSelection(NamedTuple):
    """Which requests are listed; None selects all."""

    state: str | None
    kind: ApprovalKind | None
    requested_by: str | None
    at: datetime


def _filter_visible(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """Callers restricted to billing groups see requests that concern these groups alone."""
    if scope.billing_groups is None:
        return []
    return [_requests.company_ids.contained_by(sorted(scope.billing_groups))]


def _is_request(scope: TenantScope, approval_id: str) -> list[sa.ColumnElement[bool]]:
    return [
        of_tenant(approval_requests, scope),
        _requests.approval_id == approval_id,
        *_filter_visible(scope),
    ]


async def list_requests(
    db: AsyncConnection, scope: TenantScope, selection: ApprovalSelection, query: ListQuery
) -> Page:
    """The newest first, without what is reviewed. A request expires by its time, not by a job."""
    long_columns = ("body", "review", "result")
    stmt = sa.select(
        *(column for column in approval_requests.c if column.name not in long_columns)
    ).where(*_filter_visible(scope))
    is_expired = _requests.expire_time <= selection.at
    match selection.state:
        case None:
            pass
        case "requested":
            stmt = stmt.where(_requests.state == REQUESTED, sa.not_(is_expired))
        case "expired":
            stmt = stmt.where(
                (_requests.state == "expired") | ((_requests.state == REQUESTED) & is_expired)
            )
        case state:
            stmt = stmt.where(_requests.state == state)
    if selection.kind is not None:
        stmt = stmt.where(_requests.kind == selection.kind)
    if selection.requested_by is not None:
        stmt = stmt.where(_requests.requested_by == selection.requested_by)
    return await fetch_page(db, scope, stmt, _COLUMNS, query)


async def find_request(db: AsyncConnection, scope: TenantScope, approval_id: str) -> Row | None:
    stmt = sa.select(approval_requests).where(*_is_request(scope, approval_id))
    return (await db.execute(stmt)).one_or_none()


async def lock_request(db: AsyncConnection, scope: TenantScope, approval_id: str) -> Row | None:
    """Lock the row until the transaction ends, so that a request is decided once."""
    stmt = sa.select(approval_requests).where(*_is_request(scope, approval_id))
    return (await db.execute(stmt.with_for_update())).one_or_none()


async def decide_request(
    db: AsyncConnection, scope: TenantScope, approval_id: str, **values: Any
) -> bool:
    """Return False if the request was decided before."""
    stmt = (
        sa.update(approval_requests)
        .where(*_is_request(scope, approval_id), _requests.state == REQUESTED)
        .values(**values)
    )
    return bool((await db.execute(stmt)).rowcount)


async def expire_requests(
    db: AsyncConnection, scope: TenantScope, *, at: datetime
) -> Sequence[Row]:
    """Mark what nobody decided in time, and return it."""
    stmt = (
        sa.update(approval_requests)
        .where(
            of_tenant(approval_requests, scope),
            _requests.state == REQUESTED,
            _requests.expire_time <= at,
        )
        .values(state="expired", decide_time=at)
        .returning(_requests.approval_id, _requests.kind, _requests.company_ids)
    )
    return (await db.execute(stmt)).all()
