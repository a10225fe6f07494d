"""Rows of the FOCUS data sets Cost and Usage and Invoice Detail, made of created invoices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from nimbill.costs.focus_names import name_sub_account_type, next_month_start
from nimbill.foundation.calendar_month import month_start
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.focus.invoice_charges import InvoiceCharge, list_charges
from nimbill.invoicing.focus.month_records import FocusMonth

# See docs/choices.md, focus-invoices.

NO_DUE_DATE = "No due date"

FocusRow = dict[str, Any]
Invoice = StoredInvoice[InvoiceDocument]


def build_cost_and_usage_rows(month: FocusMonth, invoice: Invoice) -> Iterator[FocusRow]:
    """One row for each printed line; the rows add up to the invoice's total, tax included."""
    document = invoice.document
    head = _build_head(month, invoice) | {
        "BillingAccountName": document.billinggroup_name,
        "BillingAccountType": "Billing Group",
        "ChargePeriodEnd": next_month_start(month.month),
        "ChargePeriodStart": month_start(month.month),
        "ServiceCategory": "Other",
        "ServiceSubcategory": "Other (Other)",
    }
    provider = month.name_provider(document.vendor)
    for detail_id, charge in _number_charges(document):
        seller = provider if charge.by_vendor else head["InvoiceIssuerName"]
        is_sold = charge.category in ("Usage", "Purchase")
        yield head | {
            "BilledCost": charge.billed_cost,
            "ChargeCategory": charge.category,
            "ChargeClass": charge.class_,
            "ChargeDescription": charge.description,
            "ChargeFrequency": charge.frequency,
            "ContractedCost": charge.billed_cost,
            "EffectiveCost": charge.billed_cost,
            "HostProviderName": provider if charge.by_vendor else None,
            "InvoiceDetailId": detail_id,
            "ListCost": charge.list_cost,
            "PricingCategory": "Standard" if is_sold else None,
            "ProviderName": seller,
            "PublisherName": f"{provider} Marketplace" if charge.marketplace else seller,
            "ServiceName": charge.service or charge.description,
            "ServiceProviderName": f"{provider} Marketplace" if charge.marketplace else seller,
            "SubAccountId": charge.customer_id,
            "SubAccountName": charge.customer_name,
            "SubAccountType": name_sub_account_type(document.vendor)
            if charge.customer_id
            else None,
            "Tags": _format_tag(document.tag_key, charge.tag),
        }


def build_invoice_detail_rows(month: FocusMonth, invoice: Invoice) -> Iterator[FocusRow]:
    """One row for each printed line, with the id that Cost and Usage has."""
    document = invoice.document
    head = _build_head(month, invoice) | {
        "InvoiceDetailCreated": invoice.create_time,
        "InvoiceDetailLastUpdated": invoice.update_time,
        "InvoiceIssueDate": _parse_date(document.issue_date),
        "InvoiceIssueStatus": "Issued" if month.is_closed(document.vendor) else "Open",
        "PaymentDueDate": _parse_date(document.due_date),
        "PaymentTerms": _describe_terms(document),
        # a new revision keeps its number and replaces the former: it refers to itself
        "ReferenceInvoiceId": document.invoice_no,
    }
    head["PaymentCurrency"] = head["BillingCurrency"]
    for detail_id, charge in _number_charges(document):
        yield head | {
            "BilledCost": charge.billed_cost,
            "ChargeCategory": charge.category,
            "InvoiceDetailDescription": charge.description,
            "InvoiceDetailGrain": _describe_grain(charge),
            "InvoiceDetailId": detail_id,
            "PaymentCurrencyBilledCost": charge.billed_cost,
            "PaymentCurrencyInvoiceDetailId": detail_id,
        }


def _build_head(month: FocusMonth, invoice: Invoice) -> FocusRow:
    """The columns that both data sets have and that are equal for all lines of an invoice."""
    document = invoice.document
    return {
        "BillingAccountId": document.company_id,
        "BillingCurrency": document.sheet.currency.value.upper(),
        "BillingPeriodEnd": next_month_start(month.month),
        "BillingPeriodStart": month_start(month.month),
        "InvoiceId": document.invoice_no,
        "InvoiceIssuerName": month.issuer_name(document),
    }


def _number_charges(document: InvoiceDocument) -> Iterator[tuple[str, InvoiceCharge]]:
    for number, charge in enumerate(list_charges(document), start=1):
        yield f"{document.invoice_no}-{number:05}", charge


def _describe_grain(charge: InvoiceCharge) -> str:
    """What makes the line unique on its invoice, as far as FOCUS has a word for it."""
    grain: dict[str, str | bool] = {"ServiceName": charge.service or charge.description}
    if charge.customer_id:
        grain["SubAccountId"] = charge.customer_id
    if charge.tag is not None:
        grain["x_Tag"] = charge.tag
    if charge.marketplace:
        grain["x_Marketplace"] = True
    return json.dumps(grain, ensure_ascii=False, separators=(",", ":"))


def _format_tag(key: str | None, value: str | None) -> str | None:
    if not key or not value:
        return None
    return json.dumps({key: value}, ensure_ascii=False, separators=(",", ":"))


def _describe_terms(document: InvoiceDocument) -> str:
    if document.due_date is None:
        return NO_DUE_DATE
    days = date.fromisoformat(document.due_date) - date.fromisoformat(document.issue_date)
    return f"Net {days.days}"


def _parse_date(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)
