"""Reseller accounts as callers make and meet them, and their logins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.vocabulary import Product
from tests.identity.login.asking import as_user, ask, bearer
from tests.running_service import Service

RESELLERS = "/m/core/reseller"
EMAIL = "Hanako@example.com"
CUSTOM = "correct horse 9"


def body(company_id: str, /, **changes: Any) -> dict[str, Any]:
    """A sound body but for these fields; absent where `...`."""
    sound = {
        "email": EMAIL,
        "company_id": company_id,
        "input_type": "Custom",
        "notification": False,
        "password": CUSTOM,
        "meta": {},
    }
    return {name: value for name, value in (sound | changes).items() if value is not ...}


def create(
    service: Service, company_id: str, headers: dict[str, str] | None = None, /, **changes: Any
) -> httpx.Response:
    return service.http.post(
        RESELLERS, json=body(company_id, **changes), headers=headers or service.root()
    )


def listed(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    answer = service.http.get(RESELLERS, headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    records: list[dict[str, Any]] = answer.json()
    return records


def the_one(service: Service) -> dict[str, Any]:
    (record,) = listed(service)
    return record


@dataclass(frozen=True)
class Reseller:
    user_id: str
    email: str
    portal: dict[str, str]  # headers of a portal token


def new_reseller(
    service: Service,
    company_id: str,
    *,
    email: str = EMAIL,
    meta: dict[str, bool] | None = None,
) -> Reseller:
    """An account that has logged in to the portal."""
    made = create(service, company_id, email=email, meta=meta or {})
    assert made.status_code == 200, made.text
    return Reseller(made.json()["user_id"], email, bearer(logged_in(service, email)))


def log_in(
    service: Service, email: str, password: str = CUSTOM, product: Product = Product.portal
) -> httpx.Response:
    """The password grant, carried by the organisation's own client."""
    return ask(service, as_user(service.organisation, email, password), product)


def logged_in(service: Service, email: str, password: str = CUSTOM) -> str:
    answer = log_in(service, email, password)
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


def change_meta(service: Service, user_id: str, **flags: Any) -> httpx.Response:
    return service.http.put(
        f"{RESELLERS}/{user_id}/meta", json={"meta": flags}, headers=service.root()
    )


def letters(service: Service) -> int:
    """How many were queued, sent or not."""
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            found = await db.execute(
                sa.text("SELECT count(*) FROM work WHERE kind = 'send_letter'")
            )
            number: int = found.scalar_one()
            return number

    return service.run(count)
