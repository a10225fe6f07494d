"""The strict verifier: what stands, and the many things that do not."""

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

from nimbill.access import tokens as module
from nimbill.access.tokens import Tokens, kid_of
from nimbill.application.installed import PRODUCTS, installed_issuers
from nimbill.foundation.errors import NotAuthenticated
from nimbill.foundation.vocabulary import Product
from tests.access.forging import Forge, base64url, forge, odd_tokens
from tests.access.mutating import mutated
from tests.access.other_verifiers import joserfc_accepts, ours_accepts, pyjwt_accepts
from tests.answers import problem_of
from tests.identity.login.asking import bearer, new_user
from tests.raw_request import raw_request
from tests.running_service import Service

ASKED = "/m/core/billinggroup"


@pytest.fixture(scope="module")
def real(running: Service) -> Forge:
    return forge(running, who=running.new_organisation())


@pytest.fixture
def reader(running: Service) -> Tokens:
    """Reads with the keys of the service and remembers nothing yet."""
    keys = {
        key.kid: key for product in PRODUCTS for key in running.resources.tokens.published(product)
    }
    return Tokens(keys, installed_issuers(running.settings))


def test_a_forged_token_that_is_sound_stands(service: Service) -> None:
    """Otherwise the odd ones would be refused for another reason than their oddity."""
    answer = service.http.get(ASKED, headers=bearer(forge(service).token()))

    assert answer.status_code == 200


def test_no_odd_token_stands_and_every_refusal_is_the_same(service: Service) -> None:
    odd = odd_tokens(service)
    assert len(odd) >= 60

    for name, token in odd.items():
        answer = raw_request(
            service, "GET", ASKED.encode(), headers={"Authorization": f"Bearer {token}"}
        )

        assert answer.status_code == 401, name
        assert answer.headers["www-authenticate"] == "Bearer", name
        assert problem_of(answer, 401)["code"] in ("token_invalid", "token_of_other_product"), name
        assert token not in answer.text, name


def test_most_odd_tokens_are_refused_before_the_database_is_asked(
    service: Service, reader: Tokens
) -> None:
    """Only what needs a record to be known as wrong gets past the verifier."""
    past = {name for name, token in odd_tokens(service).items() if ours_accepts(reader, token)}

    assert past == {
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
def test_an_authorization_that_is_no_bearer_token_is_refused(
    service: Service, authorization: str
) -> None:
    header = authorization.replace("{}", forge(service).token())

    answer = raw_request(service, "GET", ASKED.encode(), headers={"Authorization": header})

    assert problem_of(answer, 401)["code"] in ("token_invalid", "token_missing")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_read_without_regard_to_case(service: Service, scheme: str) -> None:
    header = {"Authorization": f"{scheme} {forge(service).token()}"}

    assert service.http.get(ASKED, headers=header).status_code == 200


def test_two_authorizations_are_as_good_as_none(service: Service) -> None:
    token, other = forge(service).token(), forge(service).token(jti="another")
    for second in (token, other, "", "nonsense"):
        lines = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {second}")]

        assert service.http.get(ASKED, headers=lines).status_code == 401


def test_a_token_in_the_address_is_not_looked_at(service: Service) -> None:
    token = forge(service).token()

    for name in ("access_token", "token", "Authorization"):
        assert service.http.get(ASKED, params={name: token}).status_code == 401
    body = {"access_token": token}
    assert service.http.post(ASKED, data=body).status_code == 401


# ── what happened since ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/m/u/users/{user_id}", None),
        ("DELETE", "/m/u/users/client/{user_id}/{client_id}", None),
        ("PUT", "/m/u/users/{user_id}/password", {"password": "another 77"}),
    ],
)
def test_a_token_does_not_outlive_its_user_client_or_password(
    service: Service, method: str, path: str, body: dict[str, str] | None
) -> None:
    user = new_user(service)
    token = forge(service).token(sub=user.user_id, client_id=user.client_id)
    assert service.http.get(ASKED, headers=bearer(token)).status_code == 403  # it has no role

    named = path.format(user_id=user.user_id, client_id=user.client_id)
    ended = service.http.request(method, named, json=body, headers=service.root())

    assert ended.status_code == 200
    assert service.http.get(ASKED, headers=bearer(token)).status_code == 401


# ── the memory of signatures ─────────────────────────────────────────────────────────────────────


