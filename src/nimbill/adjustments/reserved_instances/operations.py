"""What may be done with reserved instances: moved, given back, replaced by an import."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from itertools import groupby
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances import fee_records, records
from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceMove
from nimbill.adjustments.reserved_instances.split_rules import honoured, shares
from nimbill.adjustments.reserved_instances.vendor_values import moment_of, number_of
from nimbill.costs.months.operations import refuse_closed
from nimbill.costs.months.records import load_month_state, lock_closing_count, lock_month
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import derived_id, new_id
from nimbill.foundation.vendors import Vendor

basis = chosen("reserved-instance-moves")
records_basis = chosen("reserved-instance-records")


async def move_reserved_instance(
    db: AsyncConnection, scope: TenantScope, ri_id: str, body: ReservedInstanceMove
) -> None:
    """Split off a moved record; no more than remain, and never to the owner."""
    closings = await lock_closing_count(db, scope, body.vendor)
    reservation = await records.lock_reservation(db, scope, body.vendor, ri_id)
    if reservation is None:
        if await records.find_move(db, scope, body.vendor, ri_id) is None:
            raise not_found()
        raise Conflict("reservation_moved", "what was moved cannot be moved on")
    if not await records.account_visible(db, scope, body.vendor, body.customer_id):
        raise not_found()
    if body.customer_id == reservation.customer_id:
        raise Conflict("reservation_of_customer", "the customer is its owner already")
    if body.number > reservation.number - await records.number_moved(db, scope, ri_id):
        raise Conflict("too_few_remain", "fewer instances remain with the owner")
    await records.add_move(
        db,
        scope,
        move_id=new_id("ri"),
        ri_id=ri_id,
        customer_id=body.customer_id,
        number=body.number,
        closings=closings,
    )


async def remove_reserved_instance(
    db: AsyncConnection, scope: TenantScope, ri_id: str, vendor: Literal["aws"]
) -> None:
    """Give what was moved back to the original record."""
    closings = await lock_closing_count(db, scope, vendor)
    move = await records.find_move(db, scope, vendor, ri_id)
    if move is None:
        if await records.lock_reservation(db, scope, vendor, ri_id) is None:
            raise not_found()
        raise Conflict("reservation_not_moved", "this record was not moved")
    await records.lock_reservation(db, scope, vendor, move.ri_id)
    if not await records.remove_move(db, scope, ri_id, closings):
        raise not_found()


# ── what invoices ask ────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MovedFee:
    """What a move adds to a customer's fees, or takes from the owner's."""

    reservation_id: str
    move_id: str
    customer_id: str
    service: str
    currency: str
    amount: Decimal


async def moved_fees(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, month: str
) -> list[MovedFee]:
    """Two for each move, which cancel each other to the last digit.

    Of the whole organisation: an invoice counts what was moved from groups its maker cannot see.
    A closed month keeps the moves it was closed with.
    """
    state = await load_month_state(db, scope, BillingPeriod(month, vendor))
    closing = state.closing_number if state.closed else None
    rows = await fee_records.fees_and_moves(db, scope, vendor, month, closing)
    found = []
    for _, of_one in groupby(rows, key=lambda row: (row.ri_id, row.payer_id, row.currency)):
        moves = list(of_one)
        numbers = honoured(moves[0].total, [row.moved for row in moves])
        amounts = shares(moves[0].fee, moves[0].total, numbers)
        for row, amount in zip(moves, amounts, strict=True):
            given = (row.dest_customer_id, amount)
            taken = (row.customer_id, amount.copy_negate())  # a minus sign would round
            found += [_moved_fee(row, *given), _moved_fee(row, *taken)] if amount else []
    return found


def _moved_fee(row: Row, customer_id: str, amount: Decimal) -> MovedFee:
    return MovedFee(
        reservation_id=row.reservation_id,
        move_id=row.move_id,
        customer_id=customer_id,
        service=row.service,
        currency=row.currency,
        amount=amount,
    )


# ── what imports bring ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationOfMonth:
    """A reservation as the vendor's lines of one month have it; texts and numbers as written."""

    reservation_id: str  # the ARN, or the vendor's id
    customer_id: str  # the owner, who is charged the fee
    payer_id: str
    fee: Decimal
    currency: str
    number: int
    start: str = ""
    end: str = ""
    instance_type: str = ""
    modification_status: str = ""
    offer_class: str = ""
    payment_option: str = ""
    platform: str = ""
    region: str = ""
    scope: str = ""
    service: str = ""
    tenancy: str = ""
    term_length: str = ""
    usage_type: str = ""
    zone: str = ""
    normalization_factor: str = ""
    unblended_rate: str = ""
    upfront_value: str = ""


