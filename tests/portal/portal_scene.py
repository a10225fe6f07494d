"""An invoiced month of a customer, with fees, a restricted subuser and a second customer.

One scene serves all tests of a module, because they only read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.foundation.product import Product
from tests.customers.resellers.reseller_accounts import Reseller, create_reseller
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import EXAMPLE_A, MONTH
from tests.portal.portal_customer import (
    ALL_FLAGS,
    PORTAL,
    PortalCustomer,
    create_customer,
    filter_accounts,
)
from tests.quick_hashes import quick_hashes
from tests.running_service import Service

FIRST, SECOND, FOREIGN = "111111111111", "222222222222", "333333333333"
FOREIGN_NAME = "kanaria company"
EVERYTHING = [
    action.value
    for action in PERMISSIONS_BY_PRODUCT[Product.portal]
    if action is not RoleAction.Admin
]

FEES = (
    report_line(
        "672.00", LineItemType="Fee", UsageAccountId=FIRST, LineItemDescription="a certificate"
    ),
    report_line(
        "-12.5", LineItemType="Credit", UsageAccountId=SECOND, LineItemDescription="an apology"
    ),
    report_line(
        "300",
        LineItemType="SavingsPlanUpfrontFee",
        UsageAccountId=FIRST,
        LineItemDescription="a plan",
    ),
    report_line(
        "-4.75", LineItemType="Refund", UsageAccountId=FIRST, LineItemDescription="not applied"
    ),
)


@dataclass
class PortalScene:
    customer: PortalCustomer
    clerk: dict[str, str]  # headers of a subuser who sees the second account only
    stranger: Reseller  # of the second company
    other_company: str

    @property
    def service(self) -> Service:
        return self.customer.service

    def request(
        self, method: str, path: str, body: Any = None, headers: Any = None
    ) -> httpx.Response:
        return self.service.http.request(
            method,
            PORTAL + path,
            json=body,
            headers=headers or self.customer.reseller.portal,
        )

    def root(self) -> dict[str, str]:
        return self.service.root(product=Product.portal)


@pytest.fixture(scope="module")
def scene(running: Service, tmp_path_factory: pytest.TempPathFactory) -> PortalScene:
    running.organisation = running.new_organisation()
    with quick_hashes():
        return create_scene(running, tmp_path_factory.mktemp("scene"))


def create_scene(service: Service, folder: Path) -> PortalScene:
    customer = create_customer(service, folder)
    month_end = customer.month_end
    other = month_end.create_group("BG-2", FOREIGN, company_name=FOREIGN_NAME)
    saved = month_end.put("/settings", {"report_tag_keys": ["Team", "Stage"]})
    assert saved.status_code == 200, saved.text
    month_end.import_costs(
        *EXAMPLE_A,
        *FEES,
        report_line(
            "7777.77", UsageAccountId=FOREIGN, ProductCode="KanariaService", Team="kanaria team"
        ),
    )
    apply_fee(customer, "a certificate", exchange_rate=0, tax_free=False)
    apply_fee(customer, "an apology", exchange_rate=120, tax_free=True)
    apply_fee(customer, "a plan", exchange_rate=0, tax_free=False)
    month_end.prepare_groups(customer.company_id, other)
    created = month_end.create_invoices(customer.company_id, other)
    assert created.status_code == 200, created.text
    return PortalScene(
        customer=customer,
        clerk=customer.create_subuser("clerk", EVERYTHING, [filter_accounts(SECOND)]),
        stranger=create_reseller(service, other, email="other@example.com", meta=ALL_FLAGS),
        other_company=other,
    )


def apply_fee(customer: PortalCustomer, description: str, **values: Any) -> None:
    month_end = customer.month_end
    listed = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    (entry_id,) = [entry["id"] for entry in listed if entry["description"] == description]
    body = {"data": [entry_id], "month": MONTH, "apply": True, "vendor": "aws", **values}
    response = month_end.post("/billinggroup/recalculation", body)
    assert response.status_code == 200, response.text
