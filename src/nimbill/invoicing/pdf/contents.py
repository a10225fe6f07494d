"""What stands on an invoice, in the order of the page, as words and figures ready to be set."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

from nimbill.foundation.money import total_of
from nimbill.foundation.vocabulary import Language
from nimbill.invoicing.calculation.lines import EntryLine, Fee, ItemLine, UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import number_format
from nimbill.invoicing.pdf.plain_text import breakable, one_line, shortened
from nimbill.invoicing.pdf.wording import currency_word, vendor_word, words

ACCENT = "#1f3a5f"  # where the template names none
NO_FIGURE = ""

Shown = dict[str, Any]  # what the layout reads, as JSON


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what counts towards the total is its amount."""

    text: str
    amount: Decimal
    charge: Decimal | None = None
    notes: Sequence[str] = ()
    marks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Lines under one heading; with a subtotal where their sum says something new."""

    heading: str
    rows: Sequence[Row]
    subtotal: bool
    detail: str = field(default="")


def invoice_page(document: InvoiceDocument) -> Shown:
    """The whole invoice; sums are those of the sheet, sums on the way are of printed amounts."""
    sheet, language, said = document.sheet, document.language, words(document.language)
    currency = currency_word(document.currency, language)
    groups = _set(document, _groups(document))
    pre_tax = number_format.amount(sheet.pre_tax, document.currency, language)
    return {
        "words": {
            **said,
            "charge": said["charge"].format(currency),
            "after": said["after"].format(currency),
        },
        "head": head(document),
        "total": number_format.money(sheet.total, document.currency, language),
        "facts": [list(fact) for fact in _facts(document)],
        "provisional": any(each.provisional for each in document.imports),
        "groups": groups,
        "pre_tax": pre_tax,
        "longest": max(map(number_format.width, [pre_tax, *_figures_of(groups)])),
        "sums": [list(pair) for pair in _sums(document)],
        "remarks": _text(document.remarks),
        **how_to_pay(document),
    }


def head(document: InvoiceDocument) -> Shown:
    """Who invoices whom, under which number and when."""
    language, said, to, issuer = (
        document.language,
        words(document.language),
        document.addressee,
        document.issuer,
    )
    number = bill_number(document)
    return {
        "language": str(language),
        "title": breakable(document.title or said["title"]),
        "number": number,
        "issued": number_format.day(document.issue_date, language),
        "issue_date": [int(part) for part in document.issue_date.split("-")],
        "due": number_format.day(document.due_date, language) if document.due_date else None,
        "to": {
            "company": breakable(to.company_name),
            "person": _text(to.contact),
            "postal": _postal(to.postal, language),
            "address": _text(to.address),
            "phone": _text(to.phone),
        },
        "from": {
            "company": breakable(issuer.company),
            "registration": _text(issuer.registration_number),
            "postal": _postal(issuer.postal, language),
            "address": _text(issuer.address),
            "phone": _text(issuer.phone),
            "contact": _text(issuer.contact),
        }
        if issuer
        else None,
        "accent": (issuer and issuer.accent_colour) or ACCENT,
        **edges(document, number, document.title or said["title"]),
    }


def edges(document: InvoiceDocument, number: str, title: str) -> Shown:
    """What the file says of itself, and what stands at the top and foot of its later pages."""
    company = document.issuer.company if document.issuer else ""
    to = shortened(document.addressee.company_name, 30)
    return {
        "file_title": one_line(f"{title} {number}"),
        "author": one_line(company),
        "short_author": shortened(company, 45),
        "short_title": shortened(title, 16),
        "running": f"{number}  {to} {words(document.language)['to_company']}",
    }


def bill_number(document: InvoiceDocument) -> str:
    """The number; what was made again says which making it is."""
    if document.revision == 1:
        return document.invoice_no
    revision = words(document.language)["revision"].format(document.revision)
    japanese = document.language is Language.ja
    return (
        f"{document.invoice_no}（{revision}）"
        if japanese
        else f"{document.invoice_no} ({revision})"
    )


def _facts(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    language, said = document.language, words(document.language)
    yield said["month"], number_format.month(document.month, language)
    yield said["vendor"], vendor_word(document.vendor)
    if document.currency != document.cost_currency:
        yield said["exchange_rate"], f"1 USD = {number_format.plain(document.exchange_rate)} JPY"


def _groups(document: InvoiceDocument) -> Iterator[Group]:
    sheet, said = document.sheet, words(document.language)
    yield from _usage(document)
    fees = [
        _fee_row(said[name], fee)
        for name, fee in (("support", sheet.support), ("agency", sheet.agency))
        if fee
    ]
    entries = [_entry_row(document, entry) for entry in sheet.entries]
    items = [_item_row(document, item) for item in sheet.items]
    for name, rows in (("fees", fees), ("entries", entries), ("items", items)):
        if rows:
            yield Group(said[name], rows, subtotal=len(rows) > 1)


def _usage(document: InvoiceDocument) -> Iterator[Group]:
    """A group per account or tag value, as the sheet has ordered them."""
    said, by_tag = words(document.language), document.terms.calc_type == "tag"
    for (customer_id, tag), lines in groupby(
        document.sheet.lines, key=lambda line: (line.customer_id, line.tag)
    ):
        of_group = list(lines)
        rows = [_usage_row(line, said["marketplace"]) for line in of_group]
        if by_tag:
            name = one_line(tag) or said["untagged"]
            key = one_line(document.tag_key or "")
            yield Group(breakable(name), rows, subtotal=True, detail=breakable(key))
        else:
            name = of_group[0].customer_name
            yield Group(breakable(customer_id), rows, subtotal=True, detail=breakable(name))


def _usage_row(line: UsageLine, marketplace: str) -> Row:
    marks = [marketplace] if line.marketplace else []
    return Row(breakable(line.service), line.after, charge=line.charge, marks=marks)


def _fee_row(name: str, fee: Fee) -> Row:
    return Row(name, fee.after, charge=fee.charge)


def _entry_row(document: InvoiceDocument, entry: EntryLine) -> Row:
    """The vendor's own words, whose it is, and from which amount at which rate it came."""
    language, said = document.language, words(document.language)
    whose = one_line(f"{entry.customer_id} {entry.customer_name}")
    notes = [whose] if whose else []
    if entry.exchange_rate is not None:
        stated = number_format.original(entry.original, entry.original_currency, language)
        notes.append(f"{stated}, 1 USD = {number_format.plain(entry.exchange_rate)} JPY")
    kind = said.get(entry.calc_type, entry.calc_type)
    return Row(
        breakable(entry.description) or kind,
        entry.amount,
        notes=[breakable(note) for note in notes],
        marks=[kind, *([said["tax_free"]] if entry.tax_free else [])],
    )


