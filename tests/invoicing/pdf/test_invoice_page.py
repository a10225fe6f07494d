"""The contents of a printed invoice in both languages, as a Japanese qualified invoice requires."""

from decimal import Decimal

import pytest

from bench.example_invoices import (
    build_document,
    build_entry,
    build_item,
    build_long_invoice,
    build_short_invoice,
    build_terms,
    build_usage,
    render_invoice,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.documents.document import PayerImport
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace

IN_JAPANESE = """
    請求書
    さくら製作所株式会社 御中
    情報システム部 髙橋 明子 様
    〒530-0001 大阪府大阪市北区梅田十丁目10番10号
    06-0000-0200
    請求書番号 202610-0001
    発行日 2026年11月5日
    お支払期限 2026年12月31日
    株式会社みなとクラウド
    登録番号: T9999999999999
    〒105-0001 東京都港区虎ノ門九丁目9番9号
    TEL: 03-0000-0100
    担当: 経理部 請求担当
    ご請求金額（税込） ¥387,112
    ご利用月 2026年10月
    クラウド AWS
    為替レート 1 USD = 150.25 JPY
    内容 料金（円） 割引後金額（円）
    111111111111 本番環境
    AmazonEC2 150,269 142,755
    AmazonS3 7,550 7,173
    Datastore for search マーケットプレイス 18,105 17,200
    小計 175,924 167,128
    222222222222 検証環境
    AmazonRDS 3,055 2,902
    サポート料金 17,898 17,003
    代行手数料 5,611 5,611
    AWS Certificate Authority, private CA 料金
    USD 672.00, 1 USD = 150.25 JPY
    100,968
    Migration credit クレジット 消費税対象外
    USD ▲12.50, 1 USD = 148.9 JPY
    ▲1,861
    運用監視サービス
    30,000 × 2
    60,000
    小計（税抜） 351,751
    10%対象（税抜） 353,612
    消費税対象外 ▲1,861
    消費税（10%） 35,361
    合計（税込） ¥387,112
    お振込先
    普通 0123456
    備考
    お振込手数料は貴社にてご負担くださいますようお願い申し上げます。
    1 / 1
"""
IN_ENGLISH = """
    Invoice
    Sakura Manufacturing K.K.
    Akiko Takahashi, IT department
    530-0001 10-10-10 Umeda, Kita-ku, Osaka, Japan
    Invoice number 202610-0001
    Date of issue 5 November 2026
    Payment due 31 December 2026
    Minato Cloud Inc.
    Registration number: T9999999999999
    Phone: +81-3-0000-0100
    Contact: Accounts receivable
    Total due ¥387,112
    Billed month October 2026
    Cloud vendor AWS
    Exchange rate 1 USD = 150.25 JPY
    Description Charge (JPY) After discount (JPY)
    111111111111 Production
    AmazonEC2 150,269 142,755
    Datastore for search Marketplace 18,105 17,200
    Subtotal 175,924 167,128
    Support 17,898 17,003
    Agency fee 5,611 5,611
    USD 672.00, 1 USD = 150.25 JPY
    Migration credit Credit Not subject to tax
    USD -12.50, 1 USD = 148.9 JPY
    -1,861
    Monitoring service
    Subtotal before tax 351,751
    Taxable at 10% 353,612
    Not subject to tax -1,861
    Consumption tax (10%) 35,361
    Total, tax included ¥387,112
    Bank account
    Remarks
    PO 4500012345
    1 / 1
"""


@pytest.mark.parametrize(
    ("language", "expected"), [(Language.ja, IN_JAPANESE), (Language.en, IN_ENGLISH)]
)
def test_every_field_is_printed_as_text(language: Language, expected: str) -> None:
    text = remove_whitespace(extract_text(render_invoice(build_short_invoice(language))))

    missing = [line for line in expected.split("\n") if remove_whitespace(line) not in text]

    assert missing == []


def test_the_printed_figures_equal_those_of_the_sheet() -> None:
    invoice = build_short_invoice(Language.en)
    text = extract_text(render_invoice(invoice))
    printed = [
        *(line.charge for line in invoice.sheet.lines),
        *(line.after for line in invoice.sheet.lines),
        *(entry.amount for entry in invoice.sheet.entries),
        invoice.sheet.pre_tax,
        invoice.sheet.taxable,
        invoice.sheet.tax,
        invoice.sheet.total,
    ]

    assert [amount for amount in printed if f"{amount:,}" not in text] == []


def test_dollars_are_printed_with_cents_and_sign() -> None:
    charges = build_short_invoice(Language.en).charges
    invoice = build_document(charges, build_terms(currency=Currency.usd), Language.en)
    text = extract_text(render_invoice(invoice))

    assert f"Total due ${invoice.sheet.total:,.2f}" in text
    assert "After discount (USD)" in text
    assert "Exchange rate" not in text  # dollars billed in dollars


def test_dollars_have_a_japanese_label() -> None:
    charges = build_short_invoice(Language.ja).charges
    text = extract_text(
        render_invoice(build_document(charges, build_terms(currency=Currency.usd), Language.ja))
    )

    assert "割引後金額（米ドル）" in text


def test_a_negative_total_is_marked() -> None:
    charges = MonthlyCharges(
        cost_currency=Currency.jpy,
        usage=tuple(build_usage("111111111111", "", [("AmazonEC2", "1000")])),
        entries=(build_entry("Refund", "", "-11000", currency=Currency.jpy),),
    )
    terms = build_terms(support_fee="fix", substitution_fee="fix", discount_rate=Decimal(0))

    japanese = extract_text(render_invoice(build_document(charges, terms, Language.ja)))
    english = extract_text(render_invoice(build_document(charges, terms, Language.en)))

    assert "ご請求金額（税込） ▲¥11,000" in japanese  # 1,000 - 11,000, and 10 % of it
    assert "消費税（10%） ▲1,000" in japanese
    assert "Total due -¥11,000" in english
    assert "返金" in japanese  # an entry without words of its own is named by its kind


def test_an_invoice_without_issuer_is_printed() -> None:
    text = extract_text(render_invoice(build_short_invoice(Language.ja, issuer=None)))

    assert "さくら製作所株式会社 御中" in text
    assert "合計（税込） ¥387,112" in text
    assert "登録番号" not in text
    assert "お振込先" not in text


def test_a_later_revision_is_printed_with_the_number() -> None:
    assert "202610-0042（第2版）" in extract_text(render_invoice(build_long_invoice(Language.ja)))
    assert "202610-0042 (revision 2)" in extract_text(
        render_invoice(build_long_invoice(Language.en))
    )
    assert "第1版" not in extract_text(render_invoice(build_short_invoice(Language.ja)))


def test_the_title_of_the_billing_group_replaces_the_default() -> None:
    text = extract_text(
        render_invoice(build_short_invoice(Language.ja, title="クラウド利用料 御請求書"))
    )

    assert text.startswith("クラウド利用料 御請求書")


def test_provisional_costs_are_marked() -> None:
    provisional = [PayerImport(payer_id="1", import_id="im_1", provisional=True)]

    assert "暫定" in extract_text(
        render_invoice(build_short_invoice(Language.ja, imports=provisional))
    )
    assert "Provisional" in extract_text(
        render_invoice(build_short_invoice(Language.en, imports=provisional))
    )
    assert "暫定" not in extract_text(render_invoice(build_short_invoice(Language.ja)))


def test_an_invoice_by_tag_lists_tags_instead_of_accounts() -> None:
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=(
            *build_usage("111111111111", "本番", [("AmazonEC2", "10")], tag="営業部"),
            *build_usage("111111111111", "本番", [("AmazonEC2", "20")], tag=""),
        ),
    )
    invoice = build_document(
        charges, build_terms(calc_type="tag"), Language.ja, tag_key="Department"
    )
    text = remove_whitespace(extract_text(render_invoice(invoice)))

    assert "営業部Department" in text
    assert "（タグなし）" in text
    assert "111111111111" not in text


def test_without_due_date_there_is_no_line_for_it() -> None:
    assert "お支払期限" not in extract_text(
        render_invoice(build_short_invoice(Language.ja, due_date=None))
    )


def test_the_memo_is_not_printed() -> None:
    text = extract_text(render_invoice(build_short_invoice(Language.ja, memo="margin is thin")))

    assert "margin is thin" not in text


def test_a_unit_price_keeps_its_digits() -> None:
    charges = MonthlyCharges(
        cost_currency=Currency.usd, usage=(), items=(build_item("a", "0.1255", "1000.50"),)
    )
    text = extract_text(
        render_invoice(build_document(charges, build_terms(currency=Currency.usd), Language.en))
    )

    assert "0.1255 × 1,000.5" in text


def test_an_account_that_is_named_like_its_number_is_printed_once() -> None:
    number = "209999990033"
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(build_usage(number, number, [("AmazonEC2", "10")])),
        entries=(build_entry("Fee", "Setup", "1", customer_id=number, customer_name=number),),
    )
    text = extract_text(render_invoice(build_document(charges, build_terms(), Language.en)))

    assert text.count(number) == 2  # the heading of its usage, and the note of its entry
