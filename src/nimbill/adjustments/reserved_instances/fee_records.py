"""The table of monthly reservation fees, its queries, and the updates made by imports."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.records import reservation_moves, reserved_instances
from nimbill.costs.lake.commitment_records import select_used_hours
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_given_tenant,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod

reservation_fees = sa.Table(
    "reservation_fees",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("ri_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("payer_id", sa.Text, primary_key=True),
    sa.Column("currency", sa.Text, primary_key=True),
    sa.Column("fee", sa.Numeric, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),  # instances in that month
)

_ri, _fees, _moves = reserved_instances.c, reservation_fees.c, reservation_moves.c
_RESERVATION_FEE = (_fees.organisation_id == _ri.organisation_id) & (_fees.ri_id == _ri.ri_id)
_RESERVATION_MOVE = (_moves.organisation_id == _ri.organisation_id) & (_moves.ri_id == _ri.ri_id)


async def load_currencies(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> dict[str, str]:
    """Map reservations to the currency of their newest fee."""
    stmt = (
        sa.select(_fees.ri_id, _fees.currency)
        .where(of_tenant(reservation_fees, scope), is_any_of(_fees.ri_id, ri_ids))
        .order_by(_fees.month)
    )
    return {row.ri_id: row.currency for row in await db.execute(stmt)}


async def list_fees_with_moves(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, closing_number: int | None
) -> Sequence[Row]:
    """List a row for each fee of the period and each of its active moves, the oldest move first.

    With a `closing_number`, the moves that were active at that closing are listed.
    """
    stmt = (
        sa.select(
            _ri.ri_id,
            _ri.reservation_id,
            _ri.customer_id,
            _ri.service,
            _fees.payer_id,
            _fees.fee,
            _fees.currency,
            _fees.number.label("total"),
            _moves.move_id,
            _moves.dest_customer_id,
            _moves.number.label("moved"),
        )
        .join_from(reserved_instances, reservation_fees, _RESERVATION_FEE)
        .join(reservation_moves, _RESERVATION_MOVE)
        .where(
            of_tenant(reserved_instances, scope),
            _ri.vendor == period.vendor,
            _fees.month == period.month,
            _is_active(closing_number),
        )
        .order_by(_ri.ri_id, _fees.payer_id, _fees.currency, _moves.position)
    )
    return (await db.execute(stmt)).all()


def _is_active(
    closing_number: int | sa.BindParameter[int] | None,
) -> sa.ColumnElement[bool]:
    """Whether a move applies: now, or to a month with this closing number."""
    if closing_number is None:
        return _moves.removed_after_closing.is_(None)
    not_yet_removed = _moves.removed_after_closing.is_(None) | (
        _moves.removed_after_closing >= closing_number
    )
    return (_moves.created_after_closing < closing_number) & not_yet_removed


_CUSTOMER_IDS: sa.BindParameter[Any] = sa.bindparam("customer_ids")


def _select_reservations(active: sa.ColumnElement[bool]) -> sa.Select[*tuple[Any, ...]]:
    vendor, month = (sa.bindparam(name, type_=sa.Text) for name in ("vendor", "month"))
    used = select_used_hours(_ri.organisation_id, _ri.vendor, month, _ri.reservation_id)
    # A union, because PostgreSQL uses no index for a condition with OR.
    ri_ids = sa.union(
        sa.select(_ri.ri_id).where(
            of_given_tenant(reserved_instances),
            _ri.vendor == vendor,
            is_any_of(_ri.customer_id, _CUSTOMER_IDS),
        ),
        sa.select(_moves.ri_id).where(
            of_given_tenant(reservation_moves),
            is_any_of(_moves.dest_customer_id, _CUSTOMER_IDS),
        ),
    )
    of_month = _RESERVATION_FEE & (_fees.month == month)
    return (
        sa.select(
            reserved_instances,
            _fees.payer_id,
            _fees.fee,
            _fees.currency,
            sa.func.coalesce(_fees.number, _ri.number).label("total"),
            _moves.move_id,
            _moves.dest_customer_id,
            _moves.number.label("moved"),
            *used.c,
        )
        .join_from(reserved_instances, reservation_fees, of_month, isouter=True)
        .join(reservation_moves, _RESERVATION_MOVE & active, isouter=True)
        .join(used, sa.true())
        .where(
            of_given_tenant(reserved_instances),
            _ri.vendor == vendor,
            _ri.ri_id.in_(ri_ids),
        )
        .order_by(_ri.ri_id, _fees.payer_id, _fees.currency, _moves.position)
    )


_LIST_RESERVATIONS = _select_reservations(_is_active(None))
_LIST_CLOSED_RESERVATIONS = _select_reservations(
    _is_active(sa.bindparam("closing_number", type_=sa.Integer))
)


async def list_reservations_with_fees(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    closing_number: int | None,
    customer_ids: Collection[str],
) -> Sequence[Any]:
    """List the reservations of these accounts, and those moved to them, with their use.

    There is a row for each fee of the period and each active move, the oldest move first. Fee and
    move are null where there is none; `total` is the number of instances.
    """
    stmt = _LIST_RESERVATIONS if closing_number is None else _LIST_CLOSED_RESERVATIONS
    values = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
        "customer_ids": list(customer_ids),
        "closing_number": closing_number,
    }
    return (await db.execute(stmt, values)).all()


SELECT_PERIODS_WITH_MOVES = (
    sa.select(_ri.vendor, _fees.month)
    .distinct()
    .join_from(reservation_moves, reserved_instances, _RESERVATION_MOVE)
    .join(
        reservation_fees,
        (_fees.organisation_id == _moves.organisation_id) & (_fees.ri_id == _moves.ri_id),
    )
    .where(
        of_given_tenant(reservation_moves),
        is_any_of(_fees.month, sa.bindparam("months")),
        is_any_of(_moves.dest_customer_id, _CUSTOMER_IDS)
        | is_any_of(_ri.customer_id, _CUSTOMER_IDS),
    )
    .order_by(_ri.vendor, _fees.month)
)


async def list_periods_with_moves(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], customer_ids: Collection[str]
) -> list[BillingPeriod]:
    """List the periods in which a fee may have been moved to or from one of the accounts."""
    values = {
        "organisation_id": scope.organisation_id,
        "months": list(months),
        "customer_ids": list(customer_ids),
    }
    rows = await db.execute(SELECT_PERIODS_WITH_MOVES, values)
    return [BillingPeriod(month, vendor) for vendor, month in rows]


async def list_payer_reservations(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payer_id: str
) -> set[str]:
    """List the ri_id of each reservation for which the payer has a fee in the period.

    These are two queries because PostgreSQL may execute a join by reading all fees for every
    reservation as long as it has no statistics of the organisation.
    """
    with_fee = sa.select(_fees.ri_id).where(
        of_tenant(reservation_fees, scope), _fees.payer_id == payer_id, _fees.month == period.month
    )
    ri_ids = set((await db.execute(with_fee)).scalars())
    of_vendor = sa.select(_ri.ri_id).where(
        *_filter_by_id(scope, ri_ids), _ri.vendor == period.vendor
    )
    return set((await db.execute(of_vendor)).scalars())


async def lock_reservations(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> None:
    """Lock in a fixed order, so that two imports cannot deadlock."""
    stmt = sa.select(_ri.ri_id).where(*_filter_by_id(scope, ri_ids)).order_by(_ri.ri_id)
    await db.execute(stmt.with_for_update())


def _filter_by_id(scope: TenantScope, ri_ids: Collection[str]) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(reserved_instances, scope), is_any_of(_ri.ri_id, ri_ids)]


async def add_missing_reservations(
    db: AsyncConnection, scope: TenantScope, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Existing reservations stay unchanged."""
    if rows:
        await db.execute(
            insert(reserved_instances).on_conflict_do_nothing(), _add_organisation(scope, rows)
        )


