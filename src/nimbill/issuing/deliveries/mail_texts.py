"""The mail with an invoice, in the customer's language, as companies write it there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nimbill.customers.contacts.records import Contact, SendAs
from nimbill.foundation.language import Language
from nimbill.invoicing.pdf.number_format import format_date, format_money, format_month
from nimbill.issuing.deliveries.mailed_invoice import MailedInvoice

NAME_LENGTH_MAX = 60  # of the customer, in the name of the attached file
_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\s]+')
_PDF = {
    Language.ja: (
        "請求書を添付のPDFファイルにてお送りいたします。\n"
        "ご査収のほど、よろしくお願い申し上げます。"
    ),
    Language.en: "Please find the invoice attached as a PDF file.",
}
_LINK = {
    Language.ja: (
        "請求書を発行いたしました。\n"
        "下記のページよりご確認くださいますよう、お願い申し上げます。\n{link}"
    ),
    Language.en: "The invoice is available on this page:\n{link}",
}
_SUBJECT = {
    Language.ja: "{prefix}請求書送付のご案内（{month}ご利用分・{number}）",
    Language.en: "{prefix}Invoice {number} for {month}",
}


@dataclass(frozen=True, slots=True)
class MailText:
    subject: str
    text: str
    attachment: str | None


def choose_language(
    recipients: Sequence[Contact], group: Language | None, organisation: Language
) -> Language:
    """The language that all readers of `to` have chosen, else that of the customer."""
    chosen_by_readers = {each.language for each in recipients if each.send_as is SendAs.to}
    if len(chosen_by_readers) == 1 and (only := next(iter(chosen_by_readers))) is not None:
        return only
    return group or organisation


def build_text(
    invoice: MailedInvoice, recipients: Sequence[Contact], language: Language, link: str | None
) -> MailText:
    """With `link` the invoice is not attached."""
    issuer = "" if invoice.issuer is None else to_one_line(invoice.issuer.company)
    month = format_month(invoice.month, language)
    prefix = {Language.ja: f"【{issuer}】", Language.en: f"{issuer}: "}[language] if issuer else ""
    subject = _SUBJECT[language].format(prefix=prefix, number=invoice.invoice_no, month=month)
    build_body = {Language.ja: _build_japanese, Language.en: _build_english}[language]
    matter = _PDF[language] if link is None else _LINK[language].replace("{link}", link)
    paragraphs = build_body(invoice, recipients, issuer, month, matter)
    text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"
    return MailText(subject, text, name_attachment(invoice) if link is None else None)


def _build_japanese(
    invoice: MailedInvoice, recipients: Sequence[Contact], issuer: str, month: str, matter: str
) -> list[str]:
    company = to_one_line(invoice.addressee.company_name)
    people = "\n".join(f"{name} 様" for name in _list_readers(recipients))
    greeting = "いつもお世話になっております。"
    if issuer:
        greeting += f"\n{issuer}でございます。"
    closing = (
        "ご不明な点がございましたら、お気軽にお問い合わせください。\n"
        "今後ともどうぞよろしくお願い申し上げます。"
    )
    return [
        f"{company} 御中\n{people}",
        greeting,
        f"{month}ご利用分（{to_one_line(invoice.vendor_name)}）の{matter}",
        "\n".join(_list_figures(invoice, Language.ja)),
        closing,
        _build_signature(invoice, "TEL: ", "担当: "),
    ]


def _build_english(
    invoice: MailedInvoice, recipients: Sequence[Contact], issuer: str, month: str, matter: str
) -> list[str]:
    company, vendor = (
        to_one_line(name) for name in (invoice.addressee.company_name, invoice.vendor_name)
    )
    closing = "Please contact us if you have any questions."
    return [
        f"Dear {', '.join(_list_readers(recipients))}",
        f"This is the invoice of {company} for the use of {vendor} in {month}.\n{matter}",
        "\n".join(_list_figures(invoice, Language.en)),
        f"{closing}\n\nKind regards" + (f"\n{issuer}" if issuer else ""),
        _build_signature(invoice, "Phone: ", "Contact: "),
    ]


def _list_readers(recipients: Sequence[Contact]) -> list[str]:
    return [to_one_line(each.name) for each in recipients if each.send_as is SendAs.to]


def _list_figures(invoice: MailedInvoice, language: Language) -> list[str]:
    is_japanese = language is Language.ja
    total = format_money(invoice.sheet.total, invoice.currency, language)
    figures = {
        "請求書番号" if is_japanese else "Invoice number": invoice.invoice_no,
        "ご請求金額" if is_japanese else "Total due": (
            f"{total}（税込）" if is_japanese else f"{total} (tax included)"
        ),
    }
    if invoice.due_date is not None:
        label = "お支払期限" if is_japanese else "Payment due"
        figures[label] = format_date(invoice.due_date, language)
    colon = "：" if is_japanese else ": "
    return [f"{label}{colon}{value}" for label, value in figures.items()]


def _build_signature(invoice: MailedInvoice, phone_label: str, contact_label: str) -> str:
    issuer = invoice.issuer
    if issuer is None:
        return ""
    place = " ".join(to_one_line(part) for part in (issuer.postal, issuer.address) if part)
    lines = [
        "-- ",
        to_one_line(issuer.company),
        place,
        f"{phone_label}{to_one_line(issuer.phone)}" if issuer.phone else "",
        f"{contact_label}{to_one_line(issuer.contact)}" if issuer.contact else "",
    ]
    return "\n".join(line for line in lines if line)


def name_attachment(invoice: MailedInvoice) -> str:
    """The number and the customer; from the second revision on, also the revision."""
    customer = "".join(
        char if char.isprintable() else " " for char in invoice.addressee.company_name
    )
    customer = _NOT_IN_FILE_NAMES.sub(" ", customer).strip(" .")[:NAME_LENGTH_MAX].strip(" .")
    revision = "" if invoice.revision == 1 else f"-r{invoice.revision}"
    return f"{invoice.invoice_no}{revision}_{customer}".rstrip("_") + ".pdf"


def to_one_line(text: str) -> str:
    """A name becomes one line, so that it cannot forge further lines of the mail."""
    return " ".join(text.split())
