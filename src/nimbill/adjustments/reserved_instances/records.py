"""Stored reservations, what was moved of them, and the questions asked of both."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceRecord
from nimbill.adjustments.reserved_instances.split_rules import honoured
from nimbill.adjustments.reserved_instances.vendor_values import timestamp
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation.vendors import BilledVendor

TEXTS = (
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
    *(sa.Column(name, sa.Text, nullable=False) for name in TEXTS),
    sa.Column("normalization_factor", sa.Numeric, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),  # in the newest month there is of it
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
    # how many months had been closed by then: a closed month keeps the moves it was closed with
    sa.Column("made_after", sa.Integer, nullable=False),
    sa.Column("removed_after", sa.Integer),
    # the destination while the move stands, so that its account cannot be deleted meanwhile
    sa.Column("account_in_use", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_ri, _moves = reserved_instances.c, reservation_moves.c
_owners = cloud_accounts.alias("owners")
_destinations = cloud_accounts.alias("destinations")


def _account(accounts: Any, customer_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    found: sa.ColumnElement[bool] = (
        (accounts.c.organisation_id == _ri.organisation_id)
        & (accounts.c.customer_id == customer_id)
        & (accounts.c.vendor == _ri.vendor)
    )
    return found


_STANDING = (
    (_moves.organisation_id == _ri.organisation_id)
    & (_moves.ri_id == _ri.ri_id)
    & _moves.removed_after.is_(None)
)
_GROUP = (billing_groups.c.organisation_id == _owners.c.organisation_id) & (
    billing_groups.c.company_id == _owners.c.company_id
)


async def list_reserved_instances(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, now: datetime
) -> list[ReservedInstanceRecord]:
    """Each reservation and what was moved of it, in one question: the numbers always add up."""
    question = (
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
        .join_from(reserved_instances, _owners, _account(_owners, _ri.customer_id), isouter=True)
        .join(billing_groups, _GROUP, isouter=True)
        .join(reservation_moves, _STANDING, isouter=True)
        .join(_destinations, _account(_destinations, _moves.dest_customer_id), isouter=True)
        .where(_ri.organisation_id == scope.organisation_id, _ri.vendor == vendor)
        .where(*_owner_visible(scope))
        .order_by(_ri.customer_id, _ri.reservation_id, _moves.position)
    )
    rows = (await db.execute(question)).all()
    return [
        record
        for _, of_one in groupby(rows, key=lambda row: row.ri_id)
        for record in _records(list(of_one), scope, vendor, now)
    ]


def _owner_visible(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """Who sees only some billing groups sees nothing of accounts that are in none."""
    if scope.billing_groups is None:
        return []
    return [visible_rows(_owners.c.company_id, scope.billing_groups)]


def _records(
    rows: Sequence[Row], scope: TenantScope, vendor: BilledVendor, now: datetime
) -> Iterator[ReservedInstanceRecord]:
    """The owner's record with what remains, then a record for each move that may be seen."""
    moves = [row for row in rows if row.move_id is not None]
    numbers = honoured(rows[0].number, [row.moved for row in moves])
    yield _record(rows[0], vendor, now, number=rows[0].number - sum(numbers), move=None)
    for row, number in zip(moves, numbers, strict=True):
        if scope.billing_groups is None or row.dest_company_id in scope.billing_groups:
            yield _record(row, vendor, now, number=number, move=row)


def _record(
    row: Row, vendor: BilledVendor, now: datetime, *, number: int, move: Row | None
) -> ReservedInstanceRecord:
    own_id = row.ri_id if vendor == "aws" else row.reservation_id
    ended = row.end_time is not None and row.end_time <= now
    return ReservedInstanceRecord(
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        customer_id=row.customer_id,
        customer_name=row.customer_name,
        dest_customer_id="" if move is None else move.dest_customer_id,
        id=own_id if move is None else move.move_id,
        arn=row.arn,
        start=timestamp(row.start_time),
        end=timestamp(row.end_time),
        **{name: getattr(row, name) for name in TEXTS},
        vendor=vendor,
        normalization_factor=row.normalization_factor,
        number=number,
        unblended_rate=row.unblended_rate,
        upfront_value=row.upfront_value,
        remove=move is not None,
        disabled=number == 0 or ended,
    )


async def lock_reservation(
    db: AsyncConnection, scope: TenantScope, vendor: str, ri_id: str
) -> Row | None:
    """Until the transaction ends nobody else moves anything of it, or gives it back."""
    question = (
        sa.select(_ri.ri_id, _ri.customer_id, _ri.number)
        .join_from(reserved_instances, _owners, _account(_owners, _ri.customer_id), isouter=True)
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _ri.ri_id == ri_id,
            *_owner_visible(scope),
        )
        .with_for_update(of=reserved_instances)
    )
    return (await db.execute(question)).one_or_none()


async def find_move(
    db: AsyncConnection, scope: TenantScope, vendor: str, move_id: str
) -> Row | None:
    """A move that stands, between accounts the caller may both see."""
    question = (
        sa.select(_moves.move_id, _moves.ri_id)
        .join_from(reserved_instances, reservation_moves, _STANDING)
        .join(_owners, _account(_owners, _ri.customer_id), isouter=True)
        .join(_destinations, _account(_destinations, _moves.dest_customer_id), isouter=True)
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _moves.move_id == move_id,
            *_owner_visible(scope),
        )
    )
    if scope.billing_groups is not None:
        question = question.where(visible_rows(_destinations.c.company_id, scope.billing_groups))
    return (await db.execute(question)).one_or_none()


async def account_visible(
    db: AsyncConnection, scope: TenantScope, vendor: str, customer_id: str
) -> bool:
    accounts = cloud_accounts.c
    wanted = sa.exists().where(
        accounts.organisation_id == scope.organisation_id,
        accounts.vendor == vendor,
        accounts.customer_id == customer_id,
    )
    if scope.billing_groups is not None:
        wanted = wanted.where(visible_rows(accounts.company_id, scope.billing_groups))
    return bool((await db.execute(sa.select(wanted))).scalar_one())


async def number_moved(db: AsyncConnection, scope: TenantScope, ri_id: str) -> int:
    """Of the moves that stand."""
    question = sa.select(sa.func.coalesce(sa.func.sum(_moves.number), 0)).where(
        *_of_reservation(scope, ri_id), _moves.removed_after.is_(None)
    )
    return int((await db.execute(question)).scalar_one())


def _of_reservation(scope: TenantScope, ri_id: str) -> list[sa.ColumnElement[bool]]:
    return [_moves.organisation_id == scope.organisation_id, _moves.ri_id == ri_id]


async def add_move(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    move_id: str,
    ri_id: str,
    customer_id: str,
    number: int,
    closings: int,
) -> None:
    places = sa.select(sa.func.coalesce(sa.func.max(_moves.position), 0) + 1)
    await db.execute(
        sa.insert(reservation_moves).values(
            organisation_id=scope.organisation_id,
            move_id=move_id,
            ri_id=ri_id,
            position=places.where(*_of_reservation(scope, ri_id)).scalar_subquery(),
            dest_customer_id=customer_id,
            number=number,
            made_after=closings,
            account_in_use=customer_id,
        )
    )


async def remove_move(db: AsyncConnection, scope: TenantScope, move_id: str, closings: int) -> bool:
    """Whether it still stood."""
    done = await db.execute(
        sa.update(reservation_moves)
        .where(
            _moves.organisation_id == scope.organisation_id,
            _moves.move_id == move_id,
            _moves.removed_after.is_(None),
        )
        .values(removed_after=closings, account_in_use=None)
    )
    return bool(done.rowcount)
