"""What a client needs to check our tokens by itself: the key sets and where everything is."""

import base64
from typing import Any

from litestar import Response

from nimbill.access.gate import Public
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.access.tokens import ALGORITHM, SigningKey
from nimbill.foundation.basis import chosen
from nimbill.foundation.vocabulary import Product
from nimbill.http.routing import ResourcesOfWorker, get
from nimbill.identity.login.grants import GRANTS

PUBLISHED: dict[str, Any] = {
    "audiences": Public("published so that anyone can check a signature"),
    "role_actions": ANY_CALLER,
    "basis": chosen("published-keys"),
}
CACHED = {"Cache-Control": "max-age=300"}


@get("/.well-known/jwks.json", **PUBLISHED)
async def portal_keys(resources: ResourcesOfWorker) -> Response[dict[str, Any]]:
    """The keys that sign `portal` tokens."""
    return await _keys(resources, Product.portal)


@get("/core/.well-known/jwks.json", **PUBLISHED)
async def core_keys(resources: ResourcesOfWorker) -> Response[dict[str, Any]]:
    """The keys that sign `core` tokens."""
    return await _keys(resources, Product.core)


@get("/.well-known/openid-configuration", **PUBLISHED)
async def portal_configuration(resources: ResourcesOfWorker) -> Response[dict[str, Any]]:
    """Where `portal` tokens are issued and checked."""
    return _configuration(resources, Product.portal)


@get("/core/.well-known/openid-configuration", **PUBLISHED)
async def core_configuration(resources: ResourcesOfWorker) -> Response[dict[str, Any]]:
    """Where `core` tokens are issued and checked."""
    return _configuration(resources, Product.core)


async def _keys(resources: Resources, product: Product) -> Response[dict[str, Any]]:
    await resources.look_for_new_keys()
    keys = [_public(key) for key in resources.tokens.published(product)]
    return Response({"keys": keys}, headers=CACHED)


def _public(key: SigningKey) -> dict[str, str]:
    numbers = key.public_key.public_numbers()
    return {
        "kty": "EC",
        "crv": "P-256",
        "use": "sig",
        "alg": ALGORITHM,
        "kid": key.kid,
        "x": _base64url(numbers.x),
        "y": _base64url(numbers.y),
    }


def _base64url(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def _configuration(resources: Resources, product: Product) -> Response[dict[str, Any]]:
    issuer = resources.tokens.issuers[product].address
    return Response(
        {
            "issuer": issuer,
            "token_endpoint": f"{issuer}/access_token",
            "jwks_uri": f"{issuer}/.well-known/jwks.json",
            "grant_types_supported": list(GRANTS),
            "response_types_supported": [],
            "scopes_supported": ["openid"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        },
        headers=CACHED,
    )


ROUTES = [portal_keys, core_keys, portal_configuration, core_configuration]
