"""The chapters about invoices: settings, rates, invoices, closed months, and paper."""

import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.demo.calling import DemoClient
from nimbill.demo.cost_files import VENDORS
from nimbill.demo.customers import Customer
from nimbill.demo.story import AOZORA, Reseller
from nimbill.demo.story_months import AGREED_FOR_A_MONTH, CLOSED, CURRENT, OPEN, RATES

INVOICES = "/m/core/invoices"
PRINTED = "invoices"  # a folder beside the data


def bill(caller: DemoClient, reseller: Reseller, month: str) -> None:
    """As at the end of any month: settings, then rates, then the invoices; and it is closed."""
    companies = companies_of(caller)
    settle(caller, reseller, month, companies)
    for vendor in _vendors(reseller):
        create = {"vendor": vendor, "group": [], "bulk": True}
        key = f"demo-create-{month}-{vendor}"
        caller.post(f"{INVOICES}/calculation/{month}", create, key=key)
    if month in CLOSED:
        for vendor in _vendors(reseller):
            key = f"demo-close-{month}-{vendor}"
            caller.post(f"{INVOICES}/close/{month}", {"vendor": vendor}, key=key)


def settle(caller: DemoClient, reseller: Reseller, month: str, companies: dict[str, str]) -> None:
    """Everybody's own terms, some agreed for this month alone, and what a dollar is."""
    caller.put(f"{INVOICES}/save/{month}", {"settings": [], "internal": True})
    agreed = _agreed(reseller, month, companies)
    if agreed:
        caller.put(f"{INVOICES}/save/{month}", {"settings": agreed, "internal": False})
    for vendor in _vendors(reseller):
        groups = [companies[one.billinggroup_id] for one in reseller.customers_of(vendor)]
        rate = {"vendor": vendor, "billing_groups": groups, "exchange_rate": RATES[month]}
        caller.put(f"{INVOICES}/exchangerate/{month}", rate)


def get_ready(caller: DemoClient, reseller: Reseller) -> None:
    """The month that is not over has its settings, and a rate that is expected."""
    if reseller is AOZORA:
        settle(caller, reseller, CURRENT, companies_of(caller))


def _agreed(reseller: Reseller, month: str, companies: dict[str, str]) -> dict[str, Any]:
    customers = {one.billinggroup_id: one for one in reseller.customers}
    agreed: dict[str, Any] = {}
    for (when, group, vendor), (changes, memo) in AGREED_FOR_A_MONTH.items():
        if reseller is AOZORA and when == month:
            changed = {
                name: Decimal(value) if name.endswith("_rate") else value
                for name, value in changes.items()
            }
            setting = {**customers[group].invoices[vendor], **changed, "memo": memo}
            agreed.setdefault(companies[group], {})[vendor] = setting
    return agreed


def print_invoices(caller: DemoClient, reseller: Reseller) -> None:
    """The last month that is over, each invoice a file; those of two vendors under one cover."""
    folder = printed_folder(caller.folder, reseller)
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(caller.fetch(f"{INVOICES}/{OPEN}/zip"))) as archive:
        for name in archive.namelist():
            (folder / Path(name).name).write_bytes(archive.read(name))
    companies = companies_of(caller)
    for customer in covered(reseller):
        path = f"{INVOICES}/{OPEN}/{companies[customer.billinggroup_id]}/pdf"
        (folder / f"{customer.billinggroup_id}-all.pdf").write_bytes(caller.fetch(path))


def printed_folder(folder: Path, reseller: Reseller) -> Path:
    return folder / PRINTED / reseller.username / OPEN


def covered(reseller: Reseller) -> list[Customer]:
    """Who gets one document over both vendors."""
    return [one for one in reseller.customers if one.inv_aggregate and len(one.clouds) > 1]


def companies_of(caller: DemoClient) -> dict[str, str]:
    """By billinggroup_id, the service's own ids."""
    groups = caller.get("/m/core/billinggroup")
    return {one["billinggroup_id"]: one["company_id"] for one in groups}


def _vendors(reseller: Reseller) -> list[str]:
    return [vendor for vendor in VENDORS if vendor in reseller.payers]