def test_signatures_are_remembered_up_to_a_bound(
    reader: Tokens, real: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHED_TOKENS_MAX", 5)
    made = [real.token(jti=f"tok_{number}") for number in range(8)]

    for token in made:
        reader.read(token)

    assert [reader.holds(token) for token in made] == [False] * 3 + [True] * 5
    assert module.CACHED_TOKENS_MAX == 5


def test_the_bound_is_a_few_megabytes() -> None:
    assert module.CACHED_TOKENS_MAX * module.TOKEN_BYTES_MAX <= 64 * 1024 * 1024


def test_what_is_refused_is_not_remembered(reader: Tokens, real: Forge) -> None:
    for token in (real.with_header(typ="JWT"), real.token(aud="portal"), "a.b.c"):
        assert not ours_accepts(reader, token)
        assert not reader.holds(token)


def test_a_remembered_token_still_expires(reader: Tokens, real: Forge) -> None:
    token = real.token()
    reader.read(token)
    end = datetime.fromtimestamp(real.claims["exp"], UTC)

    with time_machine.travel(end + timedelta(seconds=5), tick=False):
        assert reader.holds(token)
        assert not ours_accepts(reader, token)


def test_a_remembered_signature_says_nothing_of_another_text(reader: Tokens, real: Forge) -> None:
    token = real.token()
    reader.read(token)

    for changed in (token + "A", token[:-1], token.upper(), " " + token):
        assert not ours_accepts(reader, changed)


# ── properties ───────────────────────────────────────────────────────────────────────────────────


@given(seed=st.integers(0, 2**64))
@settings(max_examples=300)
def test_no_accident_makes_another_token_that_stands(
    running: Service, real: Forge, seed: int
) -> None:
    token = real.token()
    changed = mutated(Random(seed), token)

    assert changed == token or not ours_accepts(running.resources.tokens, changed)


@given(text=st.text(max_size=300))
def test_no_text_is_a_surprise(running: Service, text: str) -> None:
    assert not ours_accepts(running.resources.tokens, text)
    assert kid_of(text) is None


@given(raw=st.binary(max_size=300), rest=st.binary(max_size=100))
def test_no_bytes_in_a_segment_are_a_surprise(
    real: Forge, running: Service, raw: bytes, rest: bytes
) -> None:
    for token in (real.stamped(raw, rest), real.token(claims=raw), real.token(header=raw)):
        assert not ours_accepts(running.resources.tokens, token)


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
def test_what_we_accept_others_accept_too(
    running: Service,
    real: Forge,
    changed: dict[str, Any],
    times: dict[str, int],
    header: dict[str, Any],
) -> None:
    token = real.token({**real.header, **header}, {**real.claims, **changed, **times})
    tokens = running.resources.tokens

    if ours_accepts(tokens, token):
        issuer = installed_issuers(running.settings)[Product.core].address
        assert pyjwt_accepts(tokens, token, Product.core, issuer)
        assert joserfc_accepts(tokens, token, Product.core, issuer)


def test_a_sound_token_is_accepted_by_all_three(running: Service, real: Forge) -> None:
    tokens, token = running.resources.tokens, real.token()
    issuer = installed_issuers(running.settings)[Product.core].address

    assert ours_accepts(tokens, token)
    assert pyjwt_accepts(tokens, token, Product.core, issuer)
    assert joserfc_accepts(tokens, token, Product.core, issuer)


def test_where_the_others_are_lenient_we_are_not(running: Service, real: Forge) -> None:
    """Why they are wrapped: an id_token, a strange header and a key that stands twice."""
    issuer = installed_issuers(running.settings)[Product.core].address
    tokens = running.resources.tokens
    twice = json.dumps(dict(real.claims))[:-1].encode() + b',"ep":1}'
    lenient = [
        real.with_header(typ="JWT"),
        real.with_header(jku="http://127.0.0.1:9/keys"),
        real.token(claims=twice),
    ]

    assert [pyjwt_accepts(tokens, token, Product.core, issuer) for token in lenient] == [True] * 3
    assert not any(ours_accepts(tokens, token) for token in lenient)


# ── the kid, before anything is believed ─────────────────────────────────────────────────────────


def test_the_kid_is_read_only_where_it_could_be_one_of_ours(real: Forge) -> None:
    assert kid_of(real.token()) == real.key.kid
    assert kid_of(base64url(b'{"kid":"key_a"}')) == "key_a"
    for header in (b'{"kid":"../x"}', b'{"kid":7}', b"{}", b"[]", b'{"kid":"a","kid":"a"}'):
        assert kid_of(f"{base64url(header)}.x.y") is None


def test_a_refusal_is_always_the_same(reader: Tokens, real: Forge) -> None:
    refusals = set()
    for token in ("", "a.b.c", real.token(aud="portal"), real.with_header(alg="none")):
        with pytest.raises(NotAuthenticated) as refusal:
            reader.read(token)
        refusals.add((refusal.value.code, refusal.value.detail))

    assert refusals == {("token_invalid", "the bearer token does not stand")}