async def upsert_reservations(
    db: AsyncConnection, scope: TenantScope, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Existing reservations receive the new description but keep their number of instances."""
    if not rows:
        return
    stmt = insert(reserved_instances)
    changes = {name: stmt.excluded[name] for name in rows[0] if name not in ("ri_id", "number")}
    await db.execute(
        stmt.on_conflict_do_update(index_elements=["organisation_id", "ri_id"], set_=changes),
        _add_organisation(scope, rows),
    )


def _add_organisation(
    scope: TenantScope, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [{"organisation_id": scope.organisation_id, **row} for row in rows]


async def replace_fees(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    payer_id: str,
    month: str,
    ri_ids: Collection[str],
    fees: Sequence[Mapping[str, Any]],
) -> None:
    """Replace the payer's fees of these reservations in the month."""
    await db.execute(
        sa.delete(reservation_fees).where(
            of_tenant(reservation_fees, scope),
            _fees.payer_id == payer_id,
            _fees.month == month,
            is_any_of(_fees.ri_id, ri_ids),
        )
    )
    if fees:
        key = {
            "organisation_id": scope.organisation_id,
            "payer_id": payer_id,
            "month": month,
        }
        await db.execute(sa.insert(reservation_fees), [{**key, **fee} for fee in fees])


async def load_newest_months(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> dict[str, str]:
    stmt = (
        sa.select(_fees.ri_id, sa.func.max(_fees.month).label("newest"))
        .where(of_tenant(reservation_fees, scope), is_any_of(_fees.ri_id, ri_ids))
        .group_by(_fees.ri_id)
    )
    return {row.ri_id: row.newest for row in await db.execute(stmt)}


async def refresh_instance_counts(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> None:
    """Set the number of instances to that of the newest month; 0 without any month."""
    newest = (
        sa.select(_fees.number)
        .where(_RESERVATION_FEE)
        .order_by(_fees.month.desc(), _fees.number.desc())
        .limit(1)
        .correlate(reserved_instances)
        .scalar_subquery()
    )
    await db.execute(
        sa.update(reserved_instances)
        .where(*_filter_by_id(scope, ri_ids))
        .values(number=sa.func.coalesce(newest, 0))
    )


async def delete_unused_reservations(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> None:
    """Delete those of the reservations that have neither fees nor moves."""
    await db.execute(
        sa.delete(reserved_instances).where(
            *_filter_by_id(scope, ri_ids),
            ~sa.exists().where(_RESERVATION_FEE),
            ~sa.exists().where(_RESERVATION_MOVE),
        )
    )
