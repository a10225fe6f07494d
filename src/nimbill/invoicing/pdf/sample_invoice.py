"""An invented invoice that shows how a template looks."""

from datetime import datetime
from decimal import Decimal

import msgspec

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.customers.invoice_templates.operations import InvoiceTemplateBody
from nimbill.customers.organisation_settings.records import OrganisationSettings
from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.clock import local_date
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.charges import FreeItem, MonthlyCharges, UsageCharge
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument
from nimbill.invoicing.documents.issuer import build_issuer, calculate_due_date

_SETTING = InvoiceSetting(
    calc_type="account",
    currency="jpy",
    discount_calc_logic="usageamount",
    discount_rate=Decimal("0.05"),
    discount_target_usage="cloudpayonly",
    substitution_fee="percent",
    substitution_fee_calc_target="discounted",
    substitution_fee_calc_type="allsum",
    substitution_fee_target_usage="cloudpayonly",
    substitution_fix=Decimal(0),
    substitution_rate=Decimal("0.03"),
    support_amount_target="allusage",
    support_fee="percent",
    support_fee_calc_target="nondiscount",
    support_fix=Decimal(0),
    support_rate=Decimal("0.10"),
    tax_rate=Decimal("0.10"),
)
_RATE = Decimal("150.25")
# account, service, dollars
_USAGE = (
    ("000000000001", "AmazonEC2", "1234.56"),
    ("000000000001", "AmazonS3", "98.7"),
    ("000000000002", "AmazonRDS", "543.21"),
)
# in Japanese, then in English
_TEXTS = {
    "company": ("見本商事株式会社", "Sample Trading Ltd."),
    "contact": ("見本 太郎", "Sam Sample"),
    "address": ("東京都見本区見本町1-2-3", "1-2-3 Sample Street, Sample City"),
    "account": ("見本アカウント", "Sample account"),
    "item": ("見本の調整項目", "Sample item"),
}


def build_sample_invoice(
    template: InvoiceTemplateBody,
    settings: OrganisationSettings,
    language: Language,
    at: datetime,
) -> InvoiceDocument:
    """Build the document of an invented customer, calculated like any invoice."""
    texts = {name: pair[language is Language.en] for name, pair in _TEXTS.items()}
    issue_date = local_date(at, settings.time_zone)
    month = add_months(f"{issue_date:%Y-%m}", -1)
    content = msgspec.to_builtins(template)
    terms, charges = _build_terms(settings, month), _build_charges(texts["account"], texts["item"])
    return InvoiceDocument(
        invoice_no="SAMPLE-0001",
        revision=1,
        month=month,
        vendor="aws",
        issue_date=issue_date.isoformat(),
        due_date=calculate_due_date(content, issue_date),
        language=language,
        company_id="",
        billinggroup_id="SAMPLE",
        billinggroup_name=texts["company"],
        inv_aggregate=False,
        addressee=Addressee(
            company_name=texts["company"],
            contact=texts["contact"],
            postal="000-0000",
            address=texts["address"],
            phone="00-0000-0000",
        ),
        title=None,
        remarks=None,
        memo=None,
        issuer=build_issuer("", content),
        project=None,
        currency=terms.currency,
        cost_currency=charges.cost_currency,
        exchange_rate=_RATE,
        setting=_SETTING,
        tag_key=None,
        imports=[],
        stock=[],
        terms=terms,
        charges=charges,
        sheet=calculate_invoice(charges, terms),
    )


def _build_terms(settings: OrganisationSettings, month: str) -> Terms:
    return Terms(
        calc_type=_SETTING.calc_type,
        currency=Currency(_SETTING.currency),
        discount_calc_logic=_SETTING.discount_calc_logic,
        discount_rate=_SETTING.discount_rate,
        discount_target_usage=_SETTING.discount_target_usage,
        substitution_fee=_SETTING.substitution_fee,
        substitution_basis="discounted",
        substitution_scope="cloudpayonly",
        substitution_fee_calc_type=_SETTING.substitution_fee_calc_type,
        substitution_fix=_SETTING.substitution_fix,
        substitution_rate=_SETTING.substitution_rate,
        support_amount_target=_SETTING.support_amount_target,
        support_fee=_SETTING.support_fee,
        support_basis="nondiscount",
        support_scope=None,
        support_fix=_SETTING.support_fix,
        support_rate=_SETTING.support_rate,
        tax_rate=_SETTING.tax_rate,
        exchange_rate=_RATE,
        rounding=settings.rounding,
        usage_table=(),
        month=month,
    )


def _build_charges(account: str, item: str) -> MonthlyCharges:
    return MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(
            UsageCharge(
                customer_id=customer_id,
                customer_name=f"{account} {customer_id[-1]}",
                tag="",
                service=service,
                marketplace=False,
                amount=Decimal(amount),
            )
            for customer_id, service, amount in _USAGE
        ),
        items=(
            FreeItem(
                enabled=True,
                label=item,
                unit_cost=Decimal(5000),
                quantity=Decimal(2),
                total=Decimal(10000),
            ),
        ),
    )
