"""The contents of a printed invoice, in page order, as texts and formatted figures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, Protocol

from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.foundation.money import add_decimals, sum_decimals
from nimbill.invoicing.calculation.lines import EntryLine, Fee, ItemLine, UsageLine
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument, Issuer
from nimbill.invoicing.pdf import number_format
from nimbill.invoicing.pdf.labels import currency_label, labels_for
from nimbill.invoicing.pdf.plain_text import join_lines, make_breakable, shorten

DEFAULT_ACCENT = "#1f3a5f"  # used if the invoice template has no accent colour
NO_FIGURE = ""

TemplateData = dict[str, Any]  # read by the Typst templates, as JSON


class PrintedDocument(Protocol):
    """What the letterhead and the table of any document need."""

    @property
    def language(self) -> Language: ...
    @property
    def currency(self) -> Currency: ...
    @property
    def issue_date(self) -> str: ...
    @property
    def issuer(self) -> Issuer | None: ...
    @property
    def addressee(self) -> Addressee: ...


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of the invoice table; `amount` is what the total adds up."""

    text: str
    amount: Decimal
    charge: Decimal | None = None
    notes: Sequence[str] = ()
    marks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Rows under one heading, with or without a subtotal."""

    heading: str
    rows: Sequence[TableRow]
    subtotal: bool
    detail: str = ""


def build_invoice_page(document: InvoiceDocument) -> TemplateData:
    """Totals come from the sheet; subtotals add up printed amounts."""
    sheet, language, labels = document.sheet, document.language, labels_for(document.language)
    currency = currency_label(document.currency, language)
    groups = format_groups(document, _build_groups(document))
    pre_tax = number_format.format_amount(sheet.pre_tax, document.currency, language)
    return {
        "labels": {
            **labels,
            "charge": labels["charge"].format(currency),
            "after": labels["after"].format(currency),
        },
        "head": build_head(document),
        "total": number_format.format_money(sheet.total, document.currency, language),
        "facts": [list(fact) for fact in _list_facts(document)],
        "provisional": is_provisional(document),
        "groups": groups,
        "pre_tax": pre_tax,
        "figure_width": max(map(number_format.estimate_width, [pre_tax, *list_figures(groups)])),
        "sums": [list(pair) for pair in _list_sums(document)],
        "remarks": _format_text(document.remarks),
        **build_payment_details(document),
    }


def is_provisional(document: InvoiceDocument) -> bool:
    return any(payer_import.provisional for payer_import in document.imports)


def build_head(document: InvoiceDocument) -> TemplateData:
    """Issuer, addressee, number and dates."""
    return build_letterhead(
        document,
        number=format_invoice_number(document),
        title=document.title or labels_for(document.language)["title"],
        due_date=document.due_date,
    )


def build_letterhead(
    document: PrintedDocument, *, number: str, title: str, due_date: str | None
) -> TemplateData:
    language, issuer = document.language, document.issuer
    return {
        "language": str(language),
        "title": make_breakable(title),
        "number": number,
        "issued": number_format.format_date(document.issue_date, language),
        "issue_date": [int(part) for part in document.issue_date.split("-")],
        "due": number_format.format_date(due_date, language) if due_date else None,
        "to": _build_addressee(document.addressee, language),
        "from": _build_issuer(issuer, language) if issuer else None,
        "accent": (issuer and issuer.accent_colour) or DEFAULT_ACCENT,
        **build_running_titles(document, number, title),
    }


def _build_addressee(addressee: Addressee, language: Language) -> TemplateData:
    return {
        "company": make_breakable(addressee.company_name),
        "person": _format_text(addressee.contact),
        "postal": _format_postal(addressee.postal, language),
        "address": _format_text(addressee.address),
        "phone": _format_text(addressee.phone),
    }


def _build_issuer(issuer: Issuer, language: Language) -> TemplateData:
    return {
        "company": make_breakable(issuer.company),
        "registration": _format_text(issuer.registration_number),
        "postal": _format_postal(issuer.postal, language),
        "address": _format_text(issuer.address),
        "phone": _format_text(issuer.phone),
        "contact": _format_text(issuer.contact),
    }


def build_running_titles(document: PrintedDocument, number: str, title: str) -> TemplateData:
    """File properties, and the header and footer of later pages."""
    company = document.issuer.company if document.issuer else ""
    to = shorten(document.addressee.company_name, 30)
    return {
        "file_title": join_lines(f"{title} {number}"),
        "author": join_lines(company),
        "short_author": shorten(company, 45),
        "short_title": shorten(title, 16),
        "page_header": f"{number}  {to} {labels_for(document.language)['to_company']}",
    }


def format_invoice_number(document: InvoiceDocument) -> str:
    """The invoice number, followed by the revision if it is not the first."""
    if document.revision == 1:
        return document.invoice_no
    revision = labels_for(document.language)["revision"].format(document.revision)
    if document.language is Language.ja:
        return f"{document.invoice_no}（{revision}）"
    return f"{document.invoice_no} ({revision})"


def _list_facts(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    language, labels = document.language, labels_for(document.language)
    yield labels["month"], number_format.format_month(document.month, language)
    yield labels["vendor"], document.vendor_name
    if document.replaces is not None:
        yield labels["replaces"], document.replaces
    if document.currency != document.cost_currency:
        yield labels["exchange_rate"], _format_rate(document.exchange_rate)


def _format_rate(rate: Decimal) -> str:
    return f"1 USD = {number_format.format_plain(rate)} JPY"


def _build_groups(document: InvoiceDocument) -> Iterator[TableGroup]:
    sheet, labels = document.sheet, labels_for(document.language)
    yield from _build_usage_groups(document)
    fees = [
        _build_fee_row(labels[name], fee)
        for name, fee in (("support", sheet.support), ("agency", sheet.agency))
        if fee
    ]
    entries = [_build_entry_row(document, entry) for entry in sheet.entries]
    items = [_build_item_row(document, item) for item in sheet.items]
    for name, rows in (("fees", fees), ("entries", entries), ("items", items)):
        if rows:
            yield TableGroup(labels[name], rows, subtotal=len(rows) > 1)


def _build_usage_groups(document: InvoiceDocument) -> Iterator[TableGroup]:
    """One group for each account or tag value, in the order of the sheet."""
    labels, by_tag = labels_for(document.language), document.terms.calc_type == "tag"
    for (customer_id, tag), group in groupby(
        document.sheet.lines, key=lambda line: (line.customer_id, line.tag)
    ):
        lines = list(group)
        rows = [_build_usage_row(line, labels["marketplace"]) for line in lines]
        if by_tag:
            heading = join_lines(tag) or labels["untagged"]
            detail = join_lines(document.tag_key or "")
        else:
            heading, detail = customer_id, _find_own_name(customer_id, lines[0].customer_name)
        yield TableGroup(
            make_breakable(heading), rows, subtotal=True, detail=make_breakable(detail)
        )


def _find_own_name(customer_id: str, name: str) -> str:
    """An account that the vendor's files do not name has its number as its name."""
    return "" if name == customer_id else name


