"""The printed lines of an invoice as FOCUS charges; they add up to the invoice's total."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from nimbill.invoicing.calculation.lines import EntryLine, Fee, ItemLine, UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument

# See docs/choices.md, focus-invoices.

# the calc_type of an entry to charge category and charge class
ENTRY_CHARGES: Mapping[str, tuple[str, str | None]] = {
    "Fee": ("Purchase", None),
    "Upfront": ("Purchase", None),
    "Credit": ("Credit", None),
    "Refund": ("Usage", "Correction"),
    "Correction": ("Usage", "Correction"),
}


class InvoiceCharge(NamedTuple):
    """One printed line; amounts are printed amounts in the invoice's currency."""

    category: str
    frequency: str
    description: str
    service: str
    billed_cost: Decimal
    list_cost: Decimal  # before the discount
    class_: str | None = None
    customer_id: str | None = None
    customer_name: str | None = None
    tag: str | None = None
    marketplace: bool = False
    by_vendor: bool = False  # the vendor's service; otherwise the issuer's own


def list_charges(document: InvoiceDocument) -> list[InvoiceCharge]:
    """Return all lines in page order; the tax is the last."""
    return list(_build_charges(document))


def _build_charges(document: InvoiceDocument) -> Iterator[InvoiceCharge]:
    sheet, by_tag = document.sheet, document.terms.calc_type == "tag"
    for line in sheet.lines:
        yield _build_usage(line, by_tag=by_tag)
    for name, fee in (("Support", sheet.support), ("Agency fee", sheet.agency)):
        if fee is not None:
            yield _build_fee(name, fee)
    for entry in sheet.entries:
        yield _build_entry(entry)
    for item in sheet.items:
        yield _build_item(item)
    if sheet.tax_rate:
        yield InvoiceCharge(
            category="Tax",
            frequency="One-Time",
            description=f"Tax {(sheet.tax_rate * 100).normalize():f} %",
            service="Tax",
            billed_cost=sheet.tax,
            list_cost=sheet.tax,
        )


def _build_usage(line: UsageLine, *, by_tag: bool) -> InvoiceCharge:
    return InvoiceCharge(
        category="Usage",
        frequency="Usage-Based",
        description=line.name or "Usage",
        service=line.service,
        billed_cost=line.after,
        list_cost=line.charge,
        customer_id=line.customer_id or None,
        customer_name=line.customer_name or None,
        tag=line.tag if by_tag else None,
        marketplace=line.marketplace,
        by_vendor=True,
    )


def _build_fee(name: str, fee: Fee) -> InvoiceCharge:
    return InvoiceCharge(
        category="Purchase",
        frequency="Recurring",
        description=name,
        service=name,
        billed_cost=fee.after,
        list_cost=fee.charge,
    )


def _build_entry(entry: EntryLine) -> InvoiceCharge:
    category, class_ = ENTRY_CHARGES[entry.calc_type]
    return InvoiceCharge(
        category=category,
        class_=class_,
        frequency="One-Time",
        description=entry.description or entry.calc_type,
        service="One-off charges",
        billed_cost=entry.amount,
        list_cost=entry.amount,
        customer_id=entry.customer_id or None,
        customer_name=entry.customer_name or None,
        by_vendor=True,
    )


def _build_item(item: ItemLine) -> InvoiceCharge:
    """An item with a negative amount is a reduction that the customer was granted."""
    return InvoiceCharge(
        category="Purchase" if item.total >= 0 else "Credit",
        frequency="One-Time",
        description=item.label or "Item",
        service="Other services",
        billed_cost=item.total,
        list_cost=item.total,
    )
