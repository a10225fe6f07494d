"""The reservations of the visible accounts, with their fees and their use in a month."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.fee_records import list_reservations_with_fees
from nimbill.adjustments.reserved_instances.split_rules import limit_moves, split_fee
from nimbill.adjustments.reserved_instances.vendor_values import format_time
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.calendar_month import month_end
from nimbill.foundation.money import strip_zeros, subtract_decimals, sum_decimals
from nimbill.portal.commitments.bodies import (
    CommitmentState,
    Reservation,
    ReservationList,
    ReservationUse,
    ReservationUseList,
)
from nimbill.portal.commitments.commitment_rules import (
    calculate_percentage,
    count_hours,
    divide_hours,
)
from nimbill.portal.commitments.pricing import ReportPricing, VendorCost
from nimbill.portal.former_owners import ViewedMonths
from nimbill.portal.prices import PriceKey
from nimbill.portal.report_basis import ReportBasis, load_report_basis
from nimbill.portal.usage.bodies import list_unpriced, list_usage_months
from nimbill.portal.view import AccountKey, PortalView


@dataclass(slots=True)
class ReservationPart:
    """The instances of a reservation that one account pays for."""

    row: Row
    company_id: str
    customer_id: str
    move_id: str | None
    number: int = 0
    total: int = 0
    fees: list[VendorCost] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.move_id or str(self.row.ri_id)

    @property
    def reservation_id(self) -> str | None:
        """The id of a reservation may contain the number of its owner's account."""
        return None if self.move_id else self.row.reservation_id

    @property
    def known_number(self) -> int | None:
        """Some vendors do not state how many instances a reservation has."""
        return self.number if self.total else None


class ViewedNames(dict[str, str]):
    """The names of the visible accounts; one that has left is shown by its number."""

    def __missing__(self, customer_id: str) -> str:
        return customer_id


async def list_reservations(
    db: AsyncConnection, view: PortalView, month: str, now: datetime
) -> ReservationList:
    """List the reservations that began before the end of the month."""
    report_basis = await load_report_basis(db, view, [month])
    parts = await _load_parts(db, report_basis, month)
    company_ids = {part.company_id for part in parts}
    pricing = ReportPricing(await report_basis.load_prices(db, company_ids))
    names = ViewedNames(view.list_names())
    return ReservationList(
        month=month,
        rows=[_build_reservation(part, names, pricing, month, now) for part in parts],
        months=list_usage_months(pricing.usage),
        unpriced=list_unpriced(pricing.usage.unpriced),
    )


def _build_reservation(
    part: ReservationPart, names: ViewedNames, pricing: ReportPricing, month: str, now: datetime
) -> Reservation:
    row = part.row
    currency, fee = pricing.convert(PriceKey(part.company_id, row.vendor, month), part.fees)
    return Reservation(
        id=part.id,
        reservation_id=part.reservation_id,
        vendor=row.vendor,
        customer_id=part.customer_id,
        customer_name=names[part.customer_id],
        service=row.service,
        instance_type=row.instance_type,
        platform=row.platform,
        tenancy=row.tenancy,
        region=row.region,
        zone=row.zone,
        scope=row.scope,
        number=part.known_number,
        payment_option=row.payment_option,
        offer_class=row.offer_class,
        term_length=row.term_length,
        start=format_time(row.start_time),
        end=format_time(row.end_time),
        state=derive_state(row.end_time, now),
        moved=part.move_id is not None,
        currency=currency,
        fee=fee,
    )


def derive_state(end: datetime | None, now: datetime) -> CommitmentState:
    is_expired = end is not None and end <= now
    return CommitmentState.expired if is_expired else CommitmentState.active


async def list_reservation_use(
    db: AsyncConnection, view: PortalView, month: str, now: datetime
) -> ReservationUseList:
    """List the reservations that the vendor charged in the month, with their use."""
    report_basis = await load_report_basis(db, view, [month])
    parts = [part for part in await _load_parts(db, report_basis, month) if part.fees]
    names = ViewedNames(view.list_names())
    return ReservationUseList(
        month=month,
        rows=[
            _build_use(
                part,
                names,
                count_bought_hours(part, month, now),
                find_used_hours(part),
            )
            for part in parts
        ],
    )


def _build_use(
    part: ReservationPart, names: ViewedNames, bought: int | None, used: Decimal | None
) -> ReservationUse:
    return ReservationUse(
        id=part.id,
        reservation_id=part.reservation_id,
        vendor=part.row.vendor,
        customer_id=part.customer_id,
        customer_name=names[part.customer_id],
        service=part.row.service,
        instance_type=part.row.instance_type,
        region=part.row.region,
        number=part.known_number,
        moved=part.move_id is not None,
        hours_bought=bought,
        hours_used=used,
        percentage=calculate_percentage(used, bought),
    )


