"""The fixed texts on printed invoices, in Japanese and English."""

from collections.abc import Mapping
from types import MappingProxyType

from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language

# each text in Japanese, then in English
# fmt: off
LABELS: Mapping[str, tuple[str, str]] = MappingProxyType({
    "sample":           ("見本 SAMPLE", "SAMPLE"),
    "title":            ("請求書", "Invoice"),
    "cover_title":      ("請求書（合計）", "Statement of invoices"),
    "to_company":       ("御中", ""),
    "to_person":        ("様", ""),
    "number":           ("請求書番号", "Invoice number"),
    "replaces":         ("差替元請求書番号", "Replaces invoice"),
    "revision":         ("第{}版", "revision {}"),
    "issued":           ("発行日", "Date of issue"),
    "due":              ("お支払期限", "Payment due"),
    "registration":     ("登録番号", "Registration number"),
    "phone":            ("TEL", "Phone"),
    "contact":          ("担当", "Contact"),
    "greeting":         ("下記のとおりご請求申し上げます。", "We invoice you for the following."),
    "total_due":        ("ご請求金額（税込）", "Total due"),
    "month":            ("ご利用月", "Billed month"),
    "vendor":           ("クラウド", "Cloud vendor"),
    "exchange_rate":    ("為替レート", "Exchange rate"),
    "provisional":      ("暫定", "Provisional"),
    "provisional_note": ("この請求書は、クラウド事業者の料金が確定する前の金額によるものです。",
                         "Worked out before the cloud vendor's costs were final."),
    "what":             ("内容", "Description"),
    "charge":           ("料金（{}）", "Charge ({})"),
    "after":            ("割引後金額（{}）", "After discount ({})"),
    "marketplace":      ("マーケットプレイス", "Marketplace"),
    "untagged":         ("（タグなし）", "(no tag)"),
    "subtotal":         ("小計", "Subtotal"),
    "fees":             ("サポート・手数料", "Support and fees"),
    "support":          ("サポート料金", "Support"),
    "agency":           ("代行手数料", "Agency fee"),
    "entries":          ("調整", "Adjustments"),
    "Fee":              ("料金", "Fee"),
    "Credit":           ("クレジット", "Credit"),
    "Refund":           ("返金", "Refund"),
    "Correction":       ("訂正", "Correction"),
    "Upfront":          ("前払金", "Upfront"),
    "items":            ("その他", "Other items"),
    "nothing":          ("ご請求の明細はありません。", "There is nothing to be charged."),
    "carried_over":     ("次頁へ繰越", "Carried over"),
    "brought_forward":  ("前頁より繰越", "Brought forward"),
    "pre_tax":          ("小計（税抜）", "Subtotal before tax"),
    "base_of":          ("{}対象（税抜）", "Taxable at {}"),
    "tax_of":           ("消費税（{}）", "Consumption tax ({})"),
    "tax_free":         ("消費税対象外", "Not subject to tax"),
    "total":            ("合計（税込）", "Total, tax included"),
    "bank_account":     ("お振込先", "Bank account"),
    "remarks":          ("備考", "Remarks"),
    "cover_note":       ("消費税額は請求書ごとの計算によります。各請求書は次頁以降のとおりです。",
                         "Tax is worked out on each invoice. The invoices follow."),
    "sum_of":           ("合計（{}）", "Sum ({})"),
    "before_tax":       ("税抜金額", "Before tax"),
    "tax":              ("消費税", "Tax"),
    "with_tax":         ("税込金額", "With tax"),
})

CURRENCIES: Mapping[Currency, tuple[str, str]] = MappingProxyType({
    Currency.jpy: ("円", "JPY"),
    Currency.usd: ("米ドル", "USD"),
})
# fmt: on

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def labels_for(language: Language) -> dict[str, str]:
    return {name: _pick(pair, language) for name, pair in LABELS.items()}


def currency_label(currency: Currency, language: Language) -> str:
    return _pick(CURRENCIES[currency], language)


def _pick(pair: tuple[str, str], language: Language) -> str:
    japanese, english = pair
    return japanese if language is Language.ja else english
