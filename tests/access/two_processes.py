"""Two processes of one service on one database, and what is done to their keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import jwt
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import drop_key, keep_keys, list_keys, rotate_keys
from nimbill.foundation.vocabulary import Product
from tests.identity.login.asking import as_client, issued
from tests.running_service import PASSWORD, Service

T = TypeVar("T")
DAY = 86_400


class Two(NamedTuple):
    """Two processes of one service; the first made the organisation."""

    one: Service
    other: Service


def in_database(service: Service, do: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    async def done() -> T:
        async with service.resources.engine.begin() as db:
            return await do(db)

    return service.run(done)


def rotate(
    service: Service, *, after: float = 0, products: Sequence[Product] = (Product.core,), now: bool
) -> None:
    encryptor, at = service.resources.encryptor, datetime.now(UTC) + timedelta(seconds=after)
    in_database(
        service, lambda db: rotate_keys(db, encryptor, at=at, products=list(products), at_once=now)
    )


def keep(service: Service, *, after: timedelta) -> None:
    encryptor, at = service.resources.encryptor, datetime.now(UTC) + after
    issuers = service.resources.tokens.issuers
    in_database(service, lambda db: keep_keys(db, encryptor, at=at, issuers=issuers))


def drop(service: Service, kid: str) -> bool:
    encryptor, at = service.resources.encryptor, datetime.now(UTC)
    return in_database(service, lambda db: drop_key(db, encryptor, kid, at=at))


def states(service: Service, product: Product = Product.core) -> dict[str, list[str]]:
    """The kids of a product by state, oldest first."""
    found: dict[str, list[str]] = {"next": [], "active": [], "retired": []}
    for row in in_database(service, list_keys):
        if row.product == product:
            found[row.state].append(row.kid)
    return found


def kid_of(token: str) -> str:
    kid: str = jwt.get_unverified_header(token)["kid"]
    return kid


def published(service: Service) -> set[str]:
    service.resources.keys_read_at = 0.0  # as if a second had passed
    keys = service.http.get("/core/.well-known/jwks.json").json()["keys"]
    return {key["kid"] for key in keys}


def token(service: Service, two: Two) -> dict[str, Any]:
    return issued(service, as_client(two.one.organisation))


def console_token(service: Service, two: Two) -> str:
    who = two.one.organisation
    answer = service.http.post(
        "/core/session",
        json={"organisation": who.organisation_id, "username": "root", "password": PASSWORD},
    )
    assert answer.status_code == 200, answer.text
    access: str = answer.json()["access_token"]
    return access
