"""A small reseller for tests of the console: three customers, a closed and an open month."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.command_line import init_organisation
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.imports.aws_reports import PAYER, build_report, report_line
from tests.plain_http import NO_TLS
from tests.proof.real_server import RealServer

CLOSED_MONTH = "2026-08"
OPEN_MONTH = "2026-09"
UNKNOWN_ACCOUNT = "444444444444"
CUSTOMERS = {
    "BG-0001": ("さくら商事", "222222222222"),
    "BG-0002": ("山手フーズ", "333333333333"),
    "BG-0003": ("みなと物流", "555555555555"),
}
IMPORT_SECONDS_MAX = 60


@dataclass(frozen=True)
class SampleReseller:
    """The address of the service and what is needed to sign in."""

    server: RealServer
    organisation: Mapping[str, str]
    companies: Mapping[str, str]  # company_id by billinggroup_id

    @property
    def organisation_id(self) -> str:
        return self.organisation["organisation_id"]

    def api(self) -> httpx.Client:
        token = self.server.token(self.organisation)
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(
            base_url=f"{self.server.url}/m", headers=headers, timeout=60, verify=NO_TLS
        )


def create_reseller(server: RealServer, name: str) -> SampleReseller:
    """Create an organisation with data; each test module that changes months needs its own."""
    organisation = init_organisation(server.environment, name)
    empty = SampleReseller(server, organisation, {})
    with empty.api() as api:
        _request(api, "POST", "/core/invoicetemplate", json=_build_template())
        companies = {code: create_billing_group(api, code) for code in CUSTOMERS}
        for month, factor in ((CLOSED_MONTH, 1), (OPEN_MONTH, 2)):
            import_month(api, month, build_costs(month, factor))
        bill_month(api, CLOSED_MONTH, list(companies.values()))
        _request(api, "POST", f"/core/invoices/close/{CLOSED_MONTH}", json={"vendor": "aws"})
    return SampleReseller(server, organisation, companies)


def build_costs(month: str, factor: int) -> bytes:
    """The second month costs twice as much, and has an account in no group and a credit."""
    start = f"{month}-05T10:00:00Z"
    period = f"{month}-01T00:00:00Z"
    lines = [
        report_line(
            f"{number * factor}00.25",
            UsageAccountId=account,
            UsageStartDate=start,
            BillingPeriodStartDate=period,
        )
        for number, (_, account) in enumerate(CUSTOMERS.values(), start=1)
    ]
    if month == OPEN_MONTH:
        lines += [
            report_line("7.5", UsageAccountId=UNKNOWN_ACCOUNT),
            report_line("-3", LineItemType="Credit", LineItemDescription="a promotion"),
        ]
    return build_report(lines)


def import_month(
    api: httpx.Client, month: str, report: bytes, *, expected_state: str = "done"
) -> str:
    """Import a file and wait until it has this state; return the import_id."""
    started = _request(
        api,
        "POST",
        "/core/costs/imports",
        data={"vendor": "aws", "month": month},
        files={"files": (f"{month}.csv", report, "text/csv")},
    )
    deadline = time.monotonic() + IMPORT_SECONDS_MAX
    while time.monotonic() < deadline:
        record = _request(api, "GET", f"/core/costs/imports/{started['import_id']}")
        if record["state"] not in ("waiting", "running"):
            assert record["state"] == expected_state, record
            return str(record["import_id"])
        time.sleep(0.1)
    raise AssertionError(f"The import of {month} did not end.")


def create_billing_group(api: httpx.Client, code: str) -> str:
    name, account = CUSTOMERS[code]
    group = {
        "billinggroup_id": code,
        "billinggroup_name": name,
        "company_name": f"株式会社{name}",
        "inv_aggregate": True,
        "invoices": {"aws": VALID_SETTING},
    }
    company_id: str = _request(api, "POST", "/core/billinggroup", json=group)["company_id"]
    _request(
        api,
        "POST",
        "/core/accts",
        json={
            "vendor": "aws",
            "account_id": PAYER,
            "customer_id": account,
            "name": f"{name} 本番",
            "company_id": company_id,
        },
    )
    return company_id


def bill_month(api: httpx.Client, month: str, companies: list[str]) -> None:
    _request(api, "PUT", f"/core/invoices/save/{month}", json={"internal": True, "settings": []})
    rate = {"vendor": "aws", "billing_groups": companies, "exchange_rate": 150.25}
    _request(api, "PUT", f"/core/invoices/exchangerate/{month}", json=rate)
    run = {"vendor": "aws", "bulk": True, "group": []}
    _request(api, "POST", f"/core/invoices/calculation/{month}", json=run)


def _build_template() -> dict[str, Any]:
    return {"name": "標準", "company": "株式会社あおぞら"}


def _request(api: httpx.Client, method: str, path: str, **options: Any) -> Any:
    response = api.request(method, path, **options)
    assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
    return response.json()
