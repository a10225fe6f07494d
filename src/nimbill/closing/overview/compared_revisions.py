"""Compares two revisions of an invoice line by line and by tax rate. Pure functions."""

from collections.abc import Iterator
from decimal import Decimal

from nimbill.closing.overview.bodies import ComparedTax, RevisionComparison
from nimbill.closing.overview.compared_amounts import (
    ZERO,
    compare_amounts,
    convert_amount,
    read_totals,
)
from nimbill.foundation.currency import Currency
from nimbill.invoicing.documents.document import InvoiceDocument

TaxRate = Decimal | None  # None for what is not subject to tax
TaxedAmount = tuple[Decimal, Decimal]  # before tax, and the tax


def compare_revisions(
    invoice: InvoiceDocument, before: InvoiceDocument | None
) -> RevisionComparison:
    """Amounts are in the currency of `invoice`; without `before` every line is added."""
    compared = list(compare_amounts(invoice, before))
    new = read_totals(invoice, invoice.currency)
    old = read_totals(before, invoice.currency) if before else None
    return RevisionComparison(
        invoice_no=invoice.invoice_no,
        revision=invoice.revision,
        revision_before=before.revision if before else None,
        currency=invoice.currency,
        added=[amount for amount in compared if amount.amount_before is None],
        removed=[amount for amount in compared if amount.amount is None],
        changed=[
            amount
            for amount in compared
            if amount.amount is not None and amount.amount_before is not None and amount.change
        ],
        taxes=list(_compare_taxes(invoice, before)),
        pre_tax=new.pre_tax,
        pre_tax_before=old.pre_tax if old else None,
        tax=new.tax,
        tax_before=old.tax if old else None,
        total=new.total,
        total_before=old.total if old else None,
    )


def _compare_taxes(
    invoice: InvoiceDocument, before: InvoiceDocument | None
) -> Iterator[ComparedTax]:
    """The highest rate first; what is not subject to tax is last."""
    new = _read_taxes(invoice, invoice.currency)
    old = _read_taxes(before, invoice.currency) if before else {}
    for rate in sorted({**new, **old}, key=lambda rate: (rate is None, -(rate or ZERO))):
        taxable, tax = new.get(rate, (None, None))
        taxable_before, tax_before = old.get(rate, (None, None))
        yield ComparedTax(
            tax_rate=rate,
            pre_tax=taxable,
            pre_tax_before=taxable_before,
            tax=tax,
            tax_before=tax_before,
        )


def _read_taxes(document: InvoiceDocument, currency: Currency) -> dict[TaxRate, TaxedAmount]:
    sheet = document.sheet
    taxable = convert_amount(document, sheet.taxable, currency)
    taxes: dict[TaxRate, TaxedAmount] = {
        sheet.tax_rate: (taxable, convert_amount(document, sheet.tax, currency))
    }
    if any(entry.tax_free for entry in sheet.entries):
        taxes[None] = (convert_amount(document, sheet.tax_free, currency), ZERO)
    return taxes