def _build_usage_row(line: UsageLine, marketplace: str) -> TableRow:
    marks = [marketplace] if line.marketplace else []
    return TableRow(make_breakable(line.name), line.after, charge=line.charge, marks=marks)


def _build_fee_row(name: str, fee: Fee) -> TableRow:
    return TableRow(name, fee.after, charge=fee.charge)


def _build_entry_row(document: InvoiceDocument, entry: EntryLine) -> TableRow:
    """The vendor's description, with the account, and the original amount if it was converted."""
    language, labels = document.language, labels_for(document.language)
    name = _find_own_name(entry.customer_id, entry.customer_name)
    account = join_lines(f"{entry.customer_id} {name}")
    notes = [account] if account else []
    if entry.exchange_rate is not None:
        original = number_format.format_original(entry.original, entry.original_currency, language)
        notes.append(f"{original}, {_format_rate(entry.exchange_rate)}")
    kind = labels.get(entry.calc_type, entry.calc_type)
    return TableRow(
        make_breakable(entry.description) or kind,
        entry.amount,
        notes=[make_breakable(note) for note in notes],
        marks=[kind, *([labels["tax_free"]] if entry.tax_free else [])],
    )


def _build_item_row(document: InvoiceDocument, item: ItemLine) -> TableRow:
    unit_price = number_format.format_unit_price(
        item.unit_cost, document.currency, document.language
    )
    note = f"{unit_price} × {number_format.format_plain(item.quantity)}"
    return TableRow(make_breakable(item.label), item.total, notes=[note])


