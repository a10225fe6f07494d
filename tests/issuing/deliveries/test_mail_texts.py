"""The mail with an invoice: language, names, figures, attachment."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from nimbill.customers.contacts.records import Contact, SendAs
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import Addressee, Issuer
from nimbill.issuing.deliveries.mail_texts import build_text, choose_language, name_attachment
from nimbill.issuing.deliveries.mailed_invoice import MailedInvoice, MailedSheet

LINK = "https://billing.example.com/portal/invoices/2026-09/aws"
ISSUER = Issuer(
    invoice_template_id="tpl_1",
    company="クラウド販売株式会社",
    postal="100-0001",
    address="東京都千代田区千代田1-1",
    phone="03-0000-0000",
    contact="経理担当",
)
INVOICE = MailedInvoice(
    invoice_no="202609-0001",
    revision=1,
    month="2026-09",
    vendor="aws",
    due_date="2026-10-31",
    addressee=Addressee(
        company_name="株式会社さくら商事", contact=None, postal=None, address=None, phone=None
    ),
    issuer=ISSUER,
    currency=Currency.jpy,
    sheet=MailedSheet(total=Decimal(123456)),
)


def contact(name: str = "山田 花子", **fields: Any) -> Contact:
    values: dict[str, Any] = {
        "contact_id": "con_1",
        "company_id": "cmp_1",
        "name": name,
        "email": "hanako@example.com",
        "send_as": SendAs.to,
        "receives_invoices": True,
        "language": None,
        "create_time": "2026-10-01T00:00:00Z",
    }
    return Contact(**values | fields)


READERS = [contact(), contact("経理部"), contact("佐藤", send_as=SendAs.cc)]

JAPANESE = """\
株式会社さくら商事 御中
山田 花子 様
経理部 様

いつもお世話になっております。
クラウド販売株式会社でございます。

2026年9月ご利用分（AWS）の請求書を添付のPDFファイルにてお送りいたします。
ご査収のほど、よろしくお願い申し上げます。

請求書番号：202609-0001
ご請求金額：¥123,456（税込）
お支払期限：2026年10月31日

ご不明な点がございましたら、お気軽にお問い合わせください。
今後ともどうぞよろしくお願い申し上げます。

--\x20
クラウド販売株式会社
100-0001 東京都千代田区千代田1-1
TEL: 03-0000-0000
担当: 経理担当
"""
ENGLISH = """\
Dear 山田 花子, 経理部

This is the invoice of 株式会社さくら商事 for the use of AWS in September 2026.
The invoice is available on this page:
https://billing.example.com/portal/invoices/2026-09/aws

Invoice number: 202609-0001
Total due: ¥123,456 (tax included)
Payment due: 31 October 2026

Please contact us if you have any questions.

Kind regards
クラウド販売株式会社

--\x20
クラウド販売株式会社
100-0001 東京都千代田区千代田1-1
Phone: 03-0000-0000
Contact: 経理担当
"""


def test_the_japanese_mail_with_the_attached_invoice() -> None:
    mail = build_text(INVOICE, READERS, Language.ja, None)

    assert mail.text == JAPANESE
    expected = "【クラウド販売株式会社】請求書送付のご案内（2026年9月ご利用分・202609-0001）"
    assert mail.subject == expected
    assert mail.attachment == "202609-0001_株式会社さくら商事.pdf"


def test_the_english_mail_with_a_link() -> None:
    mail = build_text(INVOICE, READERS, Language.en, LINK)

    assert mail.text == ENGLISH
    assert mail.subject == "クラウド販売株式会社: Invoice 202609-0001 for September 2026"
    assert mail.attachment is None


@pytest.mark.parametrize("language", Language)
def test_an_invoice_without_issuer_and_due_date_has_no_empty_lines_for_them(
    language: Language,
) -> None:
    invoice = replace(INVOICE, issuer=None, due_date=None)

    mail = build_text(invoice, READERS, language, LINK)

    assert LINK in mail.text.splitlines()
    for word in ("None", "-- ", "お支払期限", "Payment due", "でございます", "【", "\n\n\n"):
        assert word not in mail.text
    assert "None" not in mail.subject


def test_only_filled_fields_of_the_issuer_are_signed() -> None:
    issuer = Issuer(invoice_template_id="tpl_1", company="クラウド販売株式会社")

    mail = build_text(replace(INVOICE, issuer=issuer), READERS, Language.ja, None)

    assert mail.text.endswith("\n\n-- \nクラウド販売株式会社\n")


def test_names_with_line_breaks_add_no_line_and_no_header() -> None:
    hostile = "A\r\nBcc: b@example.com"
    issuer = Issuer(invoice_template_id="tpl_1", company=hostile, phone=hostile)
    addressee = Addressee(company_name=hostile, contact=None, postal=None, address=None, phone=None)
    invoice = replace(INVOICE, issuer=issuer, addressee=addressee, vendor_label=hostile)

    mail = build_text(invoice, [contact(hostile)], Language.ja, None)

    assert "\n" not in mail.subject
    assert "\r" not in mail.subject + mail.text
    assert not any(line.startswith("Bcc") for line in mail.text.splitlines())
    assert mail.attachment == "202609-0001_A Bcc b@example.com.pdf"


def test_braces_in_names_are_not_replaced() -> None:
    issuer = Issuer(invoice_template_id="tpl_1", company="{month} {0}")

    mail = build_text(replace(INVOICE, issuer=issuer), [contact("{link}")], Language.ja, LINK)

    assert mail.subject.startswith("【{month} {0}】")
    assert "{link} 様" in mail.text


@pytest.mark.parametrize(
    ("company", "name"),
    [
        ("../../etc/passwd", "202609-0001_etc passwd.pdf"),
        ('a<b>:"c|d?*', "202609-0001_a b c d.pdf"),
        ("...", "202609-0001.pdf"),
        ("あ" * 100, f"202609-0001_{'あ' * 60}.pdf"),
    ],
)
def test_the_name_of_the_attachment_is_a_file_name_everywhere(company: str, name: str) -> None:
    addressee = Addressee(company_name=company, contact=None, postal=None, address=None, phone=None)

    assert name_attachment(replace(INVOICE, addressee=addressee)) == name


def test_a_later_revision_is_named() -> None:
    assert name_attachment(replace(INVOICE, revision=2)) == "202609-0001-r2_株式会社さくら商事.pdf"


def test_the_language_is_that_of_all_readers_or_of_the_customer() -> None:
    english = contact(language=Language.en)
    copy = contact(send_as=SendAs.cc, language=Language.en)

    assert choose_language([english, english], Language.ja, Language.ja) is Language.en
    assert choose_language([english, contact()], Language.ja, Language.en) is Language.ja
    assert choose_language([contact(), copy], None, Language.ja) is Language.ja
    assert choose_language([contact()], Language.en, Language.ja) is Language.en
    assert choose_language([], None, Language.en) is Language.en
