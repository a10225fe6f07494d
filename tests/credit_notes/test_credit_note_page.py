"""The printed credit note in both languages: what a qualified return invoice requires."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from nimbill.credit_notes.credit_note_page import build_credit_note_page
from nimbill.credit_notes.credit_note_rules import CreditKind
from nimbill.credit_notes.document import (
    CreditedAmount,
    CreditedTax,
    CreditNoteDocument,
    decode_note,
    encode_note,
)
from nimbill.credit_notes.printing import build_note_input
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import Addressee, Issuer
from nimbill.invoicing.pdf import typst_compiler
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace

NOTE = CreditNoteDocument(
    credit_note_id="crn_1",
    credit_note_no="CN202611-0001",
    kind=CreditKind.full,
    reason="値引漏れのため",
    issue_date="2026-11-17",
    language=Language.ja,
    invoice_no="202609-0001",
    revision=1,
    invoice_date="2026-10-05",
    month="2026-09",
    vendor="aws",
    vendor_name="AWS",
    company_id="cmp_1",
    billinggroup_id="BG-A",
    billinggroup_name="A",
    addressee=Addressee(
        company_name="株式会社甲", contact=None, postal=None, address=None, phone=None
    ),
    issuer=Issuer(
        invoice_template_id="tpl_1", company="株式会社乙", registration_number="T1234567890123"
    ),
    currency=Currency.jpy,
    amounts=[
        CreditedAmount(line=None, description="", amount=Decimal(7173), tax_free=False),
        CreditedAmount(line="support", description="support", amount=Decimal(100), tax_free=False),
        CreditedAmount(line="entry-1", description="Refund", amount=Decimal(50), tax_free=True),
    ],
    taxes=[
        CreditedTax(tax_rate=Decimal("0.10"), pre_tax=Decimal(7273), tax=Decimal(728)),
        CreditedTax(tax_rate=None, pre_tax=Decimal(50), tax=Decimal(0)),
    ],
    pre_tax=Decimal(7323),
    tax=Decimal(728),
    total=Decimal(8051),
)


def print_note(note: CreditNoteDocument) -> str:
    data, timestamp = build_note_input(note)
    pdf = typst_compiler.compile_pdf(data, timestamp=timestamp)
    return remove_whitespace(extract_text(pdf))


def test_a_note_in_japanese_has_what_the_law_requires() -> None:
    text = print_note(NOTE)

    for part in (
        "適格返還請求書",
        "株式会社乙",
        "T1234567890123",
        "株式会社甲御中",
        "CN202611-0001",
        "2026年11月17日",  # the date of the return
        "2026年9月",  # the month of the supply
        "202609-0001",
        "2026年10月5日",
        "2026年9月分のご請求額（残額の全額）",
        "サポート料金",
        "10%対象（税抜）7,273",
        "消費税（10%）728",
        "消費税対象外50",
        "8,051",
        "値引漏れのため",
    ):
        assert remove_whitespace(part) in text, part


def test_a_note_in_english() -> None:
    text = print_note(msgspec.structs.replace(NOTE, language=Language.en))

    for part in (
        "Credit note (qualified return invoice)",
        "Credit note number",
        "Original invoice",
        "What was left of the invoice for September 2026",
        "Taxable at 10% 7,273",
        "Consumption tax (10%) 728",
        "Not subject to tax 50",
        "Reason",
    ):
        assert remove_whitespace(part) in text, part


def test_a_note_without_registration_number_is_not_called_qualified() -> None:
    issuer = Issuer(invoice_template_id="tpl_1", company="株式会社乙")

    for unqualified in (issuer, None):
        page = build_credit_note_page(msgspec.structs.replace(NOTE, issuer=unqualified))
        assert page["head"]["title"] == "返還請求書"


def test_a_stored_note_is_read_unchanged() -> None:
    assert decode_note(encode_note(NOTE)) == NOTE
