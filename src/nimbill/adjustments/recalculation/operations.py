"""What may be done with recalculation entries: applied, taken back, replaced by an import."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation import records
from nimbill.adjustments.recalculation.bodies import RecalculationApply
from nimbill.adjustments.recalculation.records import NewRecalculationEntry, plain
from nimbill.costs.months.operations import refuse_closed
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import derived_id
from nimbill.foundation.vendors import BilledVendor, Vendor

basis = chosen("recalculation-apply")
entries_basis = chosen("recalculation-entries")


async def apply_recalculation(
    db: AsyncConnection, scope: TenantScope, body: RecalculationApply
) -> None:
    """All of the entries or none of them."""
    if body.apply:
        await _apply(db, scope, body)
    else:
        await _unapply(db, scope, body)


async def _apply(db: AsyncConnection, scope: TenantScope, body: RecalculationApply) -> None:
    """An entry that is applied just so already is left as it is."""
    target = await lock_month(db, scope, BillingPeriod(body.month, body.vendor), shared=True)
    entries = await _require_entries(db, scope, body.vendor, body.data)
    refuse_closed(target)
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
        as_asked = (body.month, body.exchange_rate, body.tax_free)
        if (entry.applied_month, entry.exchange_rate, entry.tax_free) != as_asked:
            raise Conflict("entry_applied", "an entry is applied in another way: unapply it first")
    elif entry.company_id is None:
        raise Conflict("entry_without_group", "an entry's account is in no billing group")
    elif body.month < entry.month:
        raise Conflict("month_before_entry", "an entry is of a later month")


async def _unapply(db: AsyncConnection, scope: TenantScope, body: RecalculationApply) -> None:
    """From wherever it is applied; one that the vendor's data no longer has is then forgotten."""
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
    for month in {entry.applied_month for entry in entries}:
        if month not in states:
            raise Conflict("conflict", "the records changed meanwhile and now forbid this")
        refuse_closed(states[month])
    await records.mark_unapplied(db, scope, [entry.entry_id for entry in entries if entry.delivered])
    await records.delete_entries(
        db, scope, [entry.entry_id for entry in entries if not entry.delivered]
    )


async def _require_entries(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, ids: Iterable[str]
) -> Sequence[Row]:
    wanted = set(ids)
    entries = await records.lock_entries(db, scope, vendor, wanted)
    if len(entries) != len(wanted):
        raise not_found()
    return entries


@dataclass(frozen=True, slots=True)
class VanishedEntry:
    """An applied entry that the vendor's newest data no longer has."""

    entry_id: str
    applied_month: str
    customer_id: str
    description: str
    currency_code: str
    unblended_cost: str


@dataclass(frozen=True, slots=True)
class EntryReplacement:
    added: int
    kept: int
    removed: int
    vanished: tuple[VanishedEntry, ...]  # they stay applied until somebody takes them back


async def replace_entries(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    vendor: Vendor,
    payer_id: str,
    month: str,
    entries: Sequence[NewRecalculationEntry],
) -> EntryReplacement:
    """The entries of a payer and month become these; what was applied stays applied."""
    refuse_closed(await lock_month(db, scope, BillingPeriod(month, vendor)))
    named = _assign_entry_ids(scope, vendor, payer_id, month, entries)
    before = await records.lock_entries_of_payer(db, scope, vendor, payer_id, month)
    gone = [row for row in before if row.entry_id not in named]
    vanished = [row for row in gone if row.applied_month is not None]
    await records.put_entries(db, scope, vendor, month, named)
    await records.mark_undelivered(db, scope, [row.entry_id for row in vanished])
    forgotten = [row.entry_id for row in gone if row.applied_month is None]
    await records.delete_entries(db, scope, forgotten)
    kept = len(before) - len(gone)
    return EntryReplacement(
        added=len(named) - kept,
        kept=kept,
        removed=len(forgotten),
        vanished=tuple(
            VanishedEntry(
                entry_id=row.entry_id,
                applied_month=row.applied_month,
                customer_id=row.customer_id,
                description=row.description,
                currency_code=row.currency_code,
                unblended_cost=plain(row.unblended_cost),
            )
            for row in vanished
        ),
    )


def _assign_entry_ids(
    scope: TenantScope,
    vendor: str,
    payer_id: str,
    month: str,
    entries: Sequence[NewRecalculationEntry],
) -> dict[str, NewRecalculationEntry]:
    """By ids made from what an entry says, and from its place among those that say the same.

    The invoice's number is left out: it comes later, and the entry is still the same one.
    """
    found: dict[str, NewRecalculationEntry] = {}
    counts: dict[tuple[str, ...], int] = {}
    for entry in sorted(entries, key=lambda entry: entry.invoice_id or ""):
        if entry.payer_id != payer_id:
            raise ValueError("an entry of another payer")
        said = (
            entry.customer_id,
            entry.calc_type,
            entry.platform_type,
            entry.description,
            entry.product_name,
            entry.product_code,
            entry.currency_code,
            plain(entry.unblended_cost),
            entry.time_interval,
            entry.usage_start.astimezone(UTC).isoformat(),
        )
        place = counts[said] = counts.get(said, 0) + 1
        whose = (scope.organisation_id, str(vendor), payer_id, month)
        found[derived_id("rce", *whose, *said, place)] = entry
    return found
