"""Compares the entries applied to a month with those on its invoices. Pure functions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from nimbill.closing.reconciliation.tie_out import INVOICE_MISSING
from nimbill.foundation.money import subtract_decimals

ENTRY_NOT_ON_INVOICE = "entry_not_on_invoice"
ENTRY_NOT_APPLIED = "entry_not_applied"
ENTRY_CHANGED = "entry_changed"
ENTRY_INVOICED_TWICE = "entry_invoiced_twice"

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledEntry:
    """An entry as it is applied, or as it is on an invoice."""

    entry_id: str
    customer_id: str
    currency: str
    amount: Decimal
    exchange_rate: Decimal
    tax_free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoicedEntries:
    company_id: str
    invoice_no: str
    entries: tuple[BilledEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDifference:
    """An amount is zero if the entry is not applied to the month, or on no invoice."""

    reason: str
    company_id: str | None
    invoice_no: str | None
    entry_id: str
    customer_id: str
    currency: str
    invoiced: Decimal
    applied: Decimal

    @property
    def amount(self) -> Decimal:
        return subtract_decimals(self.applied, self.invoiced)


def compare_entries(
    applied: Iterable[BilledEntry],
    invoices: Iterable[InvoicedEntries],
    groups: Mapping[str, str],
) -> list[EntryDifference]:
    """`groups` maps accounts in a billing group to its company_id."""
    expected = {entry.entry_id: entry for entry in applied}
    invoice_by_group = {invoice.company_id: invoice for invoice in invoices}
    seen: set[str] = set()
    differences = []
    for invoice in invoice_by_group.values():
        for entry in invoice.entries:
            reason = _find_fault(entry, expected.get(entry.entry_id), seen)
            seen.add(entry.entry_id)
            if reason is not None:
                amount = expected[entry.entry_id].amount if reason == ENTRY_CHANGED else ZERO
                differences.append(_describe(reason, invoice, entry, entry.amount, amount))
    for entry in expected.values():
        if entry.entry_id not in seen:
            company_id = groups.get(entry.customer_id)
            differences.append(_describe_missing(entry, company_id, invoice_by_group))
    return sorted(differences, key=lambda found: (found.customer_id, found.entry_id, found.reason))


def _find_fault(invoiced: BilledEntry, applied: BilledEntry | None, seen: set[str]) -> str | None:
    if applied is None:
        return ENTRY_NOT_APPLIED
    if invoiced.entry_id in seen:
        return ENTRY_INVOICED_TWICE
    return None if invoiced == applied else ENTRY_CHANGED


def _describe_missing(
    entry: BilledEntry, company_id: str | None, invoices: Mapping[str, InvoicedEntries]
) -> EntryDifference:
    """An account in no billing group is on no invoice either."""
    invoice = invoices.get(company_id or "")
    if company_id is None or invoice is not None:
        return _describe(ENTRY_NOT_ON_INVOICE, invoice, entry, ZERO, entry.amount)
    return _describe(INVOICE_MISSING, None, entry, ZERO, entry.amount, company_id=company_id)


def _describe(
    reason: str,
    invoice: InvoicedEntries | None,
    entry: BilledEntry,
    invoiced: Decimal,
    applied: Decimal,
    *,
    company_id: str | None = None,
) -> EntryDifference:
    return EntryDifference(
        reason=reason,
        company_id=invoice.company_id if invoice else company_id,
        invoice_no=invoice.invoice_no if invoice else None,
        entry_id=entry.entry_id,
        customer_id=entry.customer_id,
        currency=entry.currency,
        invoiced=invoiced,
        applied=applied,
    )
