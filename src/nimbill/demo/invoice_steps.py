"""Seed steps for invoices: month settings, creation, closing, and PDF files."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.demo.api_client import DemoClient, existing_allowed
from nimbill.demo.cost_deliveries import VENDORS
from nimbill.demo.customers import DemoCustomer
from nimbill.demo.monthly_data import (
    CLOSED_MONTHS,
    CURRENT_MONTH,
    EXCHANGE_RATES,
    LAST_CLOSED_MONTH,
    MONTHLY_OVERRIDES,
    OPEN_MONTH,
)
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import month_end
from nimbill.foundation.vendors import BilledVendor
from nimbill_client import MonthlyInvoiceSetting, OrganisationSettingsChange

PDF_FOLDER = "invoices"  # inside the data folder
TIME_ZONE = "Asia/Tokyo"  # of the demo's organisations
WESTERNMOST = "Etc/GMT+12"

MonthlyOverrides = dict[str, dict[BilledVendor, MonthlyInvoiceSetting]]  # by company_id


def create_invoices(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Saves the settings of the month and creates its invoices; closes it if it is in the past."""
    save_month_settings(client, reseller, month, client.company_ids())
    is_older = reseller is AOZORA and month == LAST_CLOSED_MONTH
    with _yesterday(client) if is_older else nullcontext():
        for vendor in _list_vendors(reseller):
            with existing_allowed():
                client.api.invoices.create(month, vendor, key=f"demo-create-{month}-{vendor}")
    if month in CLOSED_MONTHS:
        for vendor in _list_vendors(reseller):
            _close_month(client, month, vendor)


@contextmanager
def _yesterday(client: DemoClient) -> Iterator[None]:
    """Invoices are dated in the time zone of the organisation.

    In the westernmost one it is still yesterday, except in the last three hours of a day in Tokyo.
    So an invoice that is due on receipt is overdue as soon as the demo has started.
    """
    client.api.settings.change(OrganisationSettingsChange(time_zone=WESTERNMOST))
    try:
        yield
    finally:
        client.api.settings.change(OrganisationSettingsChange(time_zone=TIME_ZONE))


def _close_month(client: DemoClient, month: str, vendor: BilledVendor) -> None:
    """The demo's months are fixed, so that a computer's clock may show an earlier month."""
    is_over = month_end(month) < clock.now()
    reason = None if is_over else "The demo shows this month as it will be after its end."
    with existing_allowed():
        client.api.months.close(
            month, vendor, override=not is_over, reason=reason, key=f"demo-close-{month}-{vendor}"
        )


def save_month_settings(
    client: DemoClient, reseller: DemoReseller, month: str, companies: dict[str, str]
) -> None:
    """Saves the contract terms, the overrides of this month and the exchange rate."""
    invoices = client.api.invoices
    invoices.save_default_settings(month)
    overrides = _build_overrides(reseller, month, companies)
    if overrides:
        invoices.save_settings(month, overrides)
    for vendor in _list_vendors(reseller):
        groups = [
            companies[customer.billinggroup_id] for customer in reseller.list_customers(vendor)
        ]
        invoices.save_exchange_rate(month, vendor, groups, EXCHANGE_RATES[month])


def save_current_month_settings(client: DemoClient, reseller: DemoReseller) -> None:
    """The unfinished month gets its settings and an expected exchange rate, but no invoices."""
    if reseller is AOZORA:
        save_month_settings(client, reseller, CURRENT_MONTH, client.company_ids())


def _build_overrides(
    reseller: DemoReseller, month: str, companies: dict[str, str]
) -> MonthlyOverrides:
    customers = {customer.billinggroup_id: customer for customer in reseller.customers}
    overrides: MonthlyOverrides = {}
    for (override_month, group, vendor), (changes, memo) in MONTHLY_OVERRIDES.items():
        if reseller is AOZORA and override_month == month:
            typed_changes = {
                name: Decimal(value) if name.endswith("_rate") else value
                for name, value in changes.items()
            }
            setting: dict[str, Any] = {**customers[group].invoices[vendor], **typed_changes}
            monthly = MonthlyInvoiceSetting(**setting, memo=memo)
            overrides.setdefault(companies[group], {})[vendor] = monthly
    return overrides


def download_invoices(client: DemoClient, reseller: DemoReseller) -> None:
    """Stores a PDF file per invoice of the open month, and one per combined invoice."""
    folder = pdf_folder(client.folder, reseller)
    folder.mkdir(parents=True, exist_ok=True)
    archive_file = client.api.invoices.download_zip(OPEN_MONTH, folder / "invoices.zip")
    with zipfile.ZipFile(archive_file) as archive:
        for name in archive.namelist():
            (folder / Path(name).name).write_bytes(archive.read(name))
    archive_file.unlink()
    companies = client.company_ids()
    for customer in list_customers_with_combined_invoice(reseller):
        file = folder / f"{customer.billinggroup_id}-all.pdf"
        company_id = companies[customer.billinggroup_id]
        client.api.invoices.download_pdf(OPEN_MONTH, company_id, None, file)


def pdf_folder(folder: Path, reseller: DemoReseller) -> Path:
    return folder / PDF_FOLDER / reseller.username / OPEN_MONTH


def list_customers_with_combined_invoice(reseller: DemoReseller) -> list[DemoCustomer]:
    """Customers of two vendors who receive one document for both."""
    return [
        customer
        for customer in reseller.customers
        if customer.inv_aggregate and len(customer.contracts) > 1
    ]


def _list_vendors(reseller: DemoReseller) -> list[BilledVendor]:
    return [vendor for vendor in VENDORS if vendor in reseller.payers]
