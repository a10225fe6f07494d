"""Plausible invoices for images, tests and benchmarks, and their PDF files."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.foundation.money import Rounding
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument, Issuer, PayerImport
from nimbill.invoicing.pdf import typst_compiler
from nimbill.invoicing.pdf.rendering import build_compiler_input

ISSUERS = {
    Language.ja: Issuer(
        invoice_template_id="it_example",
        company="株式会社みなとクラウド",
        postal="105-0001",
        address="東京都港区虎ノ門九丁目9番9号\nみなとビル 12階",
        phone="03-0000-0100",
        contact="経理部 請求担当",
        registration_number="T9999999999999",
        bank_account="みなと銀行（9999） 本店営業部（001）\n普通 0123456　カ）ミナトクラウド",
        notes="お振込手数料は貴社にてご負担くださいますようお願い申し上げます。",
        accent_colour="#1f5f8b",
    ),
    Language.en: Issuer(
        invoice_template_id="it_example",
        company="Minato Cloud Inc.",
        postal="105-0001",
        address="9-9-9 Toranomon, Minato-ku\nTokyo, Japan",
        phone="+81-3-0000-0100",
        contact="Accounts receivable",
        registration_number="T9999999999999",
        bank_account="Minato Bank (9999), Head Office (001)\nOrdinary 0123456, Minato Cloud Inc.",
        notes="Please bear the bank's transfer charge.",
        accent_colour="#1f5f8b",
    ),
}
ADDRESSEES = {
    Language.ja: Addressee(
        company_name="さくら製作所株式会社",
        contact="情報システム部 髙橋 明子",
        postal="530-0001",
        address="大阪府大阪市北区梅田十丁目10番10号",
        phone="06-0000-0200",
    ),
    Language.en: Addressee(
        company_name="Sakura Manufacturing K.K.",
        contact="Akiko Takahashi, IT department",
        postal="530-0001",
        address="10-10-10 Umeda, Kita-ku, Osaka, Japan",
        phone="+81-6-0000-0200",
    ),
}
ACCOUNTS = {
    Language.ja: (
        "本番環境",
        "検証環境",
        "データ分析基盤",
        "社内システム",
        "災害対策",
        "Webサイト",
    ),
    Language.en: ("Production", "Staging", "Data platform", "Back office", "Recovery", "Web site"),
}
SERVICES = (
    "AmazonEC2",
    "AmazonRDS",
    "AmazonS3",
    "AmazonCloudFront",
    "AmazonElastiCache",
    "AmazonRoute53",
    "AWSLambda",
    "AmazonECS",
    "AmazonVPC",
    "AmazonCloudWatch",
    "AWSBackup",
    "awskms",
)


def build_terms(**changes: Any) -> Terms:
    """5 % off, business support, a fee of 3 %, 10 % tax, dollars billed in yen."""
    return Terms(
        **{
            "calc_type": "account",
            "currency": Currency.jpy,
            "discount_calc_logic": "usageamount",
            "discount_rate": Decimal("0.05"),
            "discount_target_usage": "cloudpaywithfee",
            "substitution_fee": "percent",
            "substitution_basis": "discounted",
            "substitution_scope": "cloudpaywithfee",
            "substitution_fee_calc_type": "allsum",
            "substitution_fix": Decimal(0),
            "substitution_rate": Decimal("0.03"),
            "support_amount_target": "allusage",
            "support_fee": "aws_business",
            "support_basis": "nondiscount",
            "support_scope": None,
            "support_fix": Decimal(0),
            "support_rate": Decimal(0),
            "tax_rate": Decimal("0.1"),
            "exchange_rate": Decimal("150.25"),
            "rounding": Rounding.half_up,
            "usage_table": (),
            "month": "2026-10",
            **changes,
        }
    )


def build_usage(
    customer_id: str, name: str, amounts: Iterable[tuple[str, str]], **changes: Any
) -> list[UsageCharge]:
    return [
        UsageCharge(
            **{
                "customer_id": customer_id,
                "customer_name": name,
                "tag": "",
                "service": service,
                "marketplace": False,
                "amount": Decimal(amount),
                **changes,
            }
        )
        for service, amount in amounts
    ]


def build_entry(calc_type: str, description: str, amount: str, **changes: Any) -> AppliedEntry:
    return AppliedEntry(
        **{
            "entry_id": f"re_{calc_type.lower()}",
            "customer_id": "111111111111",
            "customer_name": "",
            "calc_type": calc_type,
            "description": description,
            "amount": Decimal(amount),
            "currency": Currency.usd,
            "exchange_rate": Decimal(0),
            "tax_free": False,
            **changes,
        }
    )


def build_item(label: str, unit_cost: str, quantity: str) -> FreeItem:
    price, count = Decimal(unit_cost), Decimal(quantity)
    return FreeItem(enabled=True, label=label, unit_cost=price, quantity=count, total=price * count)


def _setting(terms: Terms) -> InvoiceSetting:
    """The setting that leads to these terms."""
    renamed_fields: dict[str, Any] = {
        "substitution_fee_calc_target": terms.substitution_basis,
        "substitution_fee_target_usage": terms.substitution_scope,
        "support_fee_calc_target": terms.support_basis,
        "currency": terms.currency.value,
    }
    names = [name for name in InvoiceSetting.__struct_fields__ if name not in renamed_fields]
    return InvoiceSetting(**{name: getattr(terms, name) for name in names}, **renamed_fields)


def build_document(
    charges: MonthlyCharges, terms: Terms, language: Language, **changes: Any
) -> InvoiceDocument:
    return InvoiceDocument(
        **{
            "invoice_no": "202610-0001",
            "revision": 1,
            "month": terms.month,
            "vendor": "aws",
            "issue_date": "2026-11-05",
            "due_date": "2026-12-31",
            "language": language,
            "company_id": "co_example",
            "billinggroup_id": "sakura",
            "billinggroup_name": "Sakura",
            "inv_aggregate": False,
            "addressee": ADDRESSEES[language],
            "title": None,
            "remarks": None,
            "memo": None,
            "issuer": ISSUERS[language],
            "project": None,
            "currency": terms.currency,
            "cost_currency": charges.cost_currency,
            "exchange_rate": terms.exchange_rate,
            "setting": _setting(terms),
            "tag_key": None,
            "imports": [PayerImport(payer_id="111111111111", import_id="im_1", provisional=False)],
            "stock": [],
            "terms": terms,
            "charges": charges,
            "sheet": calculate_invoice(charges, terms),
            **changes,
        }
    )


def build_short_invoice(language: Language, **changes: Any) -> InvoiceDocument:
    """One page with two accounts, marketplace usage, entries and an item."""
    names = ACCOUNTS[language]
    japanese = language is Language.ja
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=(
            *build_usage(
                "111111111111", names[0], [("AmazonEC2", "1000.123456789"), ("AmazonS3", "50.25")]
            ),
            *build_usage(
                "111111111111", names[0], [("Datastore for search", "120.5")], marketplace=True
            ),
            *build_usage("222222222222", names[1], [("AmazonRDS", "20.333")]),
        ),
        entries=(
            build_entry(
                "Fee", "AWS Certificate Authority, private CA", "672.00", customer_name=names[0]
            ),
            build_entry(
                "Credit",
                "Migration credit",
                "-12.50",
                customer_id="222222222222",
                customer_name=names[1],
                exchange_rate=Decimal("148.9"),
                tax_free=True,
            ),
        ),
        items=(build_item("運用監視サービス" if japanese else "Monitoring service", "30000", "2"),),
    )
    remarks = "ご不明な点は請求担当までお問い合わせください。" if japanese else "PO 4500012345"
    return build_document(charges, build_terms(), language, **{"remarks": remarks, **changes})


def build_long_invoice(language: Language, *, accounts: int = 6, **changes: Any) -> InvoiceDocument:
    """Many accounts with all services, on several pages."""
    names = ACCOUNTS[language]
    lines: list[UsageCharge] = []
    for number in range(accounts):
        amounts = [
            (service, f"{(number + 1) * (position + 3) * 137 % 2999}.{position}{number % 10}5")
            for position, service in enumerate(SERVICES)
        ]
        customer_id = f"{111111111111 + number * 1010101}"
        lines += build_usage(customer_id, names[number % len(names)], amounts)
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(lines),
        entries=(
            build_entry("Refund", "Refund for Reserved Instance exchange", "-310.40"),
            build_entry("Upfront", "Compute Savings Plan, all upfront, 1 year", "5200.00"),
        ),
        items=(
            build_item(
                "運用監視サービス" if language is Language.ja else "Monitoring", "30000", "6"
            ),
        ),
    )
    return build_document(
        charges, build_terms(), language, **{"invoice_no": "202610-0042", "revision": 2, **changes}
    )


def render_invoice(document: InvoiceDocument) -> bytes:
    """Render the invoice in this process; the service uses processes of a pool."""
    data, timestamp = build_compiler_input([document], with_cover=False)
    return typst_compiler.compile_pdf(data, timestamp=timestamp)
