"""The cover page over the invoices of several vendors."""

from collections.abc import Sequence

from bench.example_invoices import (
    build_document,
    build_long_invoice,
    build_short_invoice,
    build_terms,
    render_invoice,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import InvoiceDocument, PayerImport
from nimbill.invoicing.pdf import typst_compiler
from nimbill.invoicing.pdf.rendering import build_compiler_input
from tests.invoicing.pdf.pdf_text import extract_pages, read_properties, remove_whitespace


def render_cover(documents: Sequence[InvoiceDocument]) -> bytes:
    data, timestamp = build_compiler_input(documents, with_cover=True)
    return typst_compiler.compile_pdf(data, timestamp=timestamp)


def two_vendors(language: Language) -> list[InvoiceDocument]:
    return [
        build_short_invoice(language),
        build_long_invoice(
            language, accounts=3, vendor="azure", invoice_no="202610-0002", revision=1
        ),
    ]


def in_dollars(**changed: object) -> InvoiceDocument:
    charges = build_short_invoice(Language.en).charges
    return build_document(
        charges,
        build_terms(currency=Currency.usd),
        Language.en,
        **{"vendor": "azure", "invoice_no": "202610-0002", **changed},
    )


def test_the_cover_lists_each_invoice_with_its_tax_and_the_sum() -> None:
    invoices = two_vendors(Language.ja)
    first, second = (invoice.sheet for invoice in invoices)

    cover, *_ = extract_pages(render_cover(invoices))

    assert "請求書（合計）" in cover
    assert "さくら製作所株式会社 御中" in cover
    assert "登録番号: T9999999999999" in cover
    for number, sheet in (("202610-0001 AWS", first), ("202610-0002 Azure", second)):
        assert number in cover
        assert f"¥{sheet.pre_tax:,} ¥{sheet.tax:,} ¥{sheet.total:,}" in cover
    assert "10%対象（税抜） 353,612" in cover
    total = first.total + second.total
    taxes = first.tax + second.tax
    before = first.pre_tax + second.pre_tax
    assert f"合計（円） ¥{before:,} ¥{taxes:,} ¥{total:,}" in cover
    assert f"ご請求金額（税込） ¥{total:,}" in cover
    assert "お支払期限 2026年12月31日" in cover
    assert "お振込先" in cover


def test_the_invoices_follow_the_cover_unchanged() -> None:
    invoices = two_vendors(Language.ja)

    cover, *following = extract_pages(render_cover(invoices))

    assert following == [
        page for invoice in invoices for page in extract_pages(render_invoice(invoice))
    ]
    assert "1 / 1" in cover


def test_amounts_in_different_currencies_are_not_added() -> None:
    yen, dollars = build_short_invoice(Language.en), in_dollars()

    cover, *_ = extract_pages(render_cover([yen, dollars]))

    assert f"Sum (JPY) ¥{yen.sheet.pre_tax:,}" in cover
    assert f"Sum (USD) ${dollars.sheet.pre_tax:,}" in cover
    assert f"¥{yen.sheet.total:,}\n" in cover
    assert f"${dollars.sheet.total:,}\n" in cover


def test_different_due_dates_are_printed_with_their_invoices() -> None:
    invoices = [build_short_invoice(Language.en), in_dollars(due_date="2026-11-30")]

    cover = remove_whitespace(extract_pages(render_cover(invoices))[0])

    assert cover.count("Paymentdue31December2026") == 1
    assert cover.count("Paymentdue30November2026") == 1


def test_a_provisional_invoice_marks_the_cover() -> None:
    provisional = [PayerImport(payer_id="1", import_id="im_1", provisional=True)]
    invoices = [build_short_invoice(Language.en), in_dollars(imports=provisional)]

    assert "Provisional" in extract_pages(render_cover(invoices))[0]


def test_the_cover_is_reproducible_and_has_file_properties() -> None:
    pdf = render_cover(two_vendors(Language.ja))
    about = read_properties(pdf)

    assert render_cover(two_vendors(Language.ja)) == pdf
    assert about["Title"] == "請求書（合計） 2026年10月"
    assert about["Author"] == "株式会社みなとクラウド"
