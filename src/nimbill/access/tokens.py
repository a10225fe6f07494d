"""Issue and strictly verify bearer tokens (signed JWTs)."""

import base64
import binascii
import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)

from nimbill.foundation import clock
from nimbill.foundation.errors import NotAuthenticated
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product

# See docs/choices.md, access-tokens.

ALGORITHM = "ES256"
SUBJECT_TYPES = ("user", "client")
VIEW = "view"  # a member of staff who sees the portal as a customer does
PORTAL_SUBJECT_TYPES = (*SUBJECT_TYPES, VIEW)
ACCESS_TYPE = "at+jwt"
LEEWAY_SECONDS = 5
TOKEN_BYTES_MAX = 8192
HEADER_BYTES_MAX = 1024
PAYLOAD_BYTES_MAX = 4096
CACHED_TOKENS_MAX = 4096

_KID = re.compile(r"[a-z0-9_-]{1,32}")
_SEGMENT = re.compile(r"[A-Za-z0-9_-]+")
_ID = re.compile(r"[a-z]{2,8}_[a-z0-9]{8,40}")


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    kid: str
    product: Product
    public_key: EllipticCurvePublicKey
    private_key: EllipticCurvePrivateKey | None  # only for the active key


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """The tokens of one product: `iss`, lifetime, and the values that `sub_type` may have."""

    address: str
    lifetime_seconds: int
    subject_types: tuple[str, ...] = SUBJECT_TYPES


@dataclass(frozen=True, slots=True)
class Claims:
    product: Product
    kid: str
    organisation_id: str
    user_id: str
    client_id: str
    subject_type: str
    epoch: int
    issued_at: int
    expires_at: int
    family_id: str | None = None  # of the refresh token that was issued with it


