"""Builds the invoice document of a billing group from its inputs, or says why it cannot."""

from collections.abc import Mapping
from datetime import datetime

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.customers.organisation_settings.records import OrganisationSettings
from nimbill.database.tenant_scope import Row
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.clock import local_date
from nimbill.foundation.currency import CURRENCIES, Currency
from nimbill.foundation.language import Language
from nimbill.foundation.vendor_names import label_vendor
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled, build_terms
from nimbill.invoicing.documents.document import (
    Addressee,
    InvoiceDocument,
    InvoiceProject,
    Issuer,
    PayerImport,
    VendorCharge,
)
from nimbill.invoicing.documents.issuer import build_issuer, calculate_due_date
from nimbill.invoicing.runs.invoice_inputs import InvoiceInputs, UsageSum
from nimbill.invoicing.runs.month_settings import (
    SavedSetting,
    read_fee_targets,
    read_setting_fields,
)

# See docs/choices.md, skipped-groups.


def build_invoice(
    inputs: InvoiceInputs, settings: OrganisationSettings, period: BillingPeriod, at: datetime
) -> InvoiceDocument:
    """Build the document without its number, which is assigned when it is stored.

    Raises CannotBeBilled with the first reason found.
    """
    saved = _require_settings(inputs, settings)
    setting = read_setting_fields(saved)
    terms = build_terms(
        setting,
        read_fee_targets(saved),
        exchange_rate=saved.exchange_rate,
        rounding=settings.rounding,
        usage_table=tuple((band.upto, band.rate) for band in settings.usage_table),
        month=period.month,
    )
    charges = _build_charges(inputs)
    issue_date = local_date(at, settings.time_zone)
    template = {} if inputs.template is None else inputs.template.content
    group = inputs.group
    return InvoiceDocument(
        invoice_no="",
        revision=0,
        month=period.month,
        vendor=period.vendor,
        issue_date=issue_date.isoformat(),
        due_date=calculate_due_date(template, issue_date),
        language=Language(group.language) if group.language else settings.language,
        company_id=group.company_id,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        inv_aggregate=group.inv_aggregate,
        addressee=_build_addressee(group),
        title=group.billing_title,
        remarks=group.remarks,
        memo=saved.memo,
        issuer=_build_issuer(inputs.template),
        project=_build_project(group),
        currency=terms.currency,
        cost_currency=charges.cost_currency,
        exchange_rate=terms.exchange_rate,
        setting=InvoiceSetting(**setting),
        tag_key=settings.cost_tag_key if terms.calc_type == "tag" else None,
        imports=[
            PayerImport(payer_id=row.payer_id, import_id=row.import_id, provisional=row.provisional)
            for row in inputs.imports
        ],
        stock=[
            VendorCharge(currency=currency, amount=amount)
            for currency, amount in sorted(inputs.vendor_cost.items())
        ],
        terms=terms,
        charges=charges,
        sheet=calculate_invoice(charges, terms),
        vendor_label=label_vendor(period.vendor, settings.provider_names),
        replaces=inputs.replaces,
    )


def _require_settings(inputs: InvoiceInputs, settings: OrganisationSettings) -> SavedSetting:
    """Return the saved setting of the month.

    Accounts are checked first: a billing group without accounts usually lacks the rest as well.
    """
    if not inputs.accounts:
        raise CannotBeBilled("no_accounts")
    if inputs.setting is None:
        raise CannotBeBilled("settings_missing")
    if inputs.setting.exchange_rate is None:
        raise CannotBeBilled("rate_missing")
    if inputs.setting.calc_type == "tag" and settings.cost_tag_key is None:
        raise CannotBeBilled("tag_key_missing")
    return inputs.setting


def _build_charges(inputs: InvoiceInputs) -> MonthlyCharges:
    return MonthlyCharges(
        cost_currency=_find_cost_currency(inputs),
        usage=tuple(
            UsageCharge(
                customer_id=usage.customer_id,
                customer_name=inputs.accounts[usage.customer_id],
                tag=usage.tag,
                service=usage.service,
                marketplace=usage.marketplace,
                amount=usage.amount,
                products=_find_products(usage, inputs),
            )
            for usage in inputs.usage
        ),
        entries=tuple(build_applied_entry(row, inputs.accounts) for row in inputs.entries),
        items=tuple(_build_item(row) for row in inputs.items),
    )


def _find_products(usage: UsageSum, inputs: InvoiceInputs) -> tuple[str, ...]:
    """Name the products of a marketplace line; other services are known by their own name."""
    if not usage.marketplace:
        return ()
    return inputs.product_names.get((usage.customer_id, usage.service), ())


def _find_cost_currency(inputs: InvoiceInputs) -> Currency:
    """The currency of all usage; USD if there is no usage to convert."""
    codes = {usage.currency for usage in inputs.usage}
    if not (codes | {row.currency_code for row in inputs.entries}) <= CURRENCIES.keys():
        raise CannotBeBilled("unsupported_currency")
    if len(codes) > 1:
        raise CannotBeBilled("mixed_currency")
    return CURRENCIES[codes.pop()] if codes else Currency.usd


def build_applied_entry(row: Row, account_names: Mapping[str, str]) -> AppliedEntry:
    """Build the entry of a stored row whose currency is one of CURRENCIES."""
    return AppliedEntry(
        entry_id=row.entry_id,
        customer_id=row.customer_id,
        customer_name=account_names[row.customer_id],
        calc_type=row.calc_type,
        description=row.description,
        amount=row.unblended_cost,
        currency=CURRENCIES[row.currency_code],
        exchange_rate=row.exchange_rate,
        tax_free=row.tax_free,
    )


def _build_item(row: Row) -> FreeItem:
    return FreeItem(
        enabled=row.enabled,
        label=row.label,
        unit_cost=row.unit_cost,
        quantity=row.quantity,
        total=row.total,
    )


def _build_addressee(group: Row) -> Addressee:
    return Addressee(
        company_name=group.company_name,
        contact=group.personal,
        postal=group.postal,
        address=group.address,
        phone=group.phone,
    )


def _build_issuer(template: Row | None) -> Issuer | None:
    if template is None:
        return None
    return build_issuer(template.invoice_template_id, template.content)


def _build_project(group: Row) -> InvoiceProject | None:
    if group.project_id is None:
        return None
    return InvoiceProject(
        project_id=group.project_id,
        project_code=group.project_code,
        project_label=group.project_label,
        project_currency=group.project_currency,
    )
