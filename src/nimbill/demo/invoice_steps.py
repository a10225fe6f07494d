"""Seed steps for invoices: month settings, creation, closing, and PDF files."""

import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.demo.api_client import DemoClient
from nimbill.demo.cost_deliveries import VENDORS
from nimbill.demo.customers import DemoCustomer
from nimbill.demo.monthly_data import (
    CLOSED_MONTHS,
    CURRENT_MONTH,
    EXCHANGE_RATES,
    MONTHLY_OVERRIDES,
    OPEN_MONTH,
)
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import month_end

INVOICES = "/m/core/invoices"
PDF_FOLDER = "invoices"  # inside the data folder


def create_invoices(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Saves the settings of the month and creates its invoices; closes it if it is in the past."""
    save_month_settings(client, reseller, month, company_ids(client))
    for vendor in _list_vendors(reseller):
        body = {"vendor": vendor, "group": [], "bulk": True}
        key = f"demo-create-{month}-{vendor}"
        client.post(f"{INVOICES}/calculation/{month}", body, key=key)
    if month in CLOSED_MONTHS:
        for vendor in _list_vendors(reseller):
            key = f"demo-close-{month}-{vendor}"
            client.post(f"{INVOICES}/close/{month}", _build_closing(month, vendor), key=key)


def _build_closing(month: str, vendor: str) -> dict[str, Any]:
    """The demo's months are fixed, so that a computer's clock may show an earlier month."""
    if month_end(month) < clock.now():
        return {"vendor": vendor}
    reason = "The demo shows this month as it will be after its end."
    return {"vendor": vendor, "override": True, "reason": reason}


def save_month_settings(
    client: DemoClient, reseller: DemoReseller, month: str, companies: dict[str, str]
) -> None:
    """Saves the contract terms, the overrides of this month and the exchange rate."""
    client.put(f"{INVOICES}/save/{month}", {"settings": [], "internal": True})
    overrides = _build_overrides(reseller, month, companies)
    if overrides:
        client.put(f"{INVOICES}/save/{month}", {"settings": overrides, "internal": False})
    for vendor in _list_vendors(reseller):
        groups = [
            companies[customer.billinggroup_id] for customer in reseller.list_customers(vendor)
        ]
        rate = {
            "vendor": vendor,
            "billing_groups": groups,
            "exchange_rate": EXCHANGE_RATES[month],
        }
        client.put(f"{INVOICES}/exchangerate/{month}", rate)


def save_current_month_settings(client: DemoClient, reseller: DemoReseller) -> None:
    """The unfinished month gets its settings and an expected exchange rate, but no invoices."""
    if reseller is AOZORA:
        save_month_settings(client, reseller, CURRENT_MONTH, company_ids(client))


def _build_overrides(
    reseller: DemoReseller, month: str, companies: dict[str, str]
) -> dict[str, Any]:
    customers = {customer.billinggroup_id: customer for customer in reseller.customers}
    overrides: dict[str, Any] = {}
    for (override_month, group, vendor), (changes, memo) in MONTHLY_OVERRIDES.items():
        if reseller is AOZORA and override_month == month:
            typed_changes = {
                name: Decimal(value) if name.endswith("_rate") else value
                for name, value in changes.items()
            }
            setting = {**customers[group].invoices[vendor], **typed_changes, "memo": memo}
            overrides.setdefault(companies[group], {})[vendor] = setting
    return overrides


def download_invoices(client: DemoClient, reseller: DemoReseller) -> None:
    """Stores a PDF file per invoice of the open month, and one per combined invoice."""
    folder = pdf_folder(client.folder, reseller)
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(client.get_bytes(f"{INVOICES}/{OPEN_MONTH}/zip"))) as archive:
        for name in archive.namelist():
            (folder / Path(name).name).write_bytes(archive.read(name))
    companies = company_ids(client)
    for customer in list_customers_with_combined_invoice(reseller):
        path = f"{INVOICES}/{OPEN_MONTH}/{companies[customer.billinggroup_id]}/pdf"
        (folder / f"{customer.billinggroup_id}-all.pdf").write_bytes(client.get_bytes(path))


def pdf_folder(folder: Path, reseller: DemoReseller) -> Path:
    return folder / PDF_FOLDER / reseller.username / OPEN_MONTH


def list_customers_with_combined_invoice(reseller: DemoReseller) -> list[DemoCustomer]:
    """Customers of two vendors who receive one document for both."""
    return [
        customer
        for customer in reseller.customers
        if customer.inv_aggregate and len(customer.contracts) > 1
    ]


def company_ids(client: DemoClient) -> dict[str, str]:
    """The company_id of each billinggroup_id."""
    groups = client.get("/m/core/billinggroup")
    return {group["billinggroup_id"]: group["company_id"] for group in groups}


def _list_vendors(reseller: DemoReseller) -> list[str]:
    return [vendor for vendor in VENDORS if vendor in reseller.payers]
