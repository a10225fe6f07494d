"""Operations on recalculation entries: apply, unapply, replace by an import."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation import records
from nimbill.adjustments.recalculation.bodies import RecalculationApply
from nimbill.adjustments.recalculation.records import NewRecalculationEntry
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import derive_id
from nimbill.foundation.money import format_decimal
from nimbill.foundation.vendors import Vendor

# See docs/choices.md, recalculation-entries.


async def apply_recalculation(
    db: AsyncConnection, scope: TenantScope, body: RecalculationApply
) -> None:
    """Apply or unapply all of the entries; if one cannot be changed, none is."""
    if body.apply:
        await _apply(db, scope, body)
    else:
        await _unapply(db, scope, body)


async def _apply(db: AsyncConnection, scope: TenantScope, body: RecalculationApply) -> None:
    """An entry that is already applied with the same values stays unchanged."""
    state = await lock_month(db, scope, BillingPeriod(body.month, body.vendor), shared=True)
    entries = await _require_entries(db, scope, body.vendor, body.data)
    MonthChange.change_entries.refuse_if_closed(state)
    for entry in entries:
        _refuse_inapplicable(entry, body)
    await records.mark_applied(
        db,
        scope,
        [entry.entry_id for entry in entries if entry.applied_month is None],
        month=body.month,
        exchange_rate=body.exchange_rate,
        tax_free=body.tax_free,
    )


def _refuse_inapplicable(entry: Row, body: RecalculationApply) -> None:
    if entry.applied_month is not None:
        requested = (body.month, body.exchange_rate, body.tax_free)
        if (entry.applied_month, entry.exchange_rate, entry.tax_free) != requested:
            raise Conflict(
                "entry_applied",
                "An entry is already applied with another month, exchange_rate or tax_free. "
                "Unapply it first.",
            )
    elif entry.company_id is None:
        raise Conflict("entry_without_group", "The account of an entry is in no billing group.")
    elif body.month < entry.month:
        raise Conflict(
            "month_before_entry", "An entry cannot be applied to a month before its own."
        )


async def _unapply(db: AsyncConnection, scope: TenantScope, body: RecalculationApply) -> None:
    """Unapply the entries from the months they are applied to, which `body.month` need not name.

    Entries that the vendor's latest data no longer contains are deleted.
    """
    months = await records.list_applied_months(db, scope, body.vendor, body.data)
    states = {
        month: await lock_month(db, scope, BillingPeriod(month, body.vendor), shared=True)
        for month in months
    }
    entries = [
        entry
        for entry in await _require_entries(db, scope, body.vendor, body.data)
        if entry.applied_month is not None
    ]
    if any(entry.calc_type == records.CORRECTION for entry in entries):
        raise Conflict(
            "entry_of_correction",
            "An entry corrects an invoice. It cannot be taken back; correct the invoice again.",
        )
    for month in {entry.applied_month for entry in entries}:
        if month not in states:
            raise Conflict("conflict", "An entry was changed by another request. Try again.")
        MonthChange.change_entries.refuse_if_closed(states[month])
    await records.mark_unapplied(
        db, scope, [entry.entry_id for entry in entries if entry.delivered]
    )
    await records.delete_entries(
        db, scope, [entry.entry_id for entry in entries if not entry.delivered]
    )


async def _require_entries(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, entry_ids: Iterable[str]
) -> Sequence[Row]:
    unique_ids = set(entry_ids)
    entries = await records.lock_entries(db, scope, vendor, unique_ids)
    if len(entries) != len(unique_ids):
        raise not_found()
    return entries


@dataclass(frozen=True, slots=True)
class VanishedEntry:
    """An applied entry that the vendor's latest data no longer contains."""

    entry_id: str
    applied_month: str
    customer_id: str
    description: str
    currency_code: str
    unblended_cost: str


@dataclass(frozen=True, slots=True)
class EntryReplacement:
    """The result of `replace_entries`, counted in entries."""

    added: int
    unchanged: int
    removed: int
    vanished: tuple[VanishedEntry, ...]  # they stay applied until they are unapplied


async def replace_entries(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    payer_id: str,
    entries: Sequence[NewRecalculationEntry],
) -> EntryReplacement:
    """Replace all entries of a payer and period by these; applied entries stay applied."""
    MonthChange.import_costs.refuse_if_closed(await lock_month(db, scope, period))
    new_entries = _assign_entry_ids(scope, period, payer_id, entries)
    existing = await records.lock_payer_entries(db, scope, period, payer_id)
    missing = [row for row in existing if row.entry_id not in new_entries]
    vanished = [row for row in missing if row.applied_month is not None]
    removed_ids = [row.entry_id for row in missing if row.applied_month is None]
    await records.upsert_entries(db, scope, period, new_entries)
    await records.mark_undelivered(db, scope, [row.entry_id for row in vanished])
    await records.delete_entries(db, scope, removed_ids)
    unchanged = len(existing) - len(missing)
    return EntryReplacement(
        added=len(new_entries) - unchanged,
        unchanged=unchanged,
        removed=len(removed_ids),
        vanished=tuple(_build_vanished_entry(row) for row in vanished),
    )


def _build_vanished_entry(row: Row) -> VanishedEntry:
    return VanishedEntry(
        entry_id=row.entry_id,
        applied_month=row.applied_month,
        customer_id=row.customer_id,
        description=row.description,
        currency_code=row.currency_code,
        unblended_cost=format_decimal(row.unblended_cost),
    )


def _assign_entry_ids(
    scope: TenantScope,
    period: BillingPeriod,
    payer_id: str,
    entries: Sequence[NewRecalculationEntry],
) -> Mapping[str, NewRecalculationEntry]:
    """Derive each id from the entry's content and its position among entries of equal content.

    The vendor's invoice_id is not part of the content: the vendor adds it later to the same entry.
    """
    entries_by_id: dict[str, NewRecalculationEntry] = {}
    counts: dict[tuple[str, ...], int] = {}
    for entry in sorted(entries, key=lambda entry: entry.invoice_id or ""):
        if entry.payer_id != payer_id:
            raise ValueError("the entry belongs to another payer")
        content = (
            entry.customer_id,
            entry.calc_type,
            entry.platform_type,
            entry.description,
            entry.product_name,
            entry.product_code,
            entry.currency_code,
            format_decimal(entry.unblended_cost),
            entry.time_interval,
            entry.usage_start.astimezone(UTC).isoformat(),
        )
        position = counts[content] = counts.get(content, 0) + 1
        owner = (scope.organisation_id, period.vendor, payer_id, period.month)
        entries_by_id[derive_id("rce", *owner, *content, position)] = entry
    return entries_by_id
