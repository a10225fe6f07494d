"""Operations on reserved instances: move, remove a move, replace by an import."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances import fee_records, records
from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceMove
from nimbill.adjustments.reserved_instances.vendor_values import (
    derive_scope,
    parse_number,
    parse_time,
)
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_closing_count, lock_month
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import derive_id, new_id
from nimbill.foundation.vendors import Vendor

# See docs/choices.md, reserved-instance-records.


async def move_reserved_instance(
    db: AsyncConnection, scope: TenantScope, ri_id: str, body: ReservedInstanceMove
) -> None:
    """Move instances that remain with the owner to another customer, as a new record."""
    closing_count = await lock_closing_count(db, scope, body.vendor)
    reservation = await records.lock_reservation(db, scope, body.vendor, ri_id)
    if reservation is None:
        if await records.find_move(db, scope, body.vendor, ri_id) is None:
            raise not_found()
        raise Conflict(
            "reservation_moved",
            "This record was moved. Move instances from the original record instead.",
        )
    if not await records.is_account_visible(db, scope, body.vendor, body.customer_id):
        raise not_found()
    if body.customer_id == reservation.customer_id:
        raise Conflict("reservation_of_customer", "The customer already owns this reservation.")
    if body.number > reservation.number - await records.count_moved_instances(db, scope, ri_id):
        raise Conflict("too_few_remain", "Fewer instances than `number` remain with the owner.")
    await records.add_move(
        db,
        scope,
        move_id=new_id("ri"),
        ri_id=ri_id,
        customer_id=body.customer_id,
        number=body.number,
        closing_count=closing_count,
    )


async def remove_reserved_instance(
    db: AsyncConnection, scope: TenantScope, ri_id: str, vendor: Literal["aws"]
) -> None:
    """Return the instances of a moved record to the original record."""
    closing_count = await lock_closing_count(db, scope, vendor)
    move = await records.find_move(db, scope, vendor, ri_id)
    if move is None:
        if await records.lock_reservation(db, scope, vendor, ri_id) is None:
            raise not_found()
        raise Conflict(
            "reservation_not_moved",
            "This is an original record. Only moved records can be removed.",
        )
    await records.lock_reservation(db, scope, vendor, move.ri_id)
    if not await records.remove_move(db, scope, ri_id, closing_count):
        raise not_found()


# ── imports ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlyReservation:
    """A reservation in the vendor's lines of one month, with the vendor's texts and numbers."""

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
    period: BillingPeriod,
    payer_id: str,
    reservations: Sequence[MonthlyReservation],
) -> None:
    """Replace the reservation fees of a payer and period; reservations and moves span months.

    The description of a reservation comes from its newest month. If a reservation shrinks below the
    number of moved instances, its moves stay: the oldest moves are served first, and all of them
    again when it grows.
    """
    MonthChange.import_costs.refuse_if_closed(await lock_month(db, scope, period))
    reservations_by_id = _group_by_id(scope, period.vendor, payer_id, reservations)
    existing_ids = await fee_records.list_payer_reservations(db, scope, period, payer_id)
    affected_ids = existing_ids | reservations_by_id.keys()
    if not affected_ids:
        return
    rows = {
        ri_id: _build_row(ri_id, period.vendor, fees[0])
        for ri_id, fees in reservations_by_id.items()
    }
    await fee_records.lock_reservations(db, scope, affected_ids)
    await fee_records.add_missing_reservations(db, scope, list(rows.values()))
    await fee_records.replace_fees(
        db,
        scope,
        payer_id=payer_id,
        month=period.month,
        ri_ids=affected_ids,
        fees=[
            {"ri_id": ri_id, "fee": fee.fee, "currency": fee.currency, "number": fee.number}
            for ri_id, fees in reservations_by_id.items()
            for fee in fees
        ],
    )
    newest = await fee_records.load_newest_months(db, scope, affected_ids)
    await fee_records.upsert_reservations(
        db, scope, [row for ri_id, row in rows.items() if newest[ri_id] == period.month]
    )
    await fee_records.refresh_instance_counts(db, scope, affected_ids)
    await fee_records.delete_unused_reservations(db, scope, affected_ids)


def _group_by_id(
    scope: TenantScope, vendor: Vendor, payer_id: str, reservations: Sequence[MonthlyReservation]
) -> Mapping[str, list[MonthlyReservation]]:
    """Group by ri_id, in order; an id has one item for each currency of its fee."""
    reservations_by_id: dict[str, list[MonthlyReservation]] = {}
    for reservation in reservations:
        if reservation.payer_id != payer_id:
            raise ValueError("the reservation belongs to another payer")
        owner = (reservation.reservation_id, reservation.customer_id)
        ri_id = derive_id("ri", scope.organisation_id, vendor, *owner)
        fees = reservations_by_id.setdefault(ri_id, [])
        if reservation.currency in [fee.currency for fee in fees]:
            raise ValueError("the reservation has two fees in one currency")
        fees.append(reservation)
    return dict(sorted(reservations_by_id.items()))


_COPIED_FIELDS = [
    field.name for field in fields(MonthlyReservation) if field.name in records.TEXT_COLUMNS
]


def _build_row(ri_id: str, vendor: Vendor, reservation: MonthlyReservation) -> dict[str, Any]:
    return {
        "ri_id": ri_id,
        "vendor": vendor,
        "reservation_id": reservation.reservation_id,
        "customer_id": reservation.customer_id,
        "arn": reservation.reservation_id if vendor == "aws" else "",
        "start_time": parse_time(reservation.start),
        "end_time": parse_time(reservation.end),
        **{name: getattr(reservation, name) for name in _COPIED_FIELDS},
        "scope": derive_scope(
            vendor,
            stated=reservation.scope,
            zone=reservation.zone,
            region=reservation.region,
        ),
        "paid_by": reservation.payer_id,
        "normalization_factor": parse_number(reservation.normalization_factor),
        "number": reservation.number,
        "unblended_rate": parse_number(reservation.unblended_rate),
        "upfront_value": parse_number(reservation.upfront_value),
    }
