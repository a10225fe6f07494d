"""What a reservation cost its owner month by month, and which moves count in a month."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.records import reservation_moves, reserved_instances
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows

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
_FEE_OF = (_fees.organisation_id == _ri.organisation_id) & (_fees.ri_id == _ri.ri_id)
_MOVE_OF = (_moves.organisation_id == _ri.organisation_id) & (_moves.ri_id == _ri.ri_id)


async def fees_and_moves(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, closing: int | None
) -> Sequence[Row]:
    """A row for each fee of the month and each move that counts in it, the oldest move first.

    In a month that was closed those count that stood at its closing.
    """
    counts: list[sa.ColumnElement[bool]]
    if closing is None:
        counts = [_moves.removed_after.is_(None)]
    else:
        not_yet_removed = _moves.removed_after.is_(None) | (_moves.removed_after >= closing)
        counts = [_moves.made_after < closing, not_yet_removed]
    question = (
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
        .join_from(reserved_instances, reservation_fees, _FEE_OF)
        .join(reservation_moves, _MOVE_OF)
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _fees.month == month,
            *counts,
        )
        .order_by(_ri.ri_id, _fees.payer_id, _fees.currency, _moves.position)
    )
    return (await db.execute(question)).all()


async def reservations_of_payer(
    db: AsyncConnection, scope: TenantScope, vendor: str, payer_id: str, month: str
) -> set[str]:
    """Which of them cost something in that month so far."""
    question = (
        sa.select(_ri.ri_id)
        .join_from(reserved_instances, reservation_fees, _FEE_OF)
        .where(
            _ri.organisation_id == scope.organisation_id,
            _ri.vendor == vendor,
            _fees.payer_id == payer_id,
            _fees.month == month,
        )
    )
    return set((await db.execute(question)).scalars())


async def lock_reservations(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> None:
    """Always in the same order, so that two imports never wait for each other."""
    question = sa.select(_ri.ri_id).where(*_these(scope, ri_ids)).order_by(_ri.ri_id)
    await db.execute(question.with_for_update())


def _these(scope: TenantScope, ri_ids: Collection[str]) -> list[sa.ColumnElement[bool]]:
    return [_ri.organisation_id == scope.organisation_id, visible_rows(_ri.ri_id, ri_ids)]


async def add_reservations(
    db: AsyncConnection, scope: TenantScope, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Those that are there already stay as they are."""
    if rows:
        whole = [{"organisation_id": scope.organisation_id, **row} for row in rows]
        await db.execute(insert(reserved_instances).on_conflict_do_nothing(), whole)


async def describe_reservations(
    db: AsyncConnection, scope: TenantScope, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Those that are there already are described anew."""
    if not rows:
        return
    whole = [{"organisation_id": scope.organisation_id, **row} for row in rows]
    adding = insert(reserved_instances)
    anew = {name: adding.excluded[name] for name in rows[0] if name not in ("ri_id", "number")}
    await db.execute(
        adding.on_conflict_do_update(index_elements=["organisation_id", "ri_id"], set_=anew), whole
    )


async def put_fees(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    payer_id: str,
    month: str,
    ri_ids: Collection[str],
    fees: Sequence[Mapping[str, Any]],
) -> None:
    """In place of the fees that these reservations had in that month."""
    await db.execute(
        sa.delete(reservation_fees).where(
            _fees.organisation_id == scope.organisation_id,
            _fees.payer_id == payer_id,
            _fees.month == month,
            visible_rows(_fees.ri_id, ri_ids),
        )
    )
    if fees:
        whose = {
            "organisation_id": scope.organisation_id,
            "payer_id": payer_id,
            "month": month,
        }
        await db.execute(sa.insert(reservation_fees), [{**whose, **fee} for fee in fees])


async def newest_months(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> dict[str, str]:
    question = (
        sa.select(_fees.ri_id, sa.func.max(_fees.month).label("newest"))
        .where(_fees.organisation_id == scope.organisation_id, visible_rows(_fees.ri_id, ri_ids))
        .group_by(_fees.ri_id)
    )
    return {row.ri_id: row.newest for row in await db.execute(question)}


async def count_anew(db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]) -> None:
    """As many instances as a reservation has in its newest month; none where it has no month."""
    newest = (
        sa.select(_fees.number)
        .where(_FEE_OF)
        .order_by(_fees.month.desc(), _fees.number.desc())
        .limit(1)
        .correlate(reserved_instances)
        .scalar_subquery()
    )
    await db.execute(
        sa.update(reserved_instances)
        .where(*_these(scope, ri_ids))
        .values(number=sa.func.coalesce(newest, 0))
    )


async def forget_reservations(
    db: AsyncConnection, scope: TenantScope, ri_ids: Collection[str]
) -> None:
    """Those that have no month any more, unless something was moved of them."""
    await db.execute(
        sa.delete(reserved_instances).where(
            *_these(scope, ri_ids),
            ~sa.exists().where(_FEE_OF),
            ~sa.exists().where(_MOVE_OF),
        )
    )
