"""A customer of a small reseller with two accounts, and people who see a part of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from nimbill.customers.resellers.meta_flags import FLAGS
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    CUSTOMERS,
    OPEN_MONTH,
    SampleReseller,
    create_reseller,
    import_month,
)
from tests.imports.aws_reports import PAYER, build_report, report_line
from tests.plain_http import NO_TLS
from tests.proof.real_server import PASSWORD, RealServer

MONTH = "2026-10"
EMAIL = "hanako@example.com"
VISITOR = "guest@example.com"  # with the flags of a new login
CLERK = "clerk.one"  # sees the second account only
CLERK_PERMISSIONS = ["ReadAccount", "ReadInvoice", "ReadGroups", "ReadTags", "ReadBudget", "ReadRi"]
FIRST_ACCOUNT = CUSTOMERS["BG-0001"][1]
SECOND_ACCOUNT = "666666666666"
# What no page, request or store may contain: the vendor's costs, and other companies.
VENDOR_COSTS = ("913.77", "641.53", "100.25", "200.25")
FOREIGN = ("333333333333", "555555555555", "山手フーズ", "みなと物流")

__all__ = ["CLOSED_MONTH", "OPEN_MONTH"]


@dataclass(frozen=True)
class SampleCustomer:
    reseller: SampleReseller
    company_id: str

    @property
    def organisation_id(self) -> str:
        return self.reseller.organisation_id

    @property
    def url(self) -> str:
        return self.reseller.server.url


def find_foreign(contents: str) -> list[str]:
    """What of it no customer may see."""
    return [each for each in (*FOREIGN, *VENDOR_COSTS) if each in contents]


def create_customer(server: RealServer) -> SampleCustomer:
    reseller = create_reseller(server, "Minato")
    company_id = reseller.companies["BG-0001"]
    with reseller.api() as api:
        send(api, "PUT", "/core/settings", {"report_tag_keys": ["Team"]})
        account = {
            "vendor": "aws",
            "account_id": PAYER,
            "customer_id": SECOND_ACCOUNT,
            "name": "さくら商事 開発",
            "company_id": company_id,
        }
        send(api, "POST", "/core/accts", account)
        import_month(api, MONTH, build_costs())
        create_login(api, company_id, EMAIL, dict.fromkeys(FLAGS, True))
        create_login(api, company_id, VISITOR, {})
    customer = SampleCustomer(reseller, company_id)
    with open_portal_api(customer, EMAIL) as api:
        _create_clerk(api)
    return customer


def build_costs() -> bytes:
    def line(cost: str, account: str, team: str) -> dict[str, str]:
        return report_line(
            cost,
            UsageAccountId=account,
            UsageStartDate=f"{MONTH}-05T10:00:00Z",
            BillingPeriodStartDate=f"{MONTH}-01T00:00:00Z",
            Team=team,
        )

    return build_report(
        [
            line(VENDOR_COSTS[0], FIRST_ACCOUNT, "web"),
            line(VENDOR_COSTS[1], SECOND_ACCOUNT, "data"),
            line("511.19", FOREIGN[0], "web"),
        ]
    )


def open_portal_api(customer: SampleCustomer, username: str) -> httpx.Client:
    login = {
        "organisation": customer.organisation_id,
        "username": username,
        "password": PASSWORD,
    }
    response = httpx.post(f"{customer.url}/portal/session", json=login, timeout=60, verify=NO_TLS)
    assert response.is_success, response.text
    headers = {"Authorization": f"Bearer {response.json()['access_token']}"}
    return httpx.Client(base_url=f"{customer.url}/m", headers=headers, timeout=60, verify=NO_TLS)


def create_login(api: httpx.Client, company_id: str, email: str, meta: dict[str, bool]) -> None:
    body = {
        "email": email,
        "company_id": company_id,
        "input_type": "Custom",
        "notification": False,
        "password": PASSWORD,
        "meta": meta,
    }
    send(api, "POST", "/core/reseller", body)


def _create_clerk(api: httpx.Client) -> None:
    person = {"username": CLERK, "password": PASSWORD, "notification": {"email": "false"}}
    user_id = send(api, "POST", "/u/users", person)["user_id"]
    role = {"name": "reader", "namespace": "portal", "permissions": CLERK_PERMISSIONS}
    send(api, "POST", "/auth/rbac/roles", role)
    mapping = {
        "user_id": user_id,
        "roles": [{"namespace": "portal", "role": "reader"}],
        "filters": [{"namespace": "portal", "type": "linkAcct", "resource": [SECOND_ACCOUNT]}],
    }
    send(api, "POST", "/auth/rbac/userroles", mapping)


def send(api: httpx.Client, method: str, path: str, body: Any) -> Any:
    response = api.request(method, path, json=body)
    assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
    return response.json()
