"""User-entered text is printed literally and stays within the margins."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.example_invoices import (
    build_document,
    build_entry,
    build_item,
    build_short_invoice,
    build_terms,
    build_usage,
    render_invoice,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument, Issuer
from nimbill.invoicing.pdf import typst_compiler
from tests.invoicing.pdf.pdf_text import (
    extract_pages,
    extract_text,
    find_right_edge,
    remove_whitespace,
)

MARKUP = (
    '#panic("no")',
    "*bold* _slanted_ `raw` $x^2$",
    '#read("/etc/passwd")',
    "= Heading",
    "- item + 1. item / term: x",
    "<label> @reference",
    "// comment /* comment */",
    "\\u{41} \\ line",
    "#set page(fill: red)",
    "\"quoted\" 'single' -- --- ... ~ https://example.com",
    '{"json": [1, 2]} ]])',
    "#sys.inputs",
)


def build_document_with_text(text: str) -> InvoiceDocument:
    """An invoice on which every field that others fill carries this text."""
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(build_usage("111111111111", text, [(text, "10")])),
        entries=(build_entry("Fee", text, "1", customer_name=text),),
        items=(build_item(text, "1", "1"),),
    )
    issuer = Issuer(
        invoice_template_id="it_1",
        company=text,
        postal=text,
        address=text,
        phone=text,
        contact=text,
        registration_number="T9999999999999",
        bank_account=text,
        notes=text,
        accent_colour="#ffff00",
    )
    addressee = Addressee(company_name=text, contact=text, postal=text, address=text, phone=text)
    return build_document(
        charges,
        build_terms(),
        Language.ja,
        issuer=issuer,
        addressee=addressee,
        title=text,
        remarks=text,
    )


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_printed_as_text(text: str) -> None:
    printed = remove_whitespace(extract_text(render_invoice(build_document_with_text(text))))

    # title, addressee 5, issuer 5, account, service, entry 2, item, bank, remarks, notes
    assert printed.count(remove_whitespace(text)) >= 19


def test_templates_can_read_only_their_own_files() -> None:
    import typst

    compiler = typst_compiler.new_compiler()

    for source in (b'#read("/../../document.py")', b'#read("/etc/hostname")'):
        with pytest.raises(typst.TypstError):
            compiler.compile(source, sys_inputs={})


@pytest.mark.parametrize(
    "text",
    [
        "W" * 400,
        "請" * 400,
        "a-" * 200,
        "1" * 100,
        "二\n" * 200,
        "https://example.com/" + "path/" * 60,
    ],
    ids=["one word", "kanji", "hyphens", "digits", "lines", "address"],
)
def test_long_texts_stay_within_the_margins_and_are_complete(text: str) -> None:
    pdf = render_invoice(build_document_with_text(text))

    assert find_right_edge(pdf) < 544.3  # points: A4 less the margin of 18 mm
    assert remove_whitespace("".join(extract_pages(pdf))).count(remove_whitespace(text)) >= 5


@pytest.mark.parametrize(
    "text",
    ["😀 👨‍👩‍👧 🇯🇵", "𠮷野家", "مرحبا", "한국어 ไทย", "\ue000\U000e0041", "e\u0301\u0301\u0301"],
    ids=["emoji", "rare kanji", "arabic", "korean and thai", "private", "accents"],
)
def test_characters_missing_from_the_font_do_not_prevent_rendering(text: str) -> None:
    printed = extract_text(render_invoice(build_document_with_text(f"前{text}後")))

    assert "前" in printed
    assert "後" in printed


def test_lone_surrogates_and_control_characters_are_removed() -> None:
    text = "前\x00\x07\x1b[31m\ud800\u202e後\u200b\ufeff"

    printed = extract_text(render_invoice(build_document_with_text(text)))

    assert "\u202e" not in printed
    assert "\x07" not in printed
    assert "前[31m" in printed


def test_line_breaks_of_an_address_are_kept() -> None:
    text = extract_text(render_invoice(build_short_invoice(Language.ja)))

    assert "虎ノ門九丁目9番9号\nみなとビル 12階" in text


def test_long_amounts_fit_into_their_column() -> None:
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(build_usage("111111111111", "", [("AmazonEC2", "-111111111111111111.11")])),
    )
    invoice = build_document(charges, build_terms(currency=Currency.usd), Language.en)

    assert (
        f"AmazonEC2 {invoice.sheet.usage_charge:,} {invoice.sheet.usage_after:,}"
        in extract_text(render_invoice(invoice))
    )


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(codec=None), min_size=1, max_size=60))
def test_any_text_can_be_rendered(text: str) -> None:
    assert render_invoice(build_document_with_text(text)).startswith(b"%PDF")
