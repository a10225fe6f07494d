"""An organisation that bills GCP and Oracle beside AWS and Azure, up to the invoices of a month."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from nimbill.identity.organisations.operations import NewOrganisation
from tests.costs.formats.gcp_files import CUSTOMER, OTHER_CUSTOMER, PAYER, build_line, write_file
from tests.imports.in_process_importer import InProcessImporter
from tests.invoicing.month_end import MONTH
from tests.running_service import Service

VENDORS = ["aws", "azure", "gcp", "oracle"]
PROVIDER_NAMES = {"oracle": ["Oracle", "Oracle Cloud Infrastructure"]}
TENANCY = "ocid1.tenancy.oc1..aaaa"

SETTING: dict[str, Any] = {
    "calc_type": "account",
    "currency": "jpy",
    "discount_calc_logic": "usageamount",
    "discount_rate": 0.1,
    "discount_target_usage": "cloudpayonly",
    "substitution_fee": "fix",
    "substitution_fee_calc_target": "nondiscount",
    "substitution_fee_calc_type": "allsum",
    "substitution_fee_target_usage": "cloudpayonly",
    "substitution_fix": 0,
    "substitution_rate": 0,
    "support_amount_target": "allusage",
    "support_fee": "percent",
    "support_fee_calc_target": "nondiscount",
    "support_fix": 0,
    "support_rate": 0,
    "tax_rate": 0.1,
}
RATE = 100

GCP_LINES = [
    build_line(cost="10.25", credits=["-0.75", "-1.5"]),
    build_line(cost="0.2", billing_account_id=OTHER_CUSTOMER),
    build_line(cost="3.3", cost_type="tax"),
    build_line(cost="-2.5", cost_type="adjustment", adjustment="Goodwill"),
]
FOCUS_HEADER = [
    "ProviderName",
    "PublisherName",
    "BillingAccountId",
    "SubAccountId",
    "BillingPeriodStart",
    "ChargeCategory",
    "ServiceName",
    "BilledCost",
    "BillingCurrency",
    "ChargePeriodStart",
]
FOCUS_LINES = [
    ("Oracle Cloud Infrastructure", "Oracle", "parent", TENANCY, "Storage", "12.5"),
    ("ORACLE", "Example Ltd", "parent", TENANCY, "Firewall", "2"),
    ("AWS", "AWS", "000000000042", "000000000001", "AmazonS3", "99"),
]


@dataclass
class BilledVendors:
    """The organisation, and the requests of its root user."""

    service: Service
    organisation: NewOrganisation
    folder: Path
    groups: dict[str, str]  # billinggroup_id to company_id

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = self.service.root(self.organisation)
        return self.service.http.request(method, f"/m/core{path}", headers=headers, **options)

    def succeed(self, method: str, path: str, **options: Any) -> Any:
        response = self.call(method, path, **options)
        assert response.status_code == 200, response.text
        is_json = response.headers["content-type"] == "application/json"
        return response.json() if is_json else response.content

    def import_file(self, path: Path, vendor: str) -> dict[str, Any]:
        importer = InProcessImporter(self.service, self.organisation, self.folder)
        return importer(path, vendor=vendor)

    def create_group(self, name: str) -> str:
        body = {
            "billinggroup_id": name,
            "billinggroup_name": name,
            "company_name": "Sakura",
            "inv_aggregate": True,
            "language": "en",
        }
        company_id: str = self.succeed("POST", "/billinggroup", json=body)["company_id"]
        self.groups[name] = company_id
        return company_id

    def add_account(self, group: str, vendor: str, customer_id: str, payer: str) -> httpx.Response:
        body = {
            "vendor": vendor,
            "customer_id": customer_id,
            "account_id": payer,
            "company_id": self.groups[group],
            "name": f"account of {group}",
        }
        return self.call("POST", "/accts", json=body)


def write_focus(path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FOCUS_HEADER)
        for provider, publisher, payer, account, service, cost in FOCUS_LINES:
            period = "2026-09-01T00:00:00Z"
            writer.writerow(
                [provider, publisher, payer, account, period, "Usage", service, cost, "USD", period]
            )
    return path


def build_billed_vendors(service: Service, folder: Path) -> BilledVendors:
    """Enable the vendors, import their costs and create the invoices of the month."""
    billed = BilledVendors(service, service.new_organisation(), folder, {})
    settings = {"vendors": VENDORS, "provider_names": PROVIDER_NAMES}
    billed.succeed("PUT", "/settings", json=settings)
    for name in ("BG-1", "BG-2"):
        billed.create_group(name)
    for arguments in (
        ("BG-1", "gcp", CUSTOMER, PAYER),
        ("BG-2", "gcp", OTHER_CUSTOMER, PAYER),
        ("BG-1", "oracle", TENANCY, "parent"),
    ):
        assert billed.add_account(*arguments).status_code == 200
    gcp_file = write_file(GCP_LINES, folder / "gcp", "jsonl.gz")
    assert billed.import_file(gcp_file, "gcp")["state"] == "done"
    record = billed.import_file(write_focus(folder / "focus.csv"), "oracle")
    assert (record["state"], record["noticed"]["other_vendors"]) == ("done", {"AWS": 1})
    _create_invoices(billed)
    return billed


def _create_invoices(billed: BilledVendors) -> None:
    first, second = billed.groups["BG-1"], billed.groups["BG-2"]
    update = {**SETTING, "tax_rate": 0.08, "substitution_fee_calc_target": "cloudpayonly"}
    update |= {"substitution_fee_target_usage": "nondiscount"}
    update |= {"support_fee_calc_target": "cloudpayonly"}
    body: Any = {"vendor": "gcp", "invoices": update}
    billed.succeed("POST", f"/billinggroup/{first}/invoices", json=body)
    settings = {first: {"gcp": SETTING, "oracle": SETTING}, second: {"gcp": SETTING}}
    body = {"settings": settings, "internal": False}
    billed.succeed("PUT", f"/invoices/save/{MONTH}", json=body)
    for vendor, groups in (("gcp", [first, second]), ("oracle", [first])):
        rate = {"vendor": vendor, "billing_groups": groups, "exchange_rate": RATE}
        billed.succeed("PUT", f"/invoices/exchangerate/{MONTH}", json=rate)
    entries = billed.succeed("GET", f"/billinggroup/recalculation/{MONTH}?vendor=gcp")
    apply: Any = {"data": [entry["id"] for entry in entries], "month": MONTH, "exchange_rate": 0}
    apply |= {"tax_free": False, "apply": True, "vendor": "gcp"}
    billed.succeed("POST", "/billinggroup/recalculation", json=apply)
    for vendor in ("gcp", "oracle"):
        run = {"vendor": vendor, "group": [], "bulk": True}
        billed.succeed("POST", f"/invoices/calculation/{MONTH}", json=run)