async def replace_reservations(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    vendor: Vendor,
    payer_id: str,
    month: str,
    reservations: Sequence[ReservationOfMonth],
) -> None:
    """The fees of a payer and month become these; reservations and moves live on over months.

    What a reservation is like is taken from its newest month. One that shrinks below what was
    moved of it keeps its moves: the oldest are honoured first, and all again should it grow.
    """
    refuse_closed(await lock_month(db, scope, BillingPeriod(month, vendor)))
    named = _named(scope, vendor, payer_id, reservations)
    before = await fee_records.reservations_of_payer(db, scope, vendor, payer_id, month)
    touched = before | named.keys()
    if not touched:
        return
    described = {ri_id: _described(ri_id, vendor, one) for ri_id, (one, *_) in named.items()}
    await fee_records.lock_reservations(db, scope, touched)
    await fee_records.add_reservations(db, scope, list(described.values()))
    fees = [
        {"ri_id": ri_id, "fee": one.fee, "currency": one.currency, "number": one.number}
        for ri_id, in_currencies in named.items()
        for one in in_currencies
    ]
    await fee_records.put_fees(db, scope, payer_id=payer_id, month=month, ri_ids=touched, fees=fees)
    newest = await fee_records.newest_months(db, scope, touched)
    await fee_records.describe_reservations(
        db, scope, [row for ri_id, row in described.items() if newest[ri_id] == month]
    )
    await fee_records.count_anew(db, scope, touched)
    await fee_records.forget_reservations(db, scope, touched)


def _named(
    scope: TenantScope, vendor: str, payer_id: str, reservations: Sequence[ReservationOfMonth]
) -> dict[str, list[ReservationOfMonth]]:
    """By id, in its order; more than one where a fee is charged in several currencies."""
    found: dict[str, list[ReservationOfMonth]] = {}
    for one in reservations:
        if one.payer_id != payer_id:
            raise ValueError("a reservation of another payer")
        whose = (scope.organisation_id, str(vendor), one.reservation_id, one.customer_id)
        in_currencies = found.setdefault(derived_id("ri", *whose), [])
        if one.currency in [other.currency for other in in_currencies]:
            raise ValueError("a reservation of one owner is given twice")
        in_currencies.append(one)
    return dict(sorted(found.items()))


_AS_GIVEN = [one.name for one in fields(ReservationOfMonth) if one.name in records.TEXTS]


def _described(ri_id: str, vendor: str, one: ReservationOfMonth) -> dict[str, Any]:
    return {
        "ri_id": ri_id,
        "vendor": str(vendor),
        "reservation_id": one.reservation_id,
        "customer_id": one.customer_id,
        "arn": one.reservation_id if vendor == "aws" else "",
        "start_time": moment_of(one.start),
        "end_time": moment_of(one.end),
        **{name: getattr(one, name) for name in _AS_GIVEN},
        "paid_by": one.payer_id,
        "normalization_factor": number_of(one.normalization_factor),
        "number": one.number,
        "unblended_rate": number_of(one.unblended_rate),
        "upfront_value": number_of(one.upfront_value),
    }
