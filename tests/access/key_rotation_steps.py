"""Steps for tests of key rotation with two processes on one database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import jwt
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import drop_key, list_keys, maintain_keys, rotate_keys
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import client_form, issue_tokens
from tests.running_service import PASSWORD, Service

T = TypeVar("T")
DAY = 86_400


class TwoProcesses(NamedTuple):
    """Two processes of one service; the first one created the organisation."""

    first: Service
    second: Service


def run_in_database(service: Service, call: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    async def call_in_transaction() -> T:
        async with service.resources.engine.begin() as db:
            return await call(db)

    return service.run(call_in_transaction)


def rotate(
    service: Service,
    *,
    after: float = 0,
    products: Sequence[Product] = (Product.core,),
    at_once: bool,
) -> None:
    encryptor, at = service.resources.encryptor, datetime.now(UTC) + timedelta(seconds=after)
    run_in_database(
        service,
        lambda db: rotate_keys(db, encryptor, at=at, products=list(products), at_once=at_once),
    )


def maintain(service: Service, *, after: timedelta) -> None:
    encryptor, at = service.resources.encryptor, datetime.now(UTC) + after
    issuers = service.resources.tokens.issuers
    run_in_database(service, lambda db: maintain_keys(db, encryptor, at=at, issuers=issuers))


def drop(service: Service, kid: str) -> bool:
    encryptor, at = service.resources.encryptor, datetime.now(UTC)
    return run_in_database(service, lambda db: drop_key(db, encryptor, kid, at=at))


def list_keys_by_state(service: Service, product: Product = Product.core) -> dict[str, list[str]]:
    """Return the key ids of a product by state, oldest first."""
    keys: dict[str, list[str]] = {"next": [], "active": [], "retired": []}
    for row in run_in_database(service, list_keys):
        if row.product == product:
            keys[row.state].append(row.kid)
    return keys


def read_token_key_id(token: str) -> str:
    kid: str = jwt.get_unverified_header(token)["kid"]
    return kid


def list_published_key_ids(service: Service) -> set[str]:
    service.resources.keys_loaded_at = 0.0  # stale, so that the keys are loaded again
    keys = service.http.get("/core/.well-known/jwks.json").json()["keys"]
    return {key["kid"] for key in keys}


def issue_client_tokens(service: Service, processes: TwoProcesses) -> dict[str, Any]:
    return issue_tokens(service, client_form(processes.first.organisation))


def issue_console_token(service: Service, processes: TwoProcesses) -> str:
    tenant = processes.first.organisation
    response = service.http.post(
        "/core/session",
        json={"organisation": tenant.organisation_id, "username": "root", "password": PASSWORD},
    )
    assert response.status_code == 200, response.text
    access_token: str = response.json()["access_token"]
    return access_token