def count_bought_hours(part: ReservationPart, month: str, now: datetime) -> int | None:
    """None if the vendor does not state how many instances there are, or for which time."""
    start, end = part.row.start_time, part.row.end_time
    if not part.total or start is None or end is None:
        return None
    return part.number * count_hours(month, now, start, end)


def find_used_hours(part: ReservationPart) -> Decimal | None:
    """The hours in instances of the reserved size; a larger instance counts as several.

    The accounts that share a reservation by moves share its use in the same proportion.
    """
    row = part.row
    factor, hours, normalized_hours = row.normalization_factor, row.used_hours, row.used_normalized
    if not row.used_lines:
        hours = normalized_hours = Decimal(0)
    if factor and normalized_hours is not None:
        hours = divide_hours(normalized_hours / factor, 1, 1)
    if hours is None:
        return None
    if not part.total:
        return strip_zeros(hours)
    return divide_hours(hours, part.number, part.total)


# ── parts of reservations ────────────────────────────────────────────────────────────────────────


async def _load_parts(
    db: AsyncConnection, report_basis: ReportBasis, month: str
) -> list[ReservationPart]:
    """Load the parts that belong to visible accounts in the month.

    Moves connect accounts of different companies, so that the whole organisation is read.
    """
    accounts = report_basis.accounts
    scope = TenantScope(accounts.scope.organisation_id)
    parts: list[ReservationPart] = []
    for vendor in sorted({key.vendor for key in accounts}):
        period = BillingPeriod(month, vendor)
        closing_number = report_basis.closing_numbers.get(period)
        customer_ids = [key.customer_id for key in accounts if key.vendor == vendor]
        rows = await list_reservations_with_fees(db, scope, period, closing_number, customer_ids)
        for _, of_reservation in groupby(rows, key=lambda row: row.ri_id):
            parts += _build_parts(list(of_reservation), accounts, month)
    return sorted(parts, key=lambda part: (part.row.vendor, part.customer_id, part.id))


def _build_parts(
    rows: Sequence[Row], accounts: ViewedMonths, month: str
) -> Iterator[ReservationPart]:
    """The rows are the fees of one reservation in the month, each with the moves, oldest first."""
    start = rows[0].start_time
    if start is not None and start > month_end(month):
        return
    parts = _split_reservation(rows)
    has_moved = len(parts) > 1
    for part in parts:
        company_id = _find_company(accounts, part, month)
        if company_id is not None and (part.number or not has_moved):
            part.company_id = company_id
            yield part


def _find_company(accounts: ViewedMonths, part: ReservationPart, month: str) -> str | None:
    vendor = part.row.vendor
    account = accounts.get(AccountKey(vendor, part.customer_id))
    if account is None:
        return None
    return accounts.find_owner(vendor, part.customer_id, month, account.company_id)


def _split_reservation(rows: Sequence[Row]) -> list[ReservationPart]:
    """Split number and fees between the owner and the destinations of the moves."""
    first = rows[0]
    parts: dict[str | None, ReservationPart] = {
        None: ReservationPart(first, "", first.customer_id, None)
    }
    for row in rows:
        if row.move_id is not None:
            parts[row.move_id] = ReservationPart(first, "", row.dest_customer_id, row.move_id)
    for _, moves in groupby(rows, key=lambda row: (row.payer_id, row.currency)):
        _add_fee(parts, [*moves])
    return list(parts.values())


def _add_fee(parts: dict[str | None, ReservationPart], rows: Sequence[Row]) -> None:
    """A reservation that the month's files do not contain has instances, but no fee."""
    total, fee, currency = rows[0].total, rows[0].fee, rows[0].currency
    moves = [row for row in rows if row.move_id is not None]
    moved_numbers = limit_moves(total, [move.moved for move in moves])
    receivers = [parts[None], *(parts[move.move_id] for move in moves)]
    numbers = [total - sum(moved_numbers), *moved_numbers]
    for part, number in zip(receivers, numbers, strict=True):
        # Two payers may be charged for the same instances.
        part.number, part.total = max(part.number, number), max(part.total, total)
    if fee is not None:
        moved_fees = split_fee(fee, total, moved_numbers)
        amounts = [subtract_decimals(fee, sum_decimals(moved_fees)), *moved_fees]
        for part, amount in zip(receivers, amounts, strict=True):
            part.fees.append(VendorCost(amount, currency))
