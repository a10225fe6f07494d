"""The tables of reservations and of their moves, and the queries on both."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceRecord
from nimbill.adjustments.reserved_instances.split_rules import limit_moves
from nimbill.adjustments.reserved_instances.vendor_values import format_time
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.list_query import COMPLETE, ListQuery
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata
from nimbill.foundation.vendors import BilledVendor

TEXT_COLUMNS = (
    "instance_type",
    "modification_status",
    "offer_class",
    "paid_by",
    "payment_option",
    "platform",
    "region",
    "scope",
    "service",
    "tenancy",
    "term_length",
    "usage_type",
    "zone",
)

reserved_instances = sa.Table(
    "reserved_instances",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("ri_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("reservation_id", sa.Text, nullable=False),
    sa.Column("customer_id", sa.Text, nullable=False),  # the owner
    sa.Column("arn", sa.Text, nullable=False),
    sa.Column("start_time", sa.DateTime(timezone=True)),
    sa.Column("end_time", sa.DateTime(timezone=True)),
    *(sa.Column(name, sa.Text, nullable=False) for name in TEXT_COLUMNS),
    sa.Column("normalization_factor", sa.Numeric, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),  # in its newest month
    sa.Column("unblended_rate", sa.Numeric, nullable=False),
    sa.Column("upfront_value", sa.Numeric, nullable=False),
)

reservation_moves = sa.Table(
    "reservation_moves",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("move_id", sa.Text, primary_key=True),  # the id of the moved record
    sa.Column("ri_id", sa.Text, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # among the moves of its reservation
    sa.Column("dest_customer_id", sa.Text, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    # the count of closings at that time: a closed month keeps the moves it was closed with
    sa.Column("created_after_closing", sa.Integer, nullable=False),
    sa.Column("removed_after_closing", sa.Integer),
    # the destination while the move is active: a foreign key, so that it cannot be deleted
    sa.Column("account_in_use", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_ri, _moves = reserved_instances.c, reservation_moves.c
_owners = cloud_accounts.alias("owners")
_destinations = cloud_accounts.alias("destinations")


def _join_account(accounts: Any, customer_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    condition: sa.ColumnElement[bool] = (
        (accounts.c.organisation_id == _ri.organisation_id)
        & (accounts.c.customer_id == customer_id)
        & (accounts.c.vendor == _ri.vendor)
    )
    return condition


_ACTIVE_MOVE = (
    (_moves.organisation_id == _ri.organisation_id)
    & (_moves.ri_id == _ri.ri_id)
    & _moves.removed_after_closing.is_(None)
)
_OWNER_GROUP = (billing_groups.c.organisation_id == _owners.c.organisation_id) & (
    billing_groups.c.company_id == _owners.c.company_id
)


_SEARCHED = (
    "id",
    "arn",
    "customer_id",
    "customer_name",
    "billinggroup_id",
    "billinggroup_name",
    "instance_type",
    "region",
)


async def list_reserved_instances(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: BilledVendor,
    now: datetime,
    query: ListQuery = COMPLETE,
) -> tuple[list[ReservedInstanceRecord], int]:
    """List each reservation followed by its moves; a page contains whole reservations.

    One statement reads both, so that their numbers always add up. The total counts reservations.
    """
    stmt = (
        sa.select(
            reserved_instances,
            sa.func.coalesce(_owners.c.name, "").label("customer_name"),
            sa.func.coalesce(billing_groups.c.billinggroup_id, "").label("billinggroup_id"),
            sa.func.coalesce(billing_groups.c.billinggroup_name, "").label("billinggroup_name"),
            _moves.move_id,
            _moves.dest_customer_id,
            _moves.number.label("moved"),
            _destinations.c.company_id.label("dest_company_id"),
        )
        .join_from(
            reserved_instances, _owners, _join_account(_owners, _ri.customer_id), isouter=True
        )
        .join(billing_groups, _OWNER_GROUP, isouter=True)
        .join(reservation_moves, _ACTIVE_MOVE, isouter=True)
        .join(_destinations, _join_account(_destinations, _moves.dest_customer_id), isouter=True)
        .where(_ri.organisation_id == scope.organisation_id, _ri.vendor == vendor)
        .where(*_filter_visible_owner(scope))
        .order_by(_ri.customer_id, _ri.reservation_id, _moves.position)
    )
    rows = (await db.execute(stmt)).all()
    reservations = [
        list(_build_records(list(moves), scope, vendor, now))
        for _, moves in groupby(rows, key=lambda row: row.ri_id)
    ]
    found = _sort_reservations(_find_reservations(reservations, query.search), query)
    return [record for reservation in found[query.page] for record in reservation], len(found)


def _find_reservations(
    reservations: list[list[ReservedInstanceRecord]], search: str | None
) -> list[list[ReservedInstanceRecord]]:
    if search is None:
        return reservations
    text = search.lower()
    return [
        reservation
        for reservation in reservations
        if any(text in getattr(r, name).lower() for r in reservation for name in _SEARCHED)
    ]


def _sort_reservations(
    reservations: list[list[ReservedInstanceRecord]], query: ListQuery
) -> list[list[ReservedInstanceRecord]]:
    """Sort by a field of the owner's record; reservations with equal values keep their order."""
    column = query.sort_column
    if column is None:
        return reservations
    return sorted(reservations, key=lambda r: getattr(r[0], column), reverse=query.is_descending)


