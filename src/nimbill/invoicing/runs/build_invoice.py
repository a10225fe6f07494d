"""From what is stored to an invoice: the first reason it cannot be made, or the document."""

import calendar
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.customers.organisation_settings.records import OrganisationSettings
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen
from nimbill.foundation.vocabulary import Currency, Language
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled, Terms, terms_of
from nimbill.invoicing.documents.document import (
    Addressee,
    ImportOfPayer,
    InvoiceDocument,
    Issuer,
    Project,
    VendorCharge,
)
from nimbill.invoicing.runs.invoice_inputs import Gathered
from nimbill.invoicing.runs.month_settings import setting_fields, settled

basis = chosen("skipped-groups")
dates_basis = chosen("invoice-dates")

# the currencies an invoice can be worked out from, by the vendors' names for them
CURRENCIES: Mapping[str, Currency] = {"USD": Currency.usd, "JPY": Currency.jpy}


def drawn_up(
    found: Gathered,
    of: OrganisationSettings,
    *,
    month: str,
    vendor: str,
    at: datetime,
) -> InvoiceDocument:
    """But for its number, which it gets last; CannotBeBilled with the first reason there is."""
    saved = _ready(found, of)
    setting = setting_fields(saved)
    terms = terms_of(
        setting,
        settled(saved),
        exchange_rate=saved.exchange_rate,
        rounding=of.rounding,
        usage_table=tuple((band.upto, band.rate) for band in of.usage_table),
        month=month,
    )
    charges = MonthlyCharges(
        cost_currency=_cost_currency(found),
        usage=tuple(
            UsageCharge(
                customer_id=one.customer_id,
                customer_name=found.accounts[one.customer_id],
                tag=one.tag,
                service=one.service,
                marketplace=one.marketplace,
                amount=one.amount,
            )
            for one in found.usage
        ),
        entries=tuple(_entry(row, found.accounts) for row in found.entries),
        items=tuple(_item(row) for row in found.items),
    )
    issued = at.astimezone(ZoneInfo(of.time_zone)).date()
    return _document(found, of, setting, terms, charges, vendor, issued)


def _ready(found: Gathered, of: OrganisationSettings) -> Row:
    """Its saved setting; whoever lacks accounts lacks everything else too, so that comes first."""
    if not found.accounts:
        raise CannotBeBilled("no_accounts")
    if found.saved is None:
        raise CannotBeBilled("settings_missing")
    if found.saved.exchange_rate is None:
        raise CannotBeBilled("rate_missing")
    if found.saved.calc_type == "tag" and of.cost_tag_key is None:
        raise CannotBeBilled("tag_key_missing")
    return found.saved


def _cost_currency(found: Gathered) -> Currency:
    """Of all usage lines; dollars where there are none, and nothing to convert."""
    named = {one.currency for one in found.usage}
    if not (named | {row.currency_code for row in found.entries}) <= CURRENCIES.keys():
        raise CannotBeBilled("unsupported_currency")
    if len(named) > 1:
        raise CannotBeBilled("mixed_currency")
    return CURRENCIES[named.pop()] if named else Currency.usd


def _entry(row: Row, names: Mapping[str, str]) -> AppliedEntry:
    return AppliedEntry(
        entry_id=row.entry_id,
        customer_id=row.customer_id,
        customer_name=names[row.customer_id],
        calc_type=row.calc_type,
        description=row.description,
        amount=row.unblended_cost,
        currency=CURRENCIES[row.currency_code],
        exchange_rate=row.exchange_rate,
        tax_free=row.tax_free,
    )


def _item(row: Row) -> FreeItem:
    return FreeItem(
        enabled=row.enabled,
        label=row.label,
        unit_cost=row.unit_cost,
        quantity=row.quantity,
        total=row.total,
    )


def _document(
    found: Gathered,
    of: OrganisationSettings,
    setting: Mapping[str, Any],
    terms: Terms,
    charges: MonthlyCharges,
    vendor: str,
    issued: date,
) -> InvoiceDocument:
    group, saved = found.group, found.saved
    assert saved is not None, "the group was ready"
    template = {} if found.template is None else found.template.content
    return InvoiceDocument(
        invoice_no="",
        revision=0,
        month=terms.month,
        vendor=vendor,
        issue_date=issued.isoformat(),
        due_date=_due_date(template, issued),
        language=Language(group.language) if group.language else of.language,
        company_id=group.company_id,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        inv_aggregate=group.inv_aggregate,
        addressee=Addressee(
            company_name=group.company_name,
            contact=group.personal,
            postal=group.postal,
            address=group.address,
            phone=group.phone,
        ),
        title=group.billing_title,
        remarks=group.remarks,
        memo=saved.memo,
        issuer=_issuer(found.template),
        project=_project(group),
        currency=terms.currency,
        cost_currency=charges.cost_currency,
        exchange_rate=terms.exchange_rate,
        setting=InvoiceSetting(**setting),
        tag_key=of.cost_tag_key if terms.calc_type == "tag" else None,
        imports=[
            ImportOfPayer(
                payer_id=row.payer_id, import_id=row.import_id, provisional=row.provisional
            )
            for row in found.imports
        ],
        stock=[
            VendorCharge(currency=currency, amount=amount)
            for currency, amount in sorted(found.stock.items())
        ],
        terms=terms,
        charges=charges,
        sheet=calculate_invoice(charges, terms),
    )


def _issuer(template: Row | None) -> Issuer | None:
    if template is None:
        return None
    known = {name: template.content.get(name) for name in Issuer.__struct_fields__}
    return Issuer(**known | {"invoice_template_id": template.invoice_template_id})


def _project(group: Row) -> Project | None:
    if group.project_id is None:
        return None
    return Project(
        project_id=group.project_id,
        project_code=group.project_code,
        project_label=group.project_label,
        project_currency=group.project_currency,
    )


def _due_date(template: Mapping[str, Any], issued: date) -> str | None:
    """By the template's rule; without one no date is printed."""
    if template.get("due_rule") == "days":
        return (issued + timedelta(days=template["due_days"])).isoformat()
    if template.get("due_rule") == "end_of_next_month":
        year, month = issued.year + issued.month // 12, issued.month % 12 + 1
        return date(year, month, calendar.monthrange(year, month)[1]).isoformat()
    return None