def format_groups(document: PrintedDocument, groups: Iterable[TableGroup]) -> list[TemplateData]:
    """Format all amounts; each row has the sum up to it, which page breaks carry over."""
    carried, formatted = Decimal(0), []
    for group in groups:
        rows = []
        for row in group.rows:
            carried = add_decimals(carried, row.amount)
            rows.append(
                {
                    "text": row.text,
                    "notes": list(row.notes),
                    "marks": list(row.marks),
                    "charge": format_figure(document, row.charge),
                    "amount": format_figure(document, row.amount),
                    "carried": format_figure(document, carried),
                }
            )
        charges = [row.charge for row in group.rows if row.charge is not None]
        formatted.append(
            {
                "heading": group.heading,
                "detail": group.detail,
                "rows": rows,
                "subtotal": group.subtotal,
                "charge": format_figure(document, sum_decimals(charges)) if charges else NO_FIGURE,
                "amount": format_figure(document, sum_decimals(row.amount for row in group.rows)),
            }
        )
    return formatted


def list_figures(groups: Iterable[TemplateData]) -> Iterator[str]:
    """All figures of the table; its columns must be wide enough for them."""
    for group in groups:
        yield from (group["charge"], group["amount"])
        for row in group["rows"]:
            yield from (row["charge"], row["amount"], row["carried"])


def list_tax_bases(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    """The taxed amount, and the tax-free amount if there is one."""
    sheet, labels = document.sheet, labels_for(document.language)
    taxed = labels["base_of"].format(number_format.format_percent(sheet.tax_rate))
    yield taxed, format_figure(document, sheet.taxable)
    if any(entry.tax_free for entry in sheet.entries):
        yield labels["tax_free"], format_figure(document, sheet.tax_free)


def _list_sums(document: InvoiceDocument) -> Iterator[tuple[str, str]]:
    """Tax with its rate and base, as Japan's qualified invoice system requires, and the total."""
    sheet, labels = document.sheet, labels_for(document.language)
    yield from list_tax_bases(document)
    tax = labels["tax_of"].format(number_format.format_percent(sheet.tax_rate))
    yield tax, format_figure(document, sheet.tax)
    total = number_format.format_money(sheet.total, document.currency, document.language)
    yield labels["total"], total


def build_payment_details(document: InvoiceDocument) -> TemplateData:
    issuer = document.issuer
    return {
        "bank_account": _format_text(issuer.bank_account) if issuer else None,
        "notes": _format_text(issuer.notes) if issuer else None,
    }


def format_figure(document: PrintedDocument, value: Decimal | None) -> str:
    if value is None:
        return NO_FIGURE
    return number_format.format_amount(value, document.currency, document.language)


def _format_text(value: str | None) -> str | None:
    return make_breakable(value) if value else None


def _format_postal(value: str | None, language: Language) -> str | None:
    if not value or language is not Language.ja or value.startswith("〒"):
        return _format_text(value)
    return f"〒{make_breakable(value)}"