def _filter_visible_owner(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """Users restricted to certain billing groups cannot see accounts in no billing group."""
    if scope.billing_groups is None:
        return []
    return [is_any_of(_owners.c.company_id, scope.billing_groups)]


def _build_records(
    rows: Sequence[Row], scope: TenantScope, vendor: BilledVendor, now: datetime
) -> Iterator[ReservedInstanceRecord]:
    """Build the owner's record with the remaining instances, then one for each visible move."""
    moves = [row for row in rows if row.move_id is not None]
    numbers = limit_moves(rows[0].number, [row.moved for row in moves])
    yield _build_record(rows[0], vendor, now, number=rows[0].number - sum(numbers), move=None)
    for row, number in zip(moves, numbers, strict=True):
        if scope.billing_groups is None or row.dest_company_id in scope.billing_groups:
            yield _build_record(row, vendor, now, number=number, move=row)


def _build_record(
    row: Row, vendor: BilledVendor, now: datetime, *, number: int, move: Row | None
) -> ReservedInstanceRecord:
    record_id = row.ri_id if vendor == "aws" else row.reservation_id
    is_expired = row.end_time is not None and row.end_time <= now
    return ReservedInstanceRecord(
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        customer_id=row.customer_id,
        customer_name=row.customer_name,
        dest_customer_id="" if move is None else move.dest_customer_id,
        id=record_id if move is None else move.move_id,
        arn=row.arn,
        start=format_time(row.start_time),
        end=format_time(row.end_time),
        **{name: getattr(row, name) for name in TEXT_COLUMNS},
        vendor=vendor,
        normalization_factor=row.normalization_factor,
        number=number,
        unblended_rate=row.unblended_rate,
        upfront_value=row.upfront_value,
        remove=move is not None,
        disabled=number == 0 or is_expired,
    )


async def lock_reservation(
    db: AsyncConnection, scope: TenantScope, vendor: str, ri_id: str
) -> Row | None:
    """Lock against other moves and removals until the transaction ends."""
    stmt = (
        sa.select(_ri.ri_id, _ri.customer_id, _ri.number)
        .join_from(
            reserved_instances, _owners, _join_account(_owners, _ri.customer_id), isouter=True
        )
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _ri.ri_id == ri_id,
            *_filter_visible_owner(scope),
        )
        .with_for_update(of=reserved_instances)
    )
    return (await db.execute(stmt)).one_or_none()


async def find_move(
    db: AsyncConnection, scope: TenantScope, vendor: str, move_id: str
) -> Row | None:
    """Find an active move between two accounts that are both visible to the caller."""
    stmt = (
        sa.select(_moves.move_id, _moves.ri_id)
        .join_from(reserved_instances, reservation_moves, _ACTIVE_MOVE)
        .join(_owners, _join_account(_owners, _ri.customer_id), isouter=True)
        .join(_destinations, _join_account(_destinations, _moves.dest_customer_id), isouter=True)
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _moves.move_id == move_id,
            *_filter_visible_owner(scope),
        )
    )
    if scope.billing_groups is not None:
        stmt = stmt.where(is_any_of(_destinations.c.company_id, scope.billing_groups))
    return (await db.execute(stmt)).one_or_none()


async def is_account_visible(
    db: AsyncConnection, scope: TenantScope, vendor: str, customer_id: str
) -> bool:
    accounts = cloud_accounts.c
    condition = sa.exists().where(
        accounts.organisation_id == scope.organisation_id,
        accounts.vendor == vendor,
        accounts.customer_id == customer_id,
    )
    if scope.billing_groups is not None:
        condition = condition.where(is_any_of(accounts.company_id, scope.billing_groups))
    return bool((await db.execute(sa.select(condition))).scalar_one())


async def count_moved_instances(db: AsyncConnection, scope: TenantScope, ri_id: str) -> int:
    """Count the instances of active moves."""
    stmt = sa.select(sa.func.coalesce(sa.func.sum(_moves.number), 0)).where(
        *_filter_moves(scope, ri_id), _moves.removed_after_closing.is_(None)
    )
    return int((await db.execute(stmt)).scalar_one())


def _filter_moves(scope: TenantScope, ri_id: str) -> list[sa.ColumnElement[bool]]:
    return [_moves.organisation_id == scope.organisation_id, _moves.ri_id == ri_id]


async def add_move(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    move_id: str,
    ri_id: str,
    customer_id: str,
    number: int,
    closing_count: int,
) -> None:
    next_position = sa.select(sa.func.coalesce(sa.func.max(_moves.position), 0) + 1)
    await db.execute(
        sa.insert(reservation_moves).values(
            organisation_id=scope.organisation_id,
            move_id=move_id,
            ri_id=ri_id,
            position=next_position.where(*_filter_moves(scope, ri_id)).scalar_subquery(),
            dest_customer_id=customer_id,
            number=number,
            created_after_closing=closing_count,
            account_in_use=customer_id,
        )
    )


async def remove_move(
    db: AsyncConnection, scope: TenantScope, move_id: str, closing_count: int
) -> bool:
    """Return whether the move was still active."""
    result = await db.execute(
        sa.update(reservation_moves)
        .where(
            _moves.organisation_id == scope.organisation_id,
            _moves.move_id == move_id,
            _moves.removed_after_closing.is_(None),
        )
        .values(removed_after_closing=closing_count, account_in_use=None)
    )
    return bool(result.rowcount)
