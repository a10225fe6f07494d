"""Public keys and OpenID configuration, with which clients verify tokens themselves."""

import base64
from typing import Any

from litestar import Response

from nimbill.access.gate import Public
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.access.tokens import ALGORITHM, SigningKey
from nimbill.foundation.basis import chosen
from nimbill.foundation.product import Product
from nimbill.http.routing import WorkerResources, get
from nimbill.identity.login.grants import GRANT_TYPES

PUBLISHED: dict[str, Any] = {
    "audiences": Public("published so that anyone can check a signature"),
    "role_actions": ANY_CALLER,
    "basis": chosen("published-keys"),
}
CACHED = {"Cache-Control": "max-age=300"}


@get("/.well-known/jwks.json", **PUBLISHED)
async def portal_keys(resources: WorkerResources) -> Response[dict[str, Any]]:
    """Show the public keys of `portal` tokens."""
    return await _build_key_set(resources, Product.portal)


@get("/core/.well-known/jwks.json", **PUBLISHED)
async def core_keys(resources: WorkerResources) -> Response[dict[str, Any]]:
    """Show the public keys of `core` tokens."""
    return await _build_key_set(resources, Product.core)


@get("/.well-known/openid-configuration", **PUBLISHED)
async def portal_configuration(resources: WorkerResources) -> Response[dict[str, Any]]:
    """Show the OpenID configuration of `portal`."""
    return _build_configuration(resources, Product.portal)


@get("/core/.well-known/openid-configuration", **PUBLISHED)
async def core_configuration(resources: WorkerResources) -> Response[dict[str, Any]]:
    """Show the OpenID configuration of `core`."""
    return _build_configuration(resources, Product.core)


async def _build_key_set(resources: Resources, product: Product) -> Response[dict[str, Any]]:
    await resources.reload_keys_if_stale()
    keys = [_build_jwk(key) for key in resources.tokens.list_public_keys(product)]
    return Response({"keys": keys}, headers=CACHED)


def _build_jwk(key: SigningKey) -> dict[str, str]:
    numbers = key.public_key.public_numbers()
    return {
        "kty": "EC",
        "crv": "P-256",
        "use": "sig",
        "alg": ALGORITHM,
        "kid": key.kid,
        "x": _encode_base64url(numbers.x),
        "y": _encode_base64url(numbers.y),
    }


def _encode_base64url(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def _build_configuration(resources: Resources, product: Product) -> Response[dict[str, Any]]:
    issuer = resources.tokens.issuers[product].address
    return Response(
        {
            "issuer": issuer,
            "token_endpoint": f"{issuer}/access_token",
            "jwks_uri": f"{issuer}/.well-known/jwks.json",
            "grant_types_supported": list(GRANT_TYPES),
            "response_types_supported": [],
            "scopes_supported": ["openid"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        },
        headers=CACHED,
    )


ROUTES = [portal_keys, core_keys, portal_configuration, core_configuration]
