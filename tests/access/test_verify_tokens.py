"""The strict token verifier: valid tokens, and many kinds of invalid ones."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.access import tokens as tokens_module
from nimbill.access.tokens import Tokens, read_key_id
from nimbill.application.installed import PRODUCTS, installed_issuers
from nimbill.foundation.errors import NotAuthenticated
from nimbill.foundation.product import Product
from tests.access.forged_tokens import (
    TokenForge,
    build_invalid_tokens,
    build_token_forge,
    encode_base64url,
)
from tests.access.other_verifiers import joserfc_accepts, nimbill_accepts, pyjwt_accepts
from tests.access.token_mutations import mutate_token
from tests.identity.login.token_requests import bearer_headers, create_user
from tests.problem_responses import read_problem
from tests.raw_request import raw_request
from tests.running_service import Service

PATH = "/m/core/billinggroup"


@pytest.fixture(scope="module")
def real(running: Service) -> TokenForge:
    return build_token_forge(running, tenant=running.new_organisation())


@pytest.fixture
def verifier(running: Service) -> Tokens:
    """A verifier with the keys of the service and an empty cache."""
    keys = {
        key.kid: key
        for product in PRODUCTS
        for key in running.resources.tokens.list_public_keys(product)
    }
    return Tokens(keys, installed_issuers(running.settings))


def test_a_forged_token_without_a_defect_is_accepted(service: Service) -> None:
    """Otherwise the invalid tokens could be refused for another reason than their defect."""
    response = service.http.get(PATH, headers=bearer_headers(build_token_forge(service).token()))

    assert response.status_code == 200


def test_every_invalid_token_is_refused_in_the_same_way(service: Service) -> None:
    invalid = build_invalid_tokens(service)
    assert len(invalid) >= 60

    for name, token in invalid.items():
        response = raw_request(
            service, "GET", PATH.encode(), headers={"Authorization": f"Bearer {token}"}
        )

        assert response.status_code == 401, name
        assert response.headers["www-authenticate"] == "Bearer", name
        assert read_problem(response, 401)["code"] in ("token_invalid", "token_of_other_product"), (
            name
        )
        assert token not in response.text, name


def test_most_invalid_tokens_are_refused_without_a_query(
    service: Service, verifier: Tokens
) -> None:
    """Only tokens whose defect shows in a record pass the verifier."""
    accepted = {
        name
        for name, token in build_invalid_tokens(service).items()
        if nimbill_accepts(verifier, token)
    }

    assert accepted == {
        "client_id of another organisation",
        "client_id unknown",
        "ep of tomorrow",
        "ep of yesterday",
        "sub of another organisation",
        "sub unknown",
        "tid and sub of another organisation",
        "tid of another organisation",
    }


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Basic {}",
        "Token {}",
        "Bearer: {}",
        "Bearer\t{}",
        "Bearer  {}",
        "Bearer {}, Bearer {}",
        "Bearer {} {}",
        "Bearer Bearer {}",
        "Bearer \u5c71\u7530",
        "{}",
        "DPoP {}",
        'Bearer "{}"',
        "Bearer %20{}",
    ],
)
def test_another_authorization_header_is_refused(service: Service, authorization: str) -> None:
    header = authorization.replace("{}", build_token_forge(service).token())

    response = raw_request(service, "GET", PATH.encode(), headers={"Authorization": header})

    assert read_problem(response, 401)["code"] in ("token_invalid", "token_missing")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_case_insensitive(service: Service, scheme: str) -> None:
    header = {"Authorization": f"{scheme} {build_token_forge(service).token()}"}

    assert service.http.get(PATH, headers=header).status_code == 200


def test_two_authorization_headers_are_refused(service: Service) -> None:
    token, other = (
        build_token_forge(service).token(),
        build_token_forge(service).token(jti="another"),
    )
    for second in (token, other, "", "nonsense"):
        lines = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {second}")]

        assert service.http.get(PATH, headers=lines).status_code == 401


def test_a_token_in_the_query_or_body_is_ignored(service: Service) -> None:
    token = build_token_forge(service).token()

    for name in ("access_token", "token", "Authorization"):
        assert service.http.get(PATH, params={name: token}).status_code == 401
    body = {"access_token": token}
    assert service.http.post(PATH, data=body).status_code == 401


# ── revocation ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/m/u/users/{user_id}", None),
        ("DELETE", "/m/u/users/client/{user_id}/{client_id}", None),
        ("PUT", "/m/u/users/{user_id}/password", {"password": "another 77"}),
    ],
)
def test_a_token_is_invalid_without_its_user_client_or_password(
    service: Service, method: str, path: str, body: dict[str, str] | None
) -> None:
    user = create_user(service)
    token = build_token_forge(service).token(sub=user.user_id, client_id=user.client_id)
    assert (
        service.http.get(PATH, headers=bearer_headers(token)).status_code == 403
    )  # it has no role

    filled_path = path.format(user_id=user.user_id, client_id=user.client_id)
    response = service.http.request(method, filled_path, json=body, headers=service.root())

    assert response.status_code == 200
    assert service.http.get(PATH, headers=bearer_headers(token)).status_code == 401


# ── cache of verified signatures ─────────────────────────────────────────────────────────────────


def test_the_cache_is_bounded(
    verifier: Tokens, real: TokenForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens_module, "CACHED_TOKENS_MAX", 5)
    issued = [real.token(jti=f"tok_{number}") for number in range(8)]

    for token in issued:
        verifier.verify(token)

    assert [verifier.is_cached(token) for token in issued] == [False] * 3 + [True] * 5
    assert tokens_module.CACHED_TOKENS_MAX == 5


def test_the_cache_uses_at_most_64_megabytes() -> None:
    assert tokens_module.CACHED_TOKENS_MAX * tokens_module.TOKEN_BYTES_MAX <= 64 * 1024 * 1024


def test_invalid_tokens_are_not_cached(verifier: Tokens, real: TokenForge) -> None:
    for token in (real.with_header(typ="JWT"), real.token(aud="portal"), "a.b.c"):
        assert not nimbill_accepts(verifier, token)
        assert not verifier.is_cached(token)


def test_a_cached_token_expires(verifier: Tokens, real: TokenForge) -> None:
    token = real.token()
    verifier.verify(token)
    end = datetime.fromtimestamp(real.claims["exp"], UTC)

    with time_machine.travel(end + timedelta(seconds=5), tick=False):
        assert verifier.is_cached(token)
        assert not nimbill_accepts(verifier, token)


def test_a_cached_token_does_not_validate_a_similar_text(
    verifier: Tokens, real: TokenForge
) -> None:
    token = real.token()
    verifier.verify(token)

    for changed in (token + "A", token[:-1], token.upper(), " " + token):
        assert not nimbill_accepts(verifier, changed)


# ── properties ───────────────────────────────────────────────────────────────────────────────────


@given(seed=st.integers(0, 2**64))
@settings(max_examples=300)
def test_no_mutation_makes_another_valid_token(
    running: Service, real: TokenForge, seed: int
) -> None:
    token = real.token()
    changed = mutate_token(Random(seed), token)

    assert changed == token or not nimbill_accepts(running.resources.tokens, changed)


@given(text=st.text(max_size=300))
def test_any_text_is_refused(running: Service, text: str) -> None:
    assert not nimbill_accepts(running.resources.tokens, text)
    assert read_key_id(text) is None


@given(raw=st.binary(max_size=300), rest=st.binary(max_size=100))
def test_any_bytes_in_a_segment_are_refused(
    real: TokenForge, running: Service, raw: bytes, rest: bytes
) -> None:
    for token in (real.sign(raw, rest), real.token(claims=raw), real.token(header=raw)):
        assert not nimbill_accepts(running.resources.tokens, token)


claim_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
    st.sampled_from(["core", "portal", "openid", ["core"], 0, -1]),
)
around_now = st.integers(-200_000, 200_000).map(lambda span: int(time.time()) + span)
CLAIMS = st.sampled_from(
    ["iss", "aud", "sub", "sub_type", "client_id", "tid", "iat", "exp", "jti", "ep", "scope", "nbf"]
)


@given(
    changed=st.dictionaries(CLAIMS, claim_values, max_size=2),
    times=st.dictionaries(st.sampled_from(["iat", "exp", "nbf"]), around_now, max_size=3),
    header=st.dictionaries(st.sampled_from(["typ", "alg", "cty"]), claim_values, max_size=1),
)
@settings(max_examples=400)
def test_tokens_we_accept_are_accepted_by_other_libraries(
    running: Service,
    real: TokenForge,
    changed: dict[str, Any],
    times: dict[str, int],
    header: dict[str, Any],
) -> None:
    token = real.token({**real.header, **header}, {**real.claims, **changed, **times})
    tokens = running.resources.tokens

    if nimbill_accepts(tokens, token):
        issuer = installed_issuers(running.settings)[Product.core].address
        assert pyjwt_accepts(tokens, token, Product.core, issuer)
        assert joserfc_accepts(tokens, token, Product.core, issuer)


def test_a_valid_token_is_accepted_by_all_three_libraries(
    running: Service, real: TokenForge
) -> None:
    tokens, token = running.resources.tokens, real.token()
    issuer = installed_issuers(running.settings)[Product.core].address

    assert nimbill_accepts(tokens, token)
    assert pyjwt_accepts(tokens, token, Product.core, issuer)
    assert joserfc_accepts(tokens, token, Product.core, issuer)


def test_we_refuse_tokens_that_other_libraries_accept(running: Service, real: TokenForge) -> None:
    """An id token, an unknown header and a duplicate claim: why the library is wrapped."""
    issuer = installed_issuers(running.settings)[Product.core].address
    tokens = running.resources.tokens
    duplicate = json.dumps(dict(real.claims))[:-1].encode() + b',"ep":1}'
    lenient = [
        real.with_header(typ="JWT"),
        real.with_header(jku="http://127.0.0.1:9/keys"),
        real.token(claims=duplicate),
    ]

    assert [pyjwt_accepts(tokens, token, Product.core, issuer) for token in lenient] == [True] * 3
    assert not any(nimbill_accepts(tokens, token) for token in lenient)


# ── key id of an unverified token ────────────────────────────────────────────────────────────────


def test_the_key_id_is_read_only_if_it_has_our_format(real: TokenForge) -> None:
    assert read_key_id(real.token()) == real.key.kid
    assert read_key_id(encode_base64url(b'{"kid":"key_a"}')) == "key_a"
    for header in (b'{"kid":"../x"}', b'{"kid":7}', b"{}", b"[]", b'{"kid":"a","kid":"a"}'):
        assert read_key_id(f"{encode_base64url(header)}.x.y") is None


def test_every_error_is_the_same(verifier: Tokens, real: TokenForge) -> None:
    refusals = set()
    for token in ("", "a.b.c", real.token(aud="portal"), real.with_header(alg="none")):
        with pytest.raises(NotAuthenticated) as refusal:
            verifier.verify(token)
        refusals.add((refusal.value.code, refusal.value.detail))

    assert refusals == {("token_invalid", "The bearer token is invalid or has been revoked.")}


def test_a_token_of_a_product_that_is_not_installed_is_refused(
    verifier: Tokens, real: TokenForge
) -> None:
    """Its key may still be in the database."""
    others = {
        product: issuer
        for product, issuer in verifier.issuers.items()
        if product != real.key.product
    }
    without_product = Tokens({real.key.kid: real.key}, others)

    with pytest.raises(NotAuthenticated):
        without_product.verify(real.token())
