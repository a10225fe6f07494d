"""Create, change and list reseller accounts, and log in with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.identity.login.token_requests import bearer_headers, password_form, request_token
from tests.running_service import Service

RESELLERS = "/m/core/reseller"
EMAIL = "Hanako@example.com"
CUSTOM_PASSWORD = "correct horse 9"


@pytest.fixture
def company(service: Service) -> str:
    """The company_id of a billing group for reseller accounts."""
    return create_billing_group(
        service,
        service.root(),
        billinggroup_id="BG-1",
        billinggroup_name="さくら商事",
        company_name="株式会社さくら商事",
    )


def build_body(company_id: str, /, **changes: Any) -> dict[str, Any]:
    """Return a valid body with these changes; `...` removes a field."""
    valid = {
        "email": EMAIL,
        "company_id": company_id,
        "input_type": "Custom",
        "notification": False,
        "password": CUSTOM_PASSWORD,
        "meta": {},
    }
    return {name: value for name, value in (valid | changes).items() if value is not ...}


def post_reseller(
    service: Service, company_id: str, headers: dict[str, str] | None = None, /, **changes: Any
) -> httpx.Response:
    return service.http.post(
        RESELLERS, json=build_body(company_id, **changes), headers=headers or service.root()
    )


def list_resellers(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    response = service.http.get(RESELLERS, headers=headers or service.root())
    assert response.status_code == 200, response.text
    records: list[dict[str, Any]] = response.json()
    return records


def get_only_reseller(service: Service) -> dict[str, Any]:
    (record,) = list_resellers(service)
    return record


@dataclass(frozen=True)
class Reseller:
    user_id: str
    email: str
    portal: dict[str, str]  # headers with a portal token


def create_reseller(
    service: Service,
    company_id: str,
    *,
    email: str = EMAIL,
    meta: dict[str, bool] | None = None,
) -> Reseller:
    """Create an account and log in to the portal."""
    response = post_reseller(service, company_id, email=email, meta=meta or {})
    assert response.status_code == 200, response.text
    headers = bearer_headers(log_in_for_token(service, email))
    return Reseller(response.json()["user_id"], email, headers)


def log_in(
    service: Service, email: str, password: str = CUSTOM_PASSWORD, product: Product = Product.portal
) -> httpx.Response:
    """Use the password grant with the client of the organisation."""
    return request_token(service, password_form(service.organisation, email, password), product)


def log_in_for_token(service: Service, email: str, password: str = CUSTOM_PASSWORD) -> str:
    response = log_in(service, email, password)
    assert response.status_code == 200, response.text
    token: str = response.json()["access_token"]
    return token


def change_meta(service: Service, user_id: str, **flags: Any) -> httpx.Response:
    return service.http.put(
        f"{RESELLERS}/{user_id}/meta", json={"meta": flags}, headers=service.root()
    )


def count_messages(service: Service) -> int:
    """Count the e-mail jobs of the organisation, sent or not."""
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.text("SELECT count(*) FROM jobs WHERE kind = 'send_message'")
            number: int = (await db.execute(stmt)).scalar_one()
            return number

    return service.run(count)
