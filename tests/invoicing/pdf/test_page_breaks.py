"""Page breaks of long invoices: amounts carried over, headers and page numbers."""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

import pytest

from bench.example_invoices import (
    build_document,
    build_long_invoice,
    build_short_invoice,
    build_terms,
    render_invoice,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.documents.document import InvoiceDocument
from tests.invoicing.pdf.pdf_text import FIGURE, extract_pages, find_figure, parse_figure

# the line of a service or a fee: name, charge, amount
SERVICE = re.compile(rf"^(?:A[mW]|awskms)\S*\s({FIGURE})\s({FIGURE})$", re.MULTILINE)
FEE = re.compile(
    rf"^(?:サポート料金|代行手数料|Support|Agency fee)\s({FIGURE})\s({FIGURE})$", re.MULTILINE
)
OVER = {Language.ja: "次頁へ繰越", Language.en: "Carried over"}
FORWARD = {Language.ja: "前頁より繰越", Language.en: "Brought forward"}


@cache
def render_long_invoice(language: Language, accounts: int) -> tuple[InvoiceDocument, Sequence[str]]:
    """The invoice and the text of its pages; rendered once for all tests."""
    invoice = build_long_invoice(language, accounts=accounts)
    return invoice, extract_pages(render_invoice(invoice))


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("accounts", [3, 6, 25])
def test_each_page_carries_over_the_sum_of_the_rows_so_far(
    language: Language, accounts: int
) -> None:
    _, (*pages, last) = render_long_invoice(language, accounts)

    carried = Decimal(0)
    for number, page in enumerate(pages):
        if number:
            assert find_figure(FORWARD[language], page) == carried
        rows = [*SERVICE.findall(page), *FEE.findall(page)]
        carried += sum(parse_figure(amount) for _, amount in rows)
        assert find_figure(OVER[language], page) == carried
    assert len(pages) >= (1 if accounts == 3 else 2)
    assert find_figure(FORWARD[language], last) == carried
    assert OVER[language] not in last


def test_the_last_page_ends_with_the_total() -> None:
    invoice, (*_, last) = render_long_invoice(Language.ja, 6)

    assert find_figure("小計（税抜）", last) == invoice.sheet.pre_tax
    assert f"合計（税込） ¥{invoice.sheet.total:,}" in last


def test_an_invoice_on_one_page_carries_nothing_over() -> None:
    (page,) = extract_pages(render_invoice(build_short_invoice(Language.ja)))

    assert "繰越" not in page


def test_each_of_three_hundred_lines_is_printed_once() -> None:
    invoice, pages = render_long_invoice(Language.en, 25)

    amounts = [parse_figure(amount) for page in pages for _, amount in SERVICE.findall(page)]

    assert len(invoice.sheet.lines) == 300
    assert amounts == [line.after for line in invoice.sheet.lines]


def test_every_page_has_its_number_and_the_table_header() -> None:
    _, pages = render_long_invoice(Language.ja, 12)

    for number, page in enumerate(pages, start=1):
        assert f"{number} / {len(pages)}" in page
        assert "内容 料金（円） 割引後金額（円）" in page
    for page in pages[1:]:
        assert page.startswith("202610-0042（第2版）")
        assert "さくら製作所株式会社 御中" in page


def test_account_headings_are_repeated_and_never_last_on_a_page() -> None:
    for accounts in range(2, 9):
        _, pages = render_long_invoice(Language.en, accounts)
        for page in pages:
            lines = page.split("\n")
            headings = [
                index for index, line in enumerate(lines) if re.match(r"1111\d{8} \w", line)
            ]
            assert headings or "Support and fees" in page or "Total, tax included" in page
            for index in headings:
                assert not lines[index + 1].startswith("Carried over"), (accounts, lines[index])


def test_an_empty_invoice_says_that_nothing_is_charged() -> None:
    nothing = MonthlyCharges(cost_currency=Currency.usd, usage=())
    (page,) = extract_pages(render_invoice(build_document(nothing, build_terms(), Language.ja)))

    assert "ご請求の明細はありません。" in page
    assert "合計（税込） ¥0" in page
    assert "1 / 1" in page
