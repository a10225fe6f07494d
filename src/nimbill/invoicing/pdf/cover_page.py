"""The contents of the cover page over the vendors' invoices of one billing group and month."""

from collections.abc import Iterator, Sequence

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import number_format
from nimbill.invoicing.pdf.invoice_page import (
    TemplateData,
    build_head,
    build_payment_details,
    build_running_titles,
    format_invoice_number,
    is_provisional,
    list_tax_bases,
)
from nimbill.invoicing.pdf.labels import currency_label, labels_for


def build_cover_page(documents: Sequence[InvoiceDocument]) -> TemplateData:
    """List each invoice with its number and tax, and one sum for each currency.

    Issuer and addressee come from the latest invoice; the tax is the sum of the invoices' taxes.
    """
    latest = max(documents, key=lambda document: document.issue_date)
    labels = labels_for(latest.language)
    month = number_format.format_month(latest.month, latest.language)
    due_dates = {document.due_date for document in documents}
    sums = [list(row) for row in _list_sums(documents, latest)]
    return {
        "labels": labels,
        "head": {
            **build_head(latest),
            "title": labels["cover_title"],
            "number": None,
            "due": build_head(latest)["due"] if len(due_dates) == 1 else None,
            **build_running_titles(latest, month, labels["cover_title"]),
        },
        "totals": [total for *_, total in sums],
        "facts": [[labels["month"], month]],
        "provisional": any(is_provisional(document) for document in documents),
        "rows": [_build_row(document, with_due=len(due_dates) > 1) for document in documents],
        "sums": sums,
        **build_payment_details(latest),
    }


def _build_row(document: InvoiceDocument, *, with_due: bool) -> TemplateData:
    sheet, currency, language = document.sheet, document.currency, document.language
    labels, due = labels_for(language), document.due_date
    notes = [f"{name} {value}" for name, value in list_tax_bases(document)]
    if with_due and due:
        notes.append(f"{labels['due']} {number_format.format_date(due, language)}")
    return {
        "number": format_invoice_number(document),
        "vendor": document.vendor_name,
        "notes": notes,
        "figures": [
            number_format.format_money(value, currency, language)
            for value in (sheet.pre_tax, sheet.tax, sheet.total)
        ],
    }


def _list_sums(
    documents: Sequence[InvoiceDocument], latest: InvoiceDocument
) -> Iterator[list[str]]:
    """List one row for each currency of the invoices."""
    labels, language = labels_for(latest.language), latest.language
    for currency in Currency:
        sheets = [document.sheet for document in documents if document.currency == currency]
        if sheets:
            totals = (
                sum_decimals(sheet.pre_tax for sheet in sheets),
                sum_decimals(sheet.tax for sheet in sheets),
                sum_decimals(sheet.total for sheet in sheets),
            )
            yield [
                labels["sum_of"].format(currency_label(currency, language)),
                *(number_format.format_money(value, currency, language) for value in totals),
            ]
