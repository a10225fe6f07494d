"""Reservation fees that moves shift from the owner of a reservation to other customers."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances import fee_records
from nimbill.adjustments.reserved_instances.split_rules import limit_moves, split_fee
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod


@dataclass(frozen=True, slots=True)
class MovedFee:
    """A change to a customer's fees: plus for the destination of a move, minus for the owner."""

    reservation_id: str
    move_id: str
    customer_id: str
    service: str
    currency: str
    amount: Decimal


async def list_moved_fees(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, state: MonthState
) -> list[MovedFee]:
    """List two fees for each move; their sum is exactly zero.

    A closed month keeps the moves that it was closed with, so its `state` must be known. Fees cover
    the whole organisation: an invoice includes moves from groups that its creator cannot see.
    """
    closing_number = state.closing_number if state.closed else None
    rows = await fee_records.list_fees_with_moves(db, scope, period, closing_number)
    fees: list[MovedFee] = []
    for _, moves in groupby(rows, key=lambda row: (row.ri_id, row.payer_id, row.currency)):
        fees += _split_fee(list(moves))
    return fees


def _split_fee(moves: list[Row]) -> Iterator[MovedFee]:
    """The rows are the moves of one reservation fee, the oldest first."""
    total, fee = moves[0].total, moves[0].fee
    numbers = limit_moves(total, [move.moved for move in moves])
    for move, amount in zip(moves, split_fee(fee, total, numbers), strict=True):
        if amount:
            yield _build_moved_fee(move, move.dest_customer_id, amount)
            # copy_negate, because a minus sign rounds to the precision of the current context
            yield _build_moved_fee(move, move.customer_id, amount.copy_negate())


def _build_moved_fee(move: Row, customer_id: str, amount: Decimal) -> MovedFee:
    return MovedFee(
        reservation_id=move.reservation_id,
        move_id=move.move_id,
        customer_id=customer_id,
        service=move.service,
        currency=move.currency,
        amount=amount,
    )
