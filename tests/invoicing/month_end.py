"""The requests of a month end: groups, accounts, costs, settings, exchange rates, invoices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from nimbill.foundation import exact_json
from nimbill.foundation.ids import new_id
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.customers.cloud_accounts.accounts import add_account
from tests.imports.aws_reports import COLUMNS, report_line, write_report
from tests.imports.repeating_importer import RepeatingImporter
from tests.problem_responses import HttpResponse
from tests.running_service import Service

CORE = "/m/core"
MONTH = "2026-09"
PAYER = COLUMNS["bill/PayerAccountId"]

# the terms of worked example A
SETTING: dict[str, Any] = {
    **json.loads(json.dumps(VALID_SETTING), parse_float=Decimal),
    "tax_rate": Decimal("0.10"),  # files repeat a rate as it was written
}
JSON = {"Content-Type": "application/json"}


@dataclass
class MonthEnd:
    service: Service
    folder: Path
    month: str = MONTH
    vendor: str = "aws"

    def create_group(self, name: str = "BG-1", *customer_ids: str, **fields: Any) -> str:
        """Create a billing group with these AWS accounts; return its company_id."""
        company_id = create_group(self.service, self.service.root(), billinggroup_id=name, **fields)
        for customer_id in customer_ids:
            self.add_account(company_id, customer_id)
        return company_id

    def add_account(self, company_id: str, customer_id: str) -> None:
        add_account(
            self.service,
            company_id,
            customer_id=customer_id,
            account_id=PAYER,
            name=f"account {customer_id}",
        )

    def import_costs(self, *lines: dict[str, str]) -> dict[str, Any]:
        """Import these lines, which replace the payer's costs of the month."""
        import_files = RepeatingImporter(self.service, self.service.organisation, self.folder)
        return import_files(write_report(self.folder / f"{new_id('file')}.csv", lines))

    def put(self, path: str, body: Any, headers: Any = None) -> HttpResponse:
        return self.service.http.put(
            CORE + path,
            content=exact_json.encode(body),
            headers=JSON | (headers or self.service.root()),
        )

    def post(self, path: str, body: Any, headers: Any = None) -> HttpResponse:
        return self.service.http.post(
            CORE + path,
            content=exact_json.encode(body),
            headers=JSON | (headers or self.service.root()),
        )

    def get(self, path: str, headers: Any = None) -> httpx.Response:
        return self.service.http.get(CORE + path, headers=headers or self.service.root())

    def save_settings(self, *company_ids: str, headers: Any = None, **fields: Any) -> HttpResponse:
        settings = {name: {self.vendor: SETTING | fields} for name in company_ids}
        return self.put(
            f"/invoices/save/{self.month}", {"settings": settings, "internal": False}, headers
        )

    def save_rate(
        self, *company_ids: str, rate: Any = Decimal("150.25"), headers: Any = None
    ) -> HttpResponse:
        body = {"vendor": self.vendor, "billing_groups": list(company_ids), "exchange_rate": rate}
        return self.put(f"/invoices/exchangerate/{self.month}", body, headers)

    def create_invoices(
        self, *company_ids: str, headers: Any = None, **fields: Any
    ) -> HttpResponse:
        """Create invoices of these groups, or in bulk without groups."""
        body = {"vendor": self.vendor, "group": list(company_ids), "bulk": not company_ids}
        return self.post(f"/invoices/calculation/{self.month}", body | fields, headers)

    def prepare_groups(self, *company_ids: str, **fields: Any) -> None:
        for response in (self.save_settings(*company_ids, **fields), self.save_rate(*company_ids)):
            assert response.status_code == 200, response.text

    def get_invoice(self, company_id: str, headers: Any = None) -> Any:
        """Return the invoice with exact numbers."""
        response = self.get(f"/invoices/{self.month}/{company_id}/{self.vendor}", headers)
        assert response.status_code == 200, response.text
        return exact_json.decode_stored(response.text)


EXAMPLE_A = (
    report_line("1000.1234567890", UsageAccountId="111111111111"),
    report_line("50.2500000000", UsageAccountId="111111111111", ProductCode="AmazonS3"),
    report_line("20.3330000000", UsageAccountId="222222222222", ProductCode="AmazonRDS"),
)
ACCOUNTS_OF_A = ("111111111111", "222222222222")
