"""The covering page over the vendors' invoices of one group and month."""

from collections.abc import Iterator, Sequence

from nimbill.foundation.money import total_of
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import number_format
from nimbill.invoicing.pdf.contents import Shown, bases, bill_number, edges, head, how_to_pay
from nimbill.invoicing.pdf.wording import currency_word, vendor_word, words


def covering_page(documents: Sequence[InvoiceDocument]) -> Shown:
    """Each invoice with its own number and tax, and their sum by currency: yen are not dollars.

    Who invoices whom is read from the latest of them; the tax is that of the invoices, added.
    """
    latest = max(documents, key=lambda document: document.issue_date)
    said = words(latest.language)
    month = number_format.month(latest.month, latest.language)
    dues = {document.due_date for document in documents}
    sums = [list(row) for row in _sums(documents, latest)]
    return {
        "words": said,
        "head": {
            **head(latest),
            "title": said["cover_title"],
            "number": None,
            "due": head(latest)["due"] if len(dues) == 1 else None,
            **edges(latest, month, said["cover_title"]),
        },
        "totals": [total for *_, total in sums],
        "facts": [[said["month"], month]],
        "provisional": any(each.provisional for each_one in documents for each in each_one.imports),
        "rows": [_row(document, with_due=len(dues) > 1) for document in documents],
        "sums": sums,
        **how_to_pay(latest),
    }


def _row(document: InvoiceDocument, *, with_due: bool) -> Shown:
    sheet, currency, language = document.sheet, document.currency, document.language
    said, due = words(language), document.due_date
    notes = [f"{name} {value}" for name, value in bases(document)]
    if with_due and due:
        notes.append(f"{said['due']} {number_format.day(due, language)}")
    return {
        "number": bill_number(document),
        "vendor": vendor_word(document.vendor),
        "notes": notes,
        "figures": [
            number_format.money(value, currency, language)
            for value in (sheet.pre_tax, sheet.tax, sheet.total)
        ],
    }


def _sums(documents: Sequence[InvoiceDocument], latest: InvoiceDocument) -> Iterator[list[str]]:
    """A row for each currency in which something is invoiced."""
    said, language = words(latest.language), latest.language
    for currency in Currency:
        sheets = [each.sheet for each in documents if each.currency == currency]
        if sheets:
            added = (
                total_of(sheet.pre_tax for sheet in sheets),
                total_of(sheet.tax for sheet in sheets),
                total_of(sheet.total for sheet in sheets),
            )
            yield [
                said["sum_of"].format(currency_word(currency, language)),
                *(number_format.money(value, currency, language) for value in added),
            ]
