"""Forged tokens: invalid headers, claims and encodings, signed with the real key or not."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from nimbill.access.tokens import SigningKey
from nimbill.application.installed import installed_issuers
from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation
from tests.running_service import Service

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def encode_base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass(frozen=True)
class TokenForge:
    """Signs any header and claims with the real key of a product."""

    key: SigningKey
    header: Mapping[str, Any]
    claims: Mapping[str, Any]

    def token(
        self,
        header: Mapping[str, Any] | bytes | None = None,
        claims: Mapping[str, Any] | bytes | None = None,
        **changed: Any,
    ) -> str:
        """Build a token that is valid except for these changes; `...` removes a claim."""
        content = {**self.claims, **changed} if claims is None else claims
        if isinstance(content, Mapping):
            content = {name: value for name, value in content.items() if value is not ...}
        return self.sign(_bytes(self.header if header is None else header), _bytes(content))

    def with_header(self, **changed: Any) -> str:
        content = {**self.header, **changed}
        return self.token({name: value for name, value in content.items() if value is not ...})

    def sign(self, header: bytes, payload: bytes) -> str:
        signed = f"{encode_base64url(header)}.{encode_base64url(payload)}"
        return f"{signed}.{encode_base64url(self.signature(signed.encode()))}"

    def signature(self, signed: bytes) -> bytes:
        assert self.key.private_key is not None
        return es256(self.key.private_key, signed)


def _bytes(value: Mapping[str, Any] | bytes) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(dict(value)).encode()


def es256(key: ec.EllipticCurvePrivateKey, signed: bytes) -> bytes:
    r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def build_token_forge(
    service: Service, product: Product = Product.core, tenant: NewOrganisation | None = None
) -> TokenForge:
    """Build a forge for the root user and the first client of an organisation."""
    tenant = tenant or service.organisation
    issuer = installed_issuers(service.settings)[product]
    now = int(time.time())
    key = next(key for key in service.resources.tokens.list_public_keys(product) if key.private_key)
    return TokenForge(
        key=key,
        header={"alg": "ES256", "typ": "at+jwt", "kid": key.kid},
        claims={
            "iss": issuer.address,
            "aud": product,
            "sub": tenant.root_user_id,
            "sub_type": "client",
            "client_id": tenant.client_id,
            "tid": tenant.organisation_id,
            "iat": now,
            "exp": now + issuer.lifetime_seconds,
            "jti": "tok_forged",
            "ep": 1,
            "scope": "openid",
        },
    )


def build_invalid_tokens(service: Service) -> dict[str, str]:
    """Build at least sixty tokens that a careless verifier would accept, by their defect."""
    real = build_token_forge(service)
    return {
        **_invalid_algorithms(real),
        **_invalid_headers(service, real),
        **_invalid_encodings(real),
        **_invalid_times(real),
        **_invalid_claims(service, real),
    }


def _invalid_algorithms(real: TokenForge) -> dict[str, str]:
    valid = real.token()
    header, payload, signature = valid.split(".")
    public = real.key.public_key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    rsa_key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    own_key = ec.generate_private_key(ec.SECP256R1())

    def unsigned(alg: str, last: str = "") -> str:
        return f"{encode_base64url(_bytes({**real.header, 'alg': alg}))}.{payload}.{last}"

    def as_hmac(secret: bytes) -> str:
        signed = unsigned("HS256").rstrip(".")
        mac = hmac.HMAC(secret, hashes.SHA256())
        mac.update(signed.encode())
        return f"{signed}.{encode_base64url(mac.finalize())}"

    other_alg = dict(real.header, alg="RS256")
    return {
        "alg none": unsigned("none"),
        "alg None": unsigned("None"),
        "alg NONE with the real signature": unsigned("NONE", signature),
        "alg empty": unsigned("", signature),
        "alg HS256 with the public key as secret": as_hmac(public),
        "alg HS256 with the public key without its last line end": as_hmac(public.rstrip()),
        "alg HS256 with an empty secret": as_hmac(b""),
        "alg RS256 by a key of the forger": jwt.encode(
            dict(real.claims), rsa_key, algorithm="RS256", headers=other_alg
        ),
        "alg RS256 over the real signature": real.with_header(alg="RS256"),
        "alg ES384": real.with_header(alg="ES384"),
        "alg es256 in small letters": real.with_header(alg="es256"),
        "alg a list": real.with_header(alg=["ES256"]),
        "alg null": real.with_header(alg=None),
        "alg missing": real.with_header(alg=...),
        "signed by a key of the forger": f"{header}.{payload}."
        + encode_base64url(es256(own_key, f"{header}.{payload}".encode())),
        "signature of zeros": f"{header}.{payload}.{encode_base64url(bytes(64))}",
        "signature in DER": f"{header}.{payload}."
        + encode_base64url(
            _private(real).sign(f"{header}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))
        ),
        "signature cut short": f"{header}.{payload}.{signature[:-4]}",
        "signature with a byte more": f"{header}.{payload}."
        + encode_base64url(decode_base64url(signature) + b"0"),
        "signature of another payload": f"{header}.{encode_base64url(b'{}')}.{signature}",
        "no signature": f"{header}.{payload}.",
    }


def _private(real: TokenForge) -> ec.EllipticCurvePrivateKey:
    assert real.key.private_key is not None
    return real.key.private_key


def decode_base64url(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def _invalid_headers(service: Service, real: TokenForge) -> dict[str, str]:
    numbers = real.key.public_key.public_numbers()
    jwk = {
        "kty": "EC",
        "crv": "P-256",
        "x": encode_base64url(numbers.x.to_bytes(32, "big")),
        "y": encode_base64url(numbers.y.to_bytes(32, "big")),
    }
    other = build_token_forge(service, Product.portal)
    kid = real.key.kid
    twice = f'{{"alg":"none","alg":"ES256","typ":"at+jwt","kid":"{kid}"}}'
    return {
        "typ JWT": real.with_header(typ="JWT"),
        "typ missing": real.with_header(typ=...),
        "typ in capitals": real.with_header(typ="AT+JWT"),
        "typ with its media type": real.with_header(typ="application/at+jwt"),
        "typ null": real.with_header(typ=None),
        "jwk in the header": real.with_header(jwk=jwk),
        "jku in the header": real.with_header(jku="http://127.0.0.1:9/keys"),
        "x5u in the header": real.with_header(x5u="http://127.0.0.1:9/cert"),
        "x5c in the header": real.with_header(x5c=["AAAA"]),
        "crit in the header": real.with_header(crit=["exp"]),
        "b64 false in the header": real.with_header(b64=False, crit=["b64"]),
        "cty in the header": real.with_header(cty="JWT"),
        "zip in the header": real.with_header(zip="DEF"),
        "header with a key twice": real.token(twice.encode()),
        "header a list": real.token(b'["ES256"]'),
        "header null": real.token(b"null"),
        "header no JSON": real.token(b"ES256"),
        "header not UTF-8": real.token(b'{"alg":"\xff"}'),
        "header nested": real.token(b"[" * 900),
        "header of 5,000 bytes": real.with_header(kid="k" * 5000),
        "header with NaN": real.token(f'{{"alg":NaN,"typ":"at+jwt","kid":"{kid}"}}'.encode()),
        "kid missing": real.with_header(kid=...),
        "kid null": real.with_header(kid=None),
        "kid a number": real.with_header(kid=7),
        "kid empty": real.with_header(kid=""),
        "kid unknown": real.with_header(kid="key_unknown"),
        "kid a path": real.with_header(kid="../../../../dev/null"),
        "kid with SQL": real.with_header(kid="x' UNION SELECT 'AAAA"),
        "kid with NUL": real.with_header(kid=f"{kid}\0"),
        "kid in capitals": real.with_header(kid=kid.upper()),
        "kid with a line end": real.with_header(kid=f"{kid}\n"),
        "kid of the other product": real.with_header(kid=other.key.kid),
        "core claims signed by the portal key": other.token(claims=real.claims),
        "portal claims signed by the core key": real.token(claims=other.claims),
    }


def _invalid_encodings(real: TokenForge) -> dict[str, str]:
    valid = real.token()
    header, payload, signature = valid.split(".")
    return {
        "padding in the signature": f"{valid}==",
        "padding in the header": f"{header}==.{payload}.{signature}",
        "another encoding of the last character": f"{header}.{payload}.{_reencode(signature)}",
        "plain base64": valid[:-43] + valid[-43:].replace("-", "+").replace("_", "/") + "+",
        "a fourth segment": f"{valid}.",
        "five segments": f"{valid}.{payload}.{signature}",
        "two segments": f"{header}.{payload}",
        "one segment": header,
        "empty header": f".{payload}.{signature}",
        "empty payload": f"{header}..{signature}",
        "dots alone": "..",
        "a space inside": f"{header}. {payload}.{signature}",
        "a space behind": f"{valid} ",
        "a tab behind": f"{valid}\t",
        "a comma and a second one": f"{valid},{valid}",
        "of 9,000 bytes": real.token(filler="x" * 6_500),
        "payload of 5,000 bytes": real.token(filler="x" * 5_000),
        "encrypted, by its look": f"{header}.{payload}.{signature}.{payload}.{signature}",
    }


def _reencode(segment: str) -> str:
    """Return another text for the same bytes: the last character has unused bits."""
    return segment[:-1] + ALPHABET[ALPHABET.index(segment[-1]) ^ 1]


def _invalid_times(real: TokenForge) -> dict[str, str]:
    now, life = real.claims["iat"], real.claims["exp"] - real.claims["iat"]
    return {
        "expired": real.token(iat=now - life - 60, exp=now - 60),
        "expired five seconds ago": real.token(iat=now - life - 6, exp=now - 6),
        "exp missing": real.token(exp=...),
        "exp null": real.token(exp=None),
        "exp a text": real.token(exp=str(now + 60)),
        "exp with a fraction": real.token(exp=now + 60.5),
        "exp as 1e12": real.sign(
            _bytes(real.header),
            _bytes(real.claims).replace(str(now + life).encode(), b"1e12"),
        ),
        "exp infinite": real.token(exp=float("inf")),
        "exp negative": real.token(exp=-1),
        "exp true": real.token(exp=True),
        "exp a list": real.token(exp=[now + 60]),
        "exp of 4,000 digits": real.token(exp=int("9" * 4000)),
        "exp too far": real.token(exp=now + life + 1),
        "exp before iat": real.token(exp=now - 1),
        "exp equal to iat": real.token(exp=now),
        "iat missing": real.token(iat=...),
        "iat a text": real.token(iat=str(now)),
        "iat with a fraction": real.token(iat=now + 0.5),
        "iat in the future": real.token(iat=now + 600, exp=now + 700),
        "nbf in the future": real.token(nbf=now + 600),
        "nbf a text": real.token(nbf="0"),
    }


def _invalid_claims(service: Service, real: TokenForge) -> dict[str, str]:
    other = service.new_organisation()
    claims = real.claims
    text = _bytes(claims)
    return {
        "iss of the portal": real.token(iss=claims["iss"].removesuffix("/core")),
        "iss with a slash": real.token(iss=claims["iss"] + "/"),
        "iss in capitals": real.token(iss=claims["iss"].upper()),
        "iss missing": real.token(iss=...),
        "iss a list": real.token(iss=[claims["iss"]]),
        "aud of the portal": real.token(aud="portal"),
        "aud a list with ours": real.token(aud=["core"]),
        "aud a list of two": real.token(aud=["core", "portal"]),
        "aud missing": real.token(aud=...),
        "aud null": real.token(aud=None),
        "aud in capitals": real.token(aud="CORE"),
        "sub missing": real.token(sub=...),
        "sub a number": real.token(sub=7),
        "sub empty": real.token(sub=""),
        "sub with NUL": real.token(sub=claims["sub"] + "\0"),
        "sub with SQL": real.token(sub="' OR 1=1 --"),
        "sub unknown": real.token(sub="usr_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "sub of another organisation": real.token(sub=other.root_user_id),
        "tid of another organisation": real.token(tid=other.organisation_id),
        "tid and sub of another organisation": real.token(
            tid=other.organisation_id, sub=other.root_user_id
        ),
        "tid missing": real.token(tid=...),
        "tid empty": real.token(tid=""),
        "client_id missing": real.token(client_id=...),
        "client_id of another organisation": real.token(client_id=other.client_id),
        "client_id unknown": real.token(client_id="cl_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "ep of yesterday": real.token(ep=0),
        "ep of tomorrow": real.token(ep=2),
        "ep a text": real.token(ep="1"),
        "ep true": real.token(ep=True),
        "ep missing": real.token(ep=...),
        "sub_type missing": real.token(sub_type=...),
        "sub_type unknown": real.token(sub_type="root"),
        "sub_type a list": real.token(sub_type=["client"]),
        "scope missing": real.token(scope=...),
        "scope wider": real.token(scope="openid admin"),
        "jti missing": real.token(jti=...),
        "jti a number": real.token(jti=7),
        "payload with a key twice": real.token(claims=text[:-1] + b',"aud":"core"}'),
        "payload with a key twice below": real.token(claims=text[:-1] + b',"x":{"a":1,"a":2}}'),
        "payload with NaN": real.token(claims=text[:-1] + b',"x":NaN}'),
        "payload with Infinity": real.token(claims=text[:-1] + b',"x":-Infinity}'),
        "payload a list": real.token(claims=b"[" + text + b"]"),
        "payload null": real.token(claims=b"null"),
        "payload a text": real.token(claims=b'"core"'),
        "payload no JSON": real.token(claims=b"core"),
        "payload not UTF-8": real.token(claims=text[:-1] + b',"x":"\xff"}'),
        "payload with a byte order mark": real.token(claims=b"\xef\xbb\xbf" + text),
        "payload nested": real.token(claims=b"[" * 4000),
        "payload empty": real.sign(_bytes(real.header), b""),
    }
