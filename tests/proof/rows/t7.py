"""The login service passes what conformance suites check: responses, errors, keys, tokens.

Each condition is one line, checked for core and for portal.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
from joserfc.jwk import KeySet

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    PRODUCTS,
    TOKEN_PATHS,
    basic_headers,
    client_form,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "every condition on core and on portal is fulfilled; every token has 128 bits of entropy "
    "or more"
)
QUICK = 20  # tokens whose entropy is measured
FULL = 2_000
SECONDS_MAX = 60

BITS_MIN = 128
PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
# the characters RFC 6749 allows in error and error_description
ERROR_TEXT = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+")
ERRORS = {
    "invalid_request": 400,
    "invalid_client": 401,
    "invalid_grant": 400,
    "unsupported_grant_type": 400,
    "invalid_scope": 400,
}

Condition = tuple[str, bool]


@dataclass(frozen=True)
class ConformanceSuite:
    service: Service
    product: Product

    def get(self, name: str) -> httpx.Response:
        place = "/core" if self.product == Product.core else ""
        return self.service.http.get(f"{place}/.well-known/{name}")

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("openid-configuration").json()
        return found


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T7")
    misses, passed = [], 0
    for product in PRODUCTS:
        suite = ConformanceSuite(service, product)
        for check in (_responses, _errors, _discovery, _keys, _id_token, _access_token, _resource):
            for condition, fulfilled in _run_check(check, suite):
                passed += fulfilled
                misses += [] if fulfilled else [f"{product}: failed: {condition}"]
    weakest, duplicates = _entropy(service, size)
    if weakest < BITS_MIN or duplicates:
        misses.append(f"weak or repeated tokens: {weakest:.0f} bits, {duplicates} duplicates")
    figures = (
        f"{passed} conditions fulfilled, {len(misses)} not; the weakest of {size * 2} tokens has "
    )
    return Measurement(f"{figures}{weakest:.0f} bits", misses)


def _run_check(
    check: Callable[[ConformanceSuite], Iterator[Condition]], suite: ConformanceSuite
) -> Iterator[Condition]:
    """A token that a library refuses is a failed condition."""
    try:
        yield from check(suite)
    except jwt.PyJWTError as refusal:
        yield f"{check.__name__.strip('_')}: a library refuses it, {refusal}", False


def _is_not_cacheable(answer: httpx.Response) -> bool:
    caching = answer.headers.get("cache-control"), answer.headers.get("pragma")
    return caching == ("no-store", "no-cache")


def _responses(suite: ConformanceSuite) -> Iterator[Condition]:
    organisation = suite.service.organisation
    for form in (
        client_form(organisation),
        password_form(organisation, "root"),
        client_form(organisation, unknown="parameter"),
    ):
        answer = request_token(suite.service, form, suite.product)
        body = answer.json()
        yield "a token response is 200", answer.status_code == 200
        yield "a token response is JSON", answer.headers["content-type"] == "application/json"
        yield "a token response is not cacheable", _is_not_cacheable(answer)
        yield "token_type is bearer", body["token_type"].lower() == "bearer"
        yield "expires_in is a positive integer", type(body["expires_in"]) is int
        yield "expires_in is positive", body["expires_in"] > 0
        yield "no sniffing", answer.headers["x-content-type-options"] == "nosniff"
    address = TOKEN_PATHS[suite.product]
    yield "GET issues nothing", suite.service.http.get(address).status_code == 405
    in_query = suite.service.http.post(address, params=client_form(organisation))
    yield "secrets in the query are no credentials", in_query.status_code >= 400


def _errors(suite: ConformanceSuite) -> Iterator[Condition]:
    organisation = suite.service.organisation
    wrong = {
        "invalid_request": client_form(organisation) | {"grant_type": ""},
        "invalid_client": client_form(organisation, client_secret="x"),
        "invalid_grant": refresh_form(organisation, "x"),
        "unsupported_grant_type": client_form(organisation) | {"grant_type": "x"},
        "invalid_scope": client_form(organisation, scope="x"),
    }
    for error, form in wrong.items():
        answer = request_token(suite.service, form, suite.product)
        body = answer.json()
        yield f"{error} is the error code", body["error"] == error
        yield f"{error} has its status", answer.status_code == ERRORS[error]
        yield f"{error} is JSON", answer.headers["content-type"] == "application/json"
        yield f"{error} is not cacheable", _is_not_cacheable(answer)
        yield f"{error} in allowed characters", all(map(ERROR_TEXT.fullmatch, body.values()))
    address = TOKEN_PATHS[suite.product]
    by_basic = suite.service.http.post(
        address,
        data={"grant_type": "client_credentials"},
        headers=basic_headers(organisation.client_id, "x"),
    )
    challenge = by_basic.headers.get("www-authenticate", "")
    yield "a client refused by Basic is challenged by Basic", challenge.startswith("Basic realm=")
    repeated_parameter = suite.service.http.post(
        address, data={"grant_type": ["password", "password"]}
    )
    yield (
        "a parameter twice is invalid_request",
        repeated_parameter.json()["error"] == "invalid_request",
    )


def _discovery(suite: ConformanceSuite) -> Iterator[Condition]:
    answer, document = suite.get("openid-configuration"), suite.document
    issuer = document["issuer"]
    host = urlsplit(suite.service.settings.auth_url).netloc
    yield "discovery is 200", answer.status_code == 200
    yield "discovery is JSON", answer.headers["content-type"] == "application/json"
    yield "discovery may be cached", "max-age" in answer.headers["cache-control"]
    yield "the issuer has no query and no fragment", not {"?", "#"} & set(issuer)
    place = "/core" if suite.product == Product.core else ""
    yield "discovery is below its issuer", issuer.endswith(place) and host in issuer
    for name in ("token_endpoint", "jwks_uri"):
        yield f"{name} is on the same host", urlsplit(document[name]).netloc == host
    for name in (
        "response_types_supported",
        "subject_types_supported",
        "id_token_signing_alg_values_supported",
        "grant_types_supported",
        "scopes_supported",
        "token_endpoint_auth_methods_supported",
    ):
        yield f"{name} is a list of texts", all(isinstance(one, str) for one in document[name])
    yield "openid is offered", "openid" in document["scopes_supported"]
    yield "none is not offered", "none" not in document["id_token_signing_alg_values_supported"]


def _keys(suite: ConformanceSuite) -> Iterator[Condition]:
    answer = suite.service.http.get(suite.document["jwks_uri"])
    keys = answer.json()["keys"]
    yield "the keys are 200", answer.status_code == 200
    yield "there are keys", len(keys) > 0
    yield "no kid is repeated", len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        yield "a key is public", not PRIVATE_MEMBERS & set(key)
        yield "a key is for signatures", key["use"] == "sig"
        yield "a key has one algorithm", key["alg"] == "ES256" and key["crv"] == "P-256"
        coordinates = [base64.urlsafe_b64decode(key[name] + "=") for name in ("x", "y")]
        yield "coordinates have full length", {len(one) for one in coordinates} == {32}
    yield "PyJWT accepts them", len(jwt.PyJWKSet.from_dict(answer.json()).keys) == len(keys)
    yield "joserfc accepts them", bool(KeySet.import_key_set(answer.json()).keys)


def _read(suite: ConformanceSuite, token: str, audience: str) -> dict[str, Any]:
    keys = jwt.PyJWKSet.from_dict(suite.service.http.get(suite.document["jwks_uri"]).json())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    issuer = suite.document["issuer"]
    return jwt.decode(token, key, algorithms=["ES256"], audience=audience, issuer=issuer)


def _id_token(suite: ConformanceSuite) -> Iterator[Condition]:
    organisation = suite.service.organisation
    tokens = issue_tokens(suite.service, password_form(organisation, "root"), suite.product)
    again = issue_tokens(
        suite.service, refresh_form(organisation, tokens["refresh_token"]), suite.product
    )
    first, second = (
        _read(suite, one["id_token"], organisation.client_id) for one in (tokens, again)
    )
    yield "an id_token names the client alone", first["aud"] == organisation.client_id
    yield "sub is ASCII, 255 at most", first["sub"].isascii() and len(first["sub"]) <= 255
    yield "iat is a whole number", type(first["iat"]) is int
    yield "it expires within an hour", 0 < first["exp"] - first["iat"] <= 3600
    yield "no nonce without a nonce in the request", "nonce" not in first
    same = [first[name] == second[name] for name in ("iss", "sub", "aud")]
    yield "a refreshed id_token is of the same subject", all(same)


def _access_token(suite: ConformanceSuite) -> Iterator[Condition]:
    organisation = suite.service.organisation
    tokens = issue_tokens(suite.service, client_form(organisation), suite.product)
    token = tokens["access_token"]
    claims = _read(suite, token, suite.product)
    header = jwt.get_unverified_header(token)
    yield "an access token says at+jwt", header["typ"] == "at+jwt"
    yield "its algorithm is not none", header["alg"] == "ES256"
    needed = {"iss", "exp", "aud", "sub", "client_id", "iat", "jti"}
    yield "it has the claims of RFC 9068", needed <= set(claims)
    yield "expires_in is its lifetime", claims["exp"] - claims["iat"] == tokens["expires_in"]
    yield "it carries no permissions", not {"roles", "permissions", "groups"} & set(claims)


def _resource(suite: ConformanceSuite) -> Iterator[Condition]:
    http, organisation = suite.service.http, suite.service.organisation
    tokens = issue_tokens(suite.service, client_form(organisation), suite.product)
    path = "/m/auth/rbac/permissions"
    missing = http.get(path)
    yield "without a token 401", missing.status_code == 401
    yield "challenged by Bearer", missing.headers["www-authenticate"].startswith("Bearer")
    in_query = http.get(path, params={"access_token": tokens["access_token"]})
    yield "a token in the address is not accepted", in_query.status_code == 401
    for name, status in (("access_token", 200), ("id_token", 401), ("refresh_token", 401)):
        answer = http.get(path, headers={"Authorization": f"Bearer {tokens[name]}"})
        yield f"{name} at a resource", answer.status_code == status


def _entropy(service: Service, size: int) -> tuple[float, int]:
    """The lowest entropy of any token, and the number of duplicates."""
    responses = [issue_tokens(service, client_form(service.organisation)) for _ in range(size)]
    token_texts = [tokens["refresh_token"].removeprefix("nb_rt_") for tokens in responses]
    token_texts += [tokens["access_token"].rpartition(".")[2] for tokens in responses]
    return min(map(_bits, token_texts)), len(token_texts) - len(set(token_texts))


def _bits(text: str) -> float:
    """Shannon entropy over the characters of one text; an underestimate, as in the suites."""
    counted = Counter(text)
    shares = [count / len(text) for count in counted.values()]
    return -sum(share * math.log2(share) for share in shares) * len(text)


VARIANTS = [
    BrokenVariant(
        "short-refresh-token",
        "A refresh token has 64 random bits.",
        "weak or repeated tokens:",
        "identity/login/refresh_tokens.py",
        'return f"nb_rt_{secrets.token_urlsafe(32)}"',
        'return f"nb_rt_{secrets.token_urlsafe(8)}"',
    ),
    BrokenVariant(
        "token-responses-cacheable",
        "Token responses may be cached.",
        "failed: a token response is not cacheable",
        "identity/login/token_endpoint.py",
        'NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}',
        'NO_STORE = {"Cache-Control": "max-age=60"}',
    ),
    BrokenVariant(
        "wrong-issuer",
        "The configuration names an issuer that no token carries.",
        "a library refuses it",
        "identity/login/discovery_routes.py",
        '"issuer": issuer,',
        '"issuer": f"{issuer}/",',
    ),
]
