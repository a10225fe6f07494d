"""Rows of the FOCUS data set Billing Period: one for each issuer of the exported charges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from nimbill.costs.focus_names import next_month_start
from nimbill.foundation.calendar_month import month_start
from nimbill.invoicing.focus.invoice_rows import FocusRow, Invoice
from nimbill.invoicing.focus.month_records import FocusMonth

# See docs/choices.md, focus-invoices.


def build_billing_period_rows(month: FocusMonth, *, with_vendors: bool) -> Iterator[FocusRow]:
    """The vendors' periods are needed if Cost and Usage contains what they charged."""
    period = {
        "BillingPeriodEnd": next_month_start(month.month),
        "BillingPeriodStart": month_start(month.month),
    }
    if with_vendors:
        for vendor in sorted({file.vendor for file in month.files}):
            yield period | _describe_vendor(month, vendor)
    issuers: defaultdict[str, list[Invoice]] = defaultdict(list)
    for invoice in month.invoices:
        issuers[month.issuer_name(invoice.document)].append(invoice)
    for issuer, invoices in sorted(issuers.items()):
        yield period | {"InvoiceIssuerName": issuer} | _describe_issuer(month, invoices)


def _describe_vendor(month: FocusMonth, vendor: str) -> FocusRow:
    """A vendor closes its month by giving every line the id of its invoice."""
    costs = month.costs[vendor]
    return {
        "BillingPeriodCreated": costs.first_import,
        "BillingPeriodLastUpdated": costs.last_import,
        "BillingPeriodStatus": "Open" if costs.provisional else "Closed",
        "InvoiceIssuerName": month.name_provider(vendor),
    }


def _describe_issuer(month: FocusMonth, invoices: list[Invoice]) -> FocusRow:
    vendors = {invoice.vendor for invoice in invoices}
    states = [month.states[vendor] for vendor in vendors if vendor in month.states]
    changes = [invoice.update_time for invoice in invoices]
    is_closed = all(month.is_closed(vendor) for vendor in vendors)
    return {
        "BillingPeriodCreated": min(invoice.create_time for invoice in invoices),
        "BillingPeriodLastUpdated": max(changes + [state.update_time for state in states]),
        "BillingPeriodStatus": "Closed" if is_closed else "Open",
    }
