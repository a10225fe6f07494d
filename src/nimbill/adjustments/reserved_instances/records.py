"""The tables of reservations and of their moves, and the queries on both."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceRecord
from nimbill.adjustments.reserved_instances.split_rules import limit_moves
from nimbill.adjustments.reserved_instances.vendor_values import format_time
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.list_query import COMPLETE, ListQuery
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
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


_SORT_COLUMNS = {"start": "start_time", "end": "end_time"}
_SEARCHED = (
    "arn",
    "customer_id",
    "customer_name",
    "billinggroup_id",
    "billinggroup_name",
    "instance_type",
    "region",
)


LoadCurrencies = Callable[
    [AsyncConnection, TenantScope, Collection[str]], Awaitable[Mapping[str, str]]
]
Reservation = list[Row]  # a row for each active move, or one


async def list_reserved_instances(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: BilledVendor,
    now: datetime,
    query: ListQuery = COMPLETE,
    *,
    load_currencies: LoadCurrencies | None = None,
) -> tuple[list[ReservedInstanceRecord], int]:
    """List each reservation followed by its moves; a page contains whole reservations.

    One statement reads both, so that their numbers always add up. The total counts reservations.
    With `load_currencies`, records have the fields of a list with details.
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
            _destinations.c.name.label("dest_customer_name"),
        )
        .join_from(
            reserved_instances, _owners, _join_account(_owners, _ri.customer_id), isouter=True
        )
        .join(billing_groups, _OWNER_GROUP, isouter=True)
        .join(reservation_moves, _ACTIVE_MOVE, isouter=True)
        .join(_destinations, _join_account(_destinations, _moves.dest_customer_id), isouter=True)
        .where(of_tenant(reserved_instances, scope), _ri.vendor == vendor)
        .where(*_filter_visible_owner(scope))
        .order_by(_ri.customer_id, _ri.reservation_id, _moves.position)
    )
    rows = (await db.execute(stmt)).all()
    reservations = [list(moves) for _, moves in groupby(rows, key=attrgetter("ri_id"))]
    if query.search is not None:
        text = query.search.lower()
        reservations = [each for each in reservations if _contains(each, scope, vendor, text)]
    found = _sort_reservations(reservations, query)
    page = found[query.page]
    currencies = None
    if load_currencies is not None:
        currencies = await load_currencies(db, scope, [moves[0].ri_id for moves in page])
    records = [
        record for moves in page for record in _build_records(moves, scope, vendor, now, currencies)
    ]
    return records, len(found)


def _contains(
    reservation: Reservation, scope: TenantScope, vendor: BilledVendor, text: str
) -> bool:
    """Look in what the records of the reservation show; only those of a page are built."""
    first = reservation[0]
    ids = [_get_record_id(first, vendor), *(row.move_id for row in _list_moves(reservation, scope))]
    texts = [*ids, *(getattr(first, name) for name in _SEARCHED)]
    return any(text in each.lower() for each in texts)


def _sort_reservations(reservations: list[Reservation], query: ListQuery) -> list[Reservation]:
    """Sort by a field of the owner's record; reservations with equal values keep their order."""
    column = query.sort_column
    if column is None:
        return reservations
    name = _SORT_COLUMNS.get(column, column)

    def get_value(reservation: Reservation) -> str:
        value = getattr(reservation[0], name)
        return value if isinstance(value, str) else format_time(value)

    return sorted(reservations, key=get_value, reverse=query.is_descending)


def _filter_visible_owner(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """Users restricted to certain billing groups cannot see accounts in no billing group."""
    if scope.billing_groups is None:
        return []
    return [is_any_of(_owners.c.company_id, scope.billing_groups)]


def _list_moves(reservation: Reservation, scope: TenantScope) -> list[Row]:
    """The moves to accounts that the caller may see."""
    return [
        row
        for row in reservation
        if row.move_id is not None
        and (scope.billing_groups is None or row.dest_company_id in scope.billing_groups)
    ]


def _get_record_id(row: Row, vendor: BilledVendor) -> str:
    return str(row.ri_id if vendor == "aws" else row.reservation_id)


def _build_records(
    reservation: Reservation,
    scope: TenantScope,
    vendor: BilledVendor,
    now: datetime,
    currencies: Mapping[str, str] | None,
) -> Iterator[ReservedInstanceRecord]:
    """Build the owner's record with the remaining instances, then one for each visible move."""
    first = reservation[0]
    moves = [row for row in reservation if row.move_id is not None]
    numbers = limit_moves(first.number, [row.moved for row in moves])
    currency = UNSET if currencies is None else currencies.get(first.ri_id, "")
    record = _build_record(first, vendor, now, first.number - sum(numbers), currency)
    yield record
    visible = {row.move_id for row in _list_moves(reservation, scope)}
    for row, number in zip(moves, numbers, strict=True):
        if row.move_id in visible:
            yield _build_move(record, row, now, number)


def _build_record(
    row: Row, vendor: BilledVendor, now: datetime, number: int, currency: str | UnsetType
) -> ReservedInstanceRecord:
    has_details = currency is not UNSET
    return ReservedInstanceRecord(
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        customer_id=row.customer_id,
        customer_name=row.customer_name,
        dest_customer_id="",
        id=_get_record_id(row, vendor),
        arn=row.arn,
        start=format_time(row.start_time),
        end=format_time(row.end_time),
        **{name: getattr(row, name) for name in TEXT_COLUMNS},
        vendor=vendor,
        normalization_factor=row.normalization_factor,
        number=number,
        unblended_rate=row.unblended_rate,
        upfront_value=row.upfront_value,
        remove=False,
        disabled=number == 0 or _is_expired(row, now),
        currency=currency,
        dest_customer_name="" if has_details else UNSET,
        dest_company_id="" if has_details else UNSET,
    )


def _build_move(
    record: ReservedInstanceRecord, move: Row, now: datetime, number: int
) -> ReservedInstanceRecord:
    """The owner's record with what differs for the account that holds the instances."""
    has_details = record.currency is not UNSET
    return replace(
        record,
        id=move.move_id,
        dest_customer_id=move.dest_customer_id,
        number=number,
        remove=True,
        disabled=number == 0 or _is_expired(move, now),
        dest_customer_name=(move.dest_customer_name or "") if has_details else UNSET,
        dest_company_id=(move.dest_company_id or "") if has_details else UNSET,
    )


def _is_expired(row: Row, now: datetime) -> bool:
    return row.end_time is not None and row.end_time <= now


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
            of_tenant(reserved_instances, scope),
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
            of_tenant(reserved_instances, scope),
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
        of_tenant(cloud_accounts, scope),
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
    return [of_tenant(reservation_moves, scope), _moves.ri_id == ri_id]


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
            of_tenant(reservation_moves, scope),
            _moves.move_id == move_id,
            _moves.removed_after_closing.is_(None),
        )
        .values(removed_after_closing=closing_count, account_in_use=None)
    )
    return bool(result.rowcount)
