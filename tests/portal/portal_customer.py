"""A customer of the portal with accounts and imported costs, and a second customer beside it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.foundation import exact_json
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    Reseller,
    create_reseller,
    log_in_for_token,
)
from tests.identity.login.token_requests import bearer_headers
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, SETTING, MonthEnd
from tests.running_service import Service

PORTAL = "/m/portal"
ALL_FLAGS = dict.fromkeys(FLAGS, True)

# the terms of the billing group; the settings that tests save for a month have a discount of 0.05
DISCOUNT = "0.25"
DEFAULT_TERMS = {
    name: float(value) if isinstance(value, Decimal) else value for name, value in SETTING.items()
} | {"discount_rate": float(DISCOUNT)}


@dataclass
class PortalCustomer:
    """The requests of a customer: a reseller account with every flag on."""

    month_end: MonthEnd
    company_id: str
    reseller: Reseller

    @property
    def service(self) -> Service:
        return self.month_end.service

    def get(self, path: str, headers: Any = None, **parameters: Any) -> Any:
        """Return the body with exact numbers; the status must be 200."""
        response = self.service.http.get(
            PORTAL + path, params=parameters, headers=headers or self.reseller.portal
        )
        assert response.status_code == 200, response.text
        return exact_json.decode_stored(response.text)

    def create_subuser(
        self, username: str, permissions: list[str], filters: list[dict[str, Any]] | None = None
    ) -> dict[str, str]:
        """Create a subuser of the customer with a role and filters; return its headers."""
        http, portal = self.service.http, self.reseller.portal
        body = {
            "username": username,
            "password": CUSTOM_PASSWORD,
            "notification": {"email": "false"},
        }
        user_id = http.post("/m/u/users", json=body, headers=portal).json()["user_id"]
        role = {"name": f"role-{username}", "namespace": "portal", "permissions": permissions}
        assert http.post("/m/auth/rbac/roles", json=role, headers=portal).status_code == 200
        mapping = {
            "user_id": user_id,
            "roles": [{"namespace": "portal", "role": role["name"]}],
            "filters": filters or [],
        }
        mapped = http.post("/m/auth/rbac/userroles", json=mapping, headers=portal)
        assert mapped.status_code == 200, mapped.text
        return bearer_headers(log_in_for_token(self.service, username))


def filter_accounts(*customer_ids: str) -> dict[str, Any]:
    return {"namespace": "portal", "type": "linkAcct", "resource": list(customer_ids)}


def create_customer(service: Service, folder: Path) -> PortalCustomer:
    """Create a customer with the accounts of worked example A, without costs."""
    month_end = MonthEnd(service, folder)
    company_id = month_end.create_group("BG-1", *ACCOUNTS_OF_A, invoices={"aws": DEFAULT_TERMS})
    return PortalCustomer(
        month_end, company_id, create_reseller(service, company_id, meta=ALL_FLAGS)
    )


def invoice_example_a(customer: PortalCustomer) -> Any:
    """Import the costs of worked example A, create the invoice and return it."""
    month_end = customer.month_end
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(customer.company_id)
    response = month_end.create_invoices(customer.company_id)
    assert response.status_code == 200, response.text
    return month_end.get_invoice(customer.company_id)