class Tokens:
    """Signs with the active key of a product and verifies with any of its known keys."""

    def __init__(
        self, keys: Mapping[str, SigningKey], issuers: Mapping[Product, TokenIssuer]
    ) -> None:
        self._keys = dict(keys)
        self._issuers = issuers
        self._verified: OrderedDict[str, Claims] = OrderedDict()

    @property
    def issuers(self) -> Mapping[Product, TokenIssuer]:
        return self._issuers

    def has_key(self, kid: str) -> bool:
        return kid in self._keys

    def with_keys(self, keys: Mapping[str, SigningKey]) -> "Tokens":
        """Return a copy with these keys, or this object with its cache if they are the same."""
        is_unchanged = _key_states(keys) == _key_states(self._keys)
        return self if is_unchanged else Tokens(keys, self._issuers)

    def is_signing_key(self, kid: str) -> bool:
        key = self._keys.get(kid)
        return key is not None and key.private_key is not None

    def list_public_keys(self, product: Product) -> list[SigningKey]:
        """List the keys that verify tokens of this product, by kid."""
        return sorted(
            (key for key in self._keys.values() if key.product == product), key=lambda key: key.kid
        )

    def is_cached(self, token: str) -> bool:
        """Return whether the signature was verified before; its key need not be loaded."""
        return token in self._verified

    def issue(
        self,
        product: Product,
        *,
        organisation_id: str,
        user_id: str,
        client_id: str,
        epoch: int,
        subject_type: str,
        family_id: str | None = None,
        seconds_max: int | None = None,
    ) -> tuple[str, int]:
        """Return an access token and its lifetime. It names the caller but no permissions.

        With `family_id` the token ends when that family of refresh tokens is revoked. It is valid
        for `seconds_max` if that is shorter than the tokens of the product are valid.
        """
        issuer = self._issuers[product]
        lifetime = issuer.lifetime_seconds
        if seconds_max is not None:
            lifetime = min(lifetime, seconds_max)
        issued_at = clock.unix_seconds()
        claims = {
            "iss": issuer.address,
            "aud": product,
            "sub": user_id,
            "sub_type": subject_type,
            "client_id": client_id,
            "tid": organisation_id,
            "iat": issued_at,
            "exp": issued_at + lifetime,
            "jti": new_id("tok"),
            "ep": epoch,
            "scope": "openid",
        }
        if family_id is not None:
            claims["sid"] = family_id
        return self._sign(product, claims, ACCESS_TYPE), lifetime

    def issue_id_token(self, product: Product, *, user_id: str, client_id: str) -> str:
        """Return a token that tells the client who logged in. It is not an access token."""
        issued_at = clock.unix_seconds()
        claims = {
            "iss": self._issuers[product].address,
            "aud": client_id,
            "sub": user_id,
            "iat": issued_at,
            "exp": issued_at + 300,
        }
        return self._sign(product, claims, "JWT")

    def _sign(self, product: Product, claims: dict[str, Any], token_type: str) -> str:
        key = next(key for key in self._keys.values() if key.product == product and key.private_key)
        headers = {"typ": token_type, "kid": key.kid}
        assert key.private_key is not None
        return jwt.encode(claims, key.private_key, algorithm=ALGORITHM, headers=headers)

    def verify(self, token: str) -> Claims:
        """Return the claims of a valid token. Raise NotAuthenticated for anything else."""
        claims = self._verified.get(token)
        if claims is None:
            claims = self._verify_signature(token)
            self._verified[token] = claims
            if len(self._verified) > CACHED_TOKENS_MAX:
                self._verified.popitem(last=False)
        # A cached token may have expired since.
        now = clock.unix_seconds()
        if now >= claims.expires_at + LEEWAY_SECONDS or now < claims.issued_at - LEEWAY_SECONDS:
            _refuse()
        return claims

    def _verify_signature(self, token: str) -> Claims:
        if len(token) > TOKEN_BYTES_MAX or not token.isascii():
            _refuse()
        segments = token.split(".")
        if len(segments) != 3:
            _refuse()
        header = _decode_json_object(_decode_base64url(segments[0]), HEADER_BYTES_MAX)
        if set(header) != {"alg", "typ", "kid"} or header["typ"] != ACCESS_TYPE:
            _refuse()
        key = self._find_key(header)
        _decode_base64url(segments[2])
        try:
            jwt.api_jws.decode(token, key.public_key, algorithms=[ALGORITHM])
        except jwt.PyJWTError:
            _refuse()
        payload = _decode_json_object(_decode_base64url(segments[1]), PAYLOAD_BYTES_MAX)
        return self._verify_claims(payload, key)

    def _find_key(self, header: Mapping[str, Any]) -> SigningKey:
        kid = header["kid"]
        if header["alg"] != ALGORITHM or not isinstance(kid, str) or not _KID.fullmatch(kid):
            _refuse()
        key = self._keys.get(kid)
        return key if key is not None else _refuse()

    def _verify_claims(self, payload: Mapping[str, Any], key: SigningKey) -> Claims:
        issuer = self._issuers.get(key.product)
        if issuer is None:
            _refuse()
        if payload.get("iss") != issuer.address or payload.get("aud") != key.product:
            _refuse()
        for name in ("iat", "exp", "ep"):
            if type(payload.get(name)) is not int:
                _refuse()
        for name in ("tid", "sub", "client_id"):
            if not isinstance(payload.get(name), str) or not _ID.fullmatch(payload[name]):
                _refuse()
        family_id = payload.get("sid")
        if "sid" in payload and not (isinstance(family_id, str) and _ID.fullmatch(family_id)):
            _refuse()
        if payload.get("sub_type") not in issuer.subject_types or payload.get("scope") != "openid":
            _refuse()
        # We never issue `nbf`; a token with one is not ours, and other verifiers would apply it.
        if not isinstance(payload.get("jti"), str) or "nbf" in payload:
            _refuse()
        if not 0 < payload["exp"] - payload["iat"] <= issuer.lifetime_seconds:
            _refuse()
        return Claims(
            product=key.product,
            kid=key.kid,
            organisation_id=payload["tid"],
            user_id=payload["sub"],
            client_id=payload["client_id"],
            subject_type=payload["sub_type"],
            epoch=payload["ep"],
            issued_at=payload["iat"],
            expires_at=payload["exp"],
            family_id=family_id,
        )


def _key_states(keys: Mapping[str, SigningKey]) -> set[tuple[str, bool]]:
    """Only the state of a key changes, and only whether it signs matters here."""
    return {(key.kid, key.private_key is not None) for key in keys.values()}


def read_key_id(token: str) -> str | None:
    """Return the key id in the header of an unverified token."""
    try:
        kid = _decode_json_object(_decode_base64url(token.split(".", 1)[0]), HEADER_BYTES_MAX).get(
            "kid"
        )
    except NotAuthenticated:
        return None
    return kid if isinstance(kid, str) and _KID.fullmatch(kid) else None


def _decode_base64url(segment: str) -> bytes:
    """Decode base64url without padding. Only the canonical encoding is accepted."""
    if not _SEGMENT.fullmatch(segment):
        _refuse()
    try:
        raw = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except (ValueError, binascii.Error):
        _refuse()
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != segment:
        _refuse()
    return raw


def _decode_json_object(raw: bytes, bytes_max: int) -> dict[str, Any]:
    if len(raw) > bytes_max:
        _refuse()
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_refuse_duplicates,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError):
        _refuse()
    return value if isinstance(value, dict) else _refuse()


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    return value if len(value) == len(pairs) else _refuse()


def _refuse_constant(_: str) -> NoReturn:
    _refuse()


def _refuse() -> NoReturn:
    raise invalid_token()


def invalid_token() -> NotAuthenticated:
    return NotAuthenticated("token_invalid", "The bearer token is invalid or has been revoked.")
