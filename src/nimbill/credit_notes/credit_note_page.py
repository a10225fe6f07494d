"""The contents of a printed credit note, as texts and formatted figures.

The page has the layout of an invoice. It contains what a qualified return invoice requires: issuer
and registration number, the dates of the return and of the supply, the content, and for each tax
rate the amount and its tax.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from nimbill.credit_notes.document import CreditedAmount, CreditNoteDocument
from nimbill.foundation.language import Language
from nimbill.invoicing.pdf import number_format
from nimbill.invoicing.pdf.invoice_page import (
    TableGroup,
    TableRow,
    TemplateData,
    build_letterhead,
    format_figure,
    format_groups,
    list_figures,
)
from nimbill.invoicing.pdf.labels import currency_label, labels_for
from nimbill.invoicing.pdf.plain_text import make_breakable

FEES = ("support", "agency")  # lines that are named by a label


# each text in Japanese, then in English
# fmt: off
CREDIT_NOTE_LABELS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "title":           ("返還請求書", "Credit note"),
    "qualified_title": ("適格返還請求書", "Credit note (qualified return invoice)"),
    "number":          ("返還請求書番号", "Credit note number"),
    "greeting":        ("下記のとおり、ご請求額を減額いたします。",
                        "We credit you for the following."),
    "total_due":       ("返還金額（税込）", "Total credited"),
    "invoice":         ("対象請求書", "Original invoice"),
    "invoice_date":    ("請求書発行日", "Date of the invoice"),
    "month":           ("取引年月", "Month of supply"),
    "charge":          ("", ""),
    "after":           ("返還金額（{}）", "Amount ({})"),
    "credits":         ("返還の内容", "Credited"),
    "rest":            ("{}分のご請求額（残額の全額）", "What was left of the invoice for {}"),
    "returned":        ("返還済（{}）", "Returned already ({})"),
    "corrected_total": ("訂正後のご請求額（税込）", "Total of the corrected invoice"),
    "remarks":         ("返還の理由", "Reason"),
})
# fmt: on


def build_credit_note_page(note: CreditNoteDocument) -> TemplateData:
    language, labels = note.language, credit_note_labels_for(note.language)
    is_qualified = note.issuer is not None and note.issuer.registration_number
    title = labels["qualified_title"] if is_qualified else labels["title"]
    rows = [TableRow(_describe(note, amount, labels), amount.amount) for amount in note.amounts]
    groups = format_groups(note, [TableGroup(labels["credits"], rows, subtotal=False)])
    pre_tax = format_figure(note, note.pre_tax)
    return {
        "labels": {
            **labels,
            "after": labels["after"].format(currency_label(note.currency, language)),
        },
        "head": build_letterhead(note, number=note.credit_note_no, title=title, due_date=None),
        "total": number_format.format_money(note.total, note.currency, language),
        "facts": [list(fact) for fact in _list_facts(note, labels)],
        "provisional": False,
        "groups": groups,
        "pre_tax": pre_tax,
        "figure_width": max(map(number_format.estimate_width, [pre_tax, *list_figures(groups)])),
        "sums": [list(pair) for pair in _list_sums(note, labels)],
        "remarks": make_breakable(note.reason),
        "bank_account": None,
        "notes": None,
    }


def _describe(note: CreditNoteDocument, amount: CreditedAmount, labels: dict[str, str]) -> str:
    if amount.line in FEES:
        return labels[amount.line]
    if amount.credit_note_no:
        return labels["returned"].format(amount.credit_note_no)
    if amount.description:
        return make_breakable(amount.description)
    return labels["rest"].format(number_format.format_month(note.month, note.language))


def _list_facts(note: CreditNoteDocument, labels: dict[str, str]) -> Iterator[tuple[str, str]]:
    yield labels["invoice"], note.invoice_no
    yield labels["invoice_date"], number_format.format_date(note.invoice_date, note.language)
    yield labels["month"], number_format.format_month(note.month, note.language)
    yield labels["vendor"], note.vendor_name
    if note.correction is not None:
        corrected = note.correction.corrected_total
        money = number_format.format_money(corrected, note.currency, note.language)
        yield labels["corrected_total"], money


def _list_sums(note: CreditNoteDocument, labels: dict[str, str]) -> Iterator[tuple[str, str]]:
    for each in note.taxes:
        if each.tax_rate is None:
            yield labels["tax_free"], format_figure(note, each.pre_tax)
            continue
        rate = number_format.format_percent(each.tax_rate)
        yield labels["base_of"].format(rate), format_figure(note, each.pre_tax)
        yield labels["tax_of"].format(rate), format_figure(note, each.tax)
    total = number_format.format_money(note.total, note.currency, note.language)
    yield labels["total"], total


def credit_note_labels_for(language: Language) -> dict[str, str]:
    """All labels of the layout, with those of credit notes."""
    index = 0 if language is Language.ja else 1
    return labels_for(language) | {name: pair[index] for name, pair in CREDIT_NOTE_LABELS.items()}
