"""GET /.well-known/… and GET /core/.well-known/…: what a foreign client checks our tokens with."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt as other_jwt
from joserfc.jwk import KeySet

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    PRODUCTS,
    client_form,
    decode_claims,
    is_token_valid,
    issue_tokens,
    password_form,
)
from tests.running_service import Service

WELL_KNOWN = {Product.core: "/core/.well-known", Product.portal: "/.well-known"}
both_products = pytest.mark.parametrize("product", PRODUCTS)


def configuration(service: Service, product: Product) -> dict[str, Any]:
    answer = service.http.get(f"{WELL_KNOWN[product]}/openid-configuration")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, Any] = answer.json()
    return document


def key_set(service: Service, product: Product) -> dict[str, Any]:
    """Fetched where the configuration says it is."""
    answer = service.http.get(configuration(service, product)["jwks_uri"])
    assert answer.status_code == 200
    keys: dict[str, Any] = answer.json()
    return keys


# ── the configuration ────────────────────────────────────────────────────────────────────────────


@both_products
def test_the_configuration_says_what_is_there(service: Service, product: Product) -> None:
    document = configuration(service, product)

    assert document["grant_types_supported"] == ["client_credentials", "password", "refresh_token"]
    assert document["scopes_supported"] == ["openid"]
    assert document["subject_types_supported"] == ["public"]
    assert document["id_token_signing_alg_values_supported"] == ["ES256"]
    assert document["token_endpoint_auth_methods_supported"] == [
        "client_secret_post",
        "client_secret_basic",
    ]


@both_products
def test_the_configuration_lies_below_its_issuer(service: Service, product: Product) -> None:
    document = configuration(service, product)

    base = "http://127.0.0.1:8080"
    assert document["issuer"] + "/.well-known" == base + WELL_KNOWN[product]


@both_products
def test_a_client_that_follows_the_configuration_gets_a_token_of_that_issuer(
    service: Service, product: Product
) -> None:
    document = configuration(service, product)

    told = service.http.post(document["token_endpoint"], data=client_form(service.organisation))

    assert told.status_code == 200
    for name in ("access_token", "id_token"):
        assert decode_claims(told.json()[name])["iss"] == document["issuer"]


@both_products
def test_a_library_finds_the_configuration_sound(service: Service, product: Product) -> None:
    """All but the addresses, which must be https there; over https ours are."""
    secure = {
        name: value.replace("http://", "https://") if isinstance(value, str) else value
        for name, value in configuration(service, product).items()
    }
    metadata = OpenIDProviderMetadata(secure)

    metadata.validate_issuer()
    metadata.validate_token_endpoint()
    metadata.validate_jwks_uri()
    metadata.validate_grant_types_supported()
    metadata.validate_token_endpoint_auth_methods_supported()
    metadata.validate_subject_types_supported()


# ── the keys ─────────────────────────────────────────────────────────────────────────────────────


@both_products
def test_the_keys_are_public_and_say_what_they_are_for(service: Service, product: Product) -> None:
    keys = key_set(service, product)["keys"]

    assert len(keys) >= 2  # the one that signs and the one that will
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        assert set(key) == {"kty", "crv", "use", "alg", "kid", "x", "y"}
        assert (key["kty"], key["crv"], key["use"], key["alg"]) == ("EC", "P-256", "sig", "ES256")
        assert len(key["x"]) == len(key["y"]) == 43


def test_no_key_is_of_two_products(service: Service) -> None:
    core, portal = ({key["x"] for key in key_set(service, one)["keys"]} for one in PRODUCTS)

    assert core.isdisjoint(portal)


@both_products
@pytest.mark.parametrize("name", ["openid-configuration", "jwks.json"])
def test_both_may_be_kept_for_five_minutes_and_need_no_token(
    service: Service, product: Product, name: str
) -> None:
    answer = service.http.get(f"{WELL_KNOWN[product]}/{name}")

    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "max-age=300"


# ── tokens in the hands of a foreign client ──────────────────────────────────────────────────────


@both_products
def test_one_library_accepts_an_access_token_by_the_published_keys(
    service: Service, product: Product
) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    keys = jwt.PyJWKSet.from_dict(key_set(service, product))

    claims = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["ES256"],
        audience=product,
        issuer=configuration(service, product)["issuer"],
        options={"require": ["exp", "iat", "sub", "iss", "aud", "jti"]},
    )

    assert claims["sub"] == service.organisation.root_user_id
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"


@both_products
def test_another_library_accepts_it_too(service: Service, product: Product) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    keys = KeySet.import_key_set(key_set(service, product))  # type: ignore[arg-type]

    read = other_jwt.decode(token, keys, algorithms=["ES256"])

    other_jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": configuration(service, product)["issuer"]},
        aud={"essential": True, "value": product},
        exp={"essential": True},
    ).validate(read.claims)


@both_products
def test_an_id_token_says_who_logged_in_to_the_client_alone(
    service: Service, product: Product
) -> None:
    who = service.organisation
    token = issue_tokens(service, password_form(who, "root"), product)["id_token"]
    keys = jwt.PyJWKSet.from_dict(key_set(service, product))

    claims = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["ES256"],
        audience=who.client_id,
        issuer=configuration(service, product)["issuer"],
    )

    assert claims["sub"] == who.root_user_id
    assert claims["exp"] - claims["iat"] == 300
    assert jwt.get_unverified_header(token)["typ"] == "JWT"


@both_products
def test_the_keys_of_the_other_product_do_not_open_it(service: Service, product: Product) -> None:
    (other,) = set(PRODUCTS) - {product}
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    foreign = {key["kid"] for key in key_set(service, other)["keys"]}

    assert jwt.get_unverified_header(token)["kid"] not in foreign


@both_products
def test_an_id_token_is_never_an_access_token(service: Service, product: Product) -> None:
    for form in (client_form(service.organisation), password_form(service.organisation, "root")):
        told = issue_tokens(service, form, product)

        assert is_token_valid(service, told["access_token"])
        assert not is_token_valid(service, told["id_token"])
        assert not is_token_valid(service, told["refresh_token"])