def _item_row(document: InvoiceDocument, item: ItemLine) -> Row:
    each = number_format.unit(item.unit_cost, document.currency, document.language)
    return Row(
        breakable(item.label), item.total, notes=[f"{each} × {number_format.plain(item.quantity)}"]
    )


def _set(document: InvoiceDocument, groups: Iterable[Group]) -> list[Shown]:
    """The groups with their figures; each row knows the sum up to it, for the foot of a page."""
    carried, shown = Decimal(0), []
    for group in groups:
        rows = []
        for row in group.rows:
            carried = total_of([carried, row.amount])
            rows.append(
                {
                    "text": row.text,
                    "notes": list(row.notes),
                    "marks": list(row.marks),
                    "charge": _figure(document, row.charge),
                    "amount": _figure(document, row.amount),
                    "carried": _figure(document, carried),
                }
            )
        charges = [row.charge for row in group.rows if row.charge is not None]
        shown.append(
            {
                "heading": group.heading,
                "detail": group.detail,
                "rows": rows,
                "subtotal": group.subtotal,
                "charge": _figure(document, total_of(charges)) if charges else NO_FIGURE,
                "amount": _figure(document, total_of(row.amount for row in group.rows)),
            }
        )
    return shown


def _figures_of(groups: Iterable[Shown]) -> Iterator[str]:
    """All that stands in the columns of figures, which must be wide enough for it."""
    for group in groups:
        yield from (group["charge"], group["amount"])
        for row in group["rows"]:
            yield from (row["charge"], row["amount"], row["carried"])


def bases(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    """What the rate is taken of, and what no tax is taken of."""
    sheet, said = document.sheet, words(document.language)
    taxed = said["base_of"].format(number_format.percent(sheet.tax_rate))
    yield taxed, _figure(document, sheet.taxable)
    if any(entry.tax_free for entry in sheet.entries):
        yield said["tax_free"], _figure(document, sheet.tax_free)


def _sums(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    """Tax by rate with its base, as a qualified invoice needs it."""
    sheet, said = document.sheet, words(document.language)
    yield from bases(document)
    tax = said["tax_of"].format(number_format.percent(sheet.tax_rate))
    yield tax, _figure(document, sheet.tax)
    yield said["total"], number_format.money(sheet.total, document.currency, document.language)


def how_to_pay(document: InvoiceDocument) -> Shown:
    issuer = document.issuer
    return {
        "bank_account": _text(issuer.bank_account) if issuer else None,
        "notes": _text(issuer.notes) if issuer else None,
    }


def _figure(document: InvoiceDocument, value: Decimal | None) -> str:
    if value is None:
        return NO_FIGURE
    return number_format.amount(value, document.currency, document.language)


def _text(value: str | None) -> str | None:
    return breakable(value) if value else None


def _postal(value: str | None, language: Language) -> str | None:
    if not value or language is not Language.ja or value.startswith("〒"):
        return _text(value)
    return f"〒{breakable(value)}"
