"""Two other JWT libraries with documented settings; our verifier must be at least as strict."""

from __future__ import annotations

from typing import Any

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt as joserfc_jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from nimbill.access.tokens import ALGORITHM, LEEWAY_SECONDS, Tokens
from nimbill.foundation.errors import NotAuthenticated
from nimbill.foundation.product import Product


def nimbill_accepts(tokens: Tokens, token: str) -> bool:
    try:
        tokens.verify(token)
    except NotAuthenticated:
        return False
    return True


def pyjwt_accepts(tokens: Tokens, token: str, product: Product, issuer: str) -> bool:
    """Verify with key by kid, algorithm, audience and issuer, as its documentation says."""
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = next(key for key in tokens.list_public_keys(product) if key.kid == kid)
        jwt.decode(
            token,
            key.public_key,
            algorithms=[ALGORITHM],
            audience=product,
            issuer=issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iat", "iss", "aud", "sub", "jti"]},
        )
    except (jwt.PyJWTError, StopIteration):
        return False
    return True


def joserfc_accepts(tokens: Tokens, token: str, product: Product, issuer: str) -> bool:
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = next(key for key in tokens.list_public_keys(product) if key.kid == kid)
        decoded: Any = joserfc_jwt.decode(
            token, ECKey.import_key(_encode_pem(key)), algorithms=[ALGORITHM]
        )
        joserfc_jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": product},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        ).validate(decoded.claims)
    except (JoseError, jwt.PyJWTError, StopIteration, ValueError):
        return False
    return True


def _encode_pem(key: Any) -> bytes:
    pem: bytes = key.public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem
