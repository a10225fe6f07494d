"""GET /.well-known/… and GET /core/.well-known/…: clients verify tokens themselves."""

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
each_product = pytest.mark.parametrize("product", PRODUCTS)


def get_configuration(service: Service, product: Product) -> dict[str, Any]:
    response = service.http.get(f"{WELL_KNOWN[product]}/openid-configuration")
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    document: dict[str, Any] = response.json()
    return document


def get_key_set(service: Service, product: Product) -> dict[str, Any]:
    """Fetch the keys from the address in the configuration."""
    response = service.http.get(get_configuration(service, product)["jwks_uri"])
    assert response.status_code == 200
    keys: dict[str, Any] = response.json()
    return keys


# ── the configuration ────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_configuration_lists_what_is_supported(service: Service, product: Product) -> None:
    document = get_configuration(service, product)

    assert document["grant_types_supported"] == ["client_credentials", "password", "refresh_token"]
    assert document["scopes_supported"] == ["openid"]
    assert document["subject_types_supported"] == ["public"]
    assert document["id_token_signing_alg_values_supported"] == ["ES256"]
    assert document["token_endpoint_auth_methods_supported"] == [
        "client_secret_post",
        "client_secret_basic",
    ]


@each_product
def test_the_configuration_is_below_its_issuer(service: Service, product: Product) -> None:
    document = get_configuration(service, product)

    base = "http://127.0.0.1:8080"
    assert document["issuer"] + "/.well-known" == base + WELL_KNOWN[product]


@each_product
def test_the_token_endpoint_of_the_configuration_issues_tokens_of_the_issuer(
    service: Service, product: Product
) -> None:
    document = get_configuration(service, product)

    tokens = service.http.post(document["token_endpoint"], data=client_form(service.organisation))

    assert tokens.status_code == 200
    for name in ("access_token", "id_token"):
        assert decode_claims(tokens.json()[name])["iss"] == document["issuer"]


@each_product
def test_a_library_accepts_the_configuration(service: Service, product: Product) -> None:
    """The library requires https addresses, so they are replaced here."""
    secure = {
        name: value.replace("http://", "https://") if isinstance(value, str) else value
        for name, value in get_configuration(service, product).items()
    }
    metadata = OpenIDProviderMetadata(secure)

    metadata.validate_issuer()
    metadata.validate_token_endpoint()
    metadata.validate_jwks_uri()
    metadata.validate_grant_types_supported()
    metadata.validate_token_endpoint_auth_methods_supported()
    metadata.validate_subject_types_supported()


# ── the keys ─────────────────────────────────────────────────────────────────────────────────────


@each_product
def test_only_public_parts_of_the_keys_are_shown(service: Service, product: Product) -> None:
    keys = get_key_set(service, product)["keys"]

    assert len(keys) >= 2  # the active key and the next one
    assert len({key["kid"] for key in keys}) == len(keys)
    for key in keys:
        assert set(key) == {"kty", "crv", "use", "alg", "kid", "x", "y"}
        assert (key["kty"], key["crv"], key["use"], key["alg"]) == ("EC", "P-256", "sig", "ES256")
        assert len(key["x"]) == len(key["y"]) == 43


def test_the_products_have_different_keys(service: Service) -> None:
    core, portal = ({key["x"] for key in get_key_set(service, each)["keys"]} for each in PRODUCTS)

    assert core.isdisjoint(portal)


@each_product
@pytest.mark.parametrize("name", ["openid-configuration", "jwks.json"])
def test_both_documents_are_public_and_cacheable_for_five_minutes(
    service: Service, product: Product, name: str
) -> None:
    response = service.http.get(f"{WELL_KNOWN[product]}/{name}")

    assert response.status_code == 200
    assert response.headers["cache-control"] == "max-age=300"


# ── verification by clients ──────────────────────────────────────────────────────────────────────


@each_product
def test_pyjwt_verifies_an_access_token_with_the_published_keys(
    service: Service, product: Product
) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    keys = jwt.PyJWKSet.from_dict(get_key_set(service, product))

    claims = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["ES256"],
        audience=product,
        issuer=get_configuration(service, product)["issuer"],
        options={"require": ["exp", "iat", "sub", "iss", "aud", "jti"]},
    )

    assert claims["sub"] == service.organisation.root_user_id
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"


@each_product
def test_joserfc_verifies_an_access_token_with_the_published_keys(
    service: Service, product: Product
) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    keys = KeySet.import_key_set(get_key_set(service, product))  # type: ignore[arg-type]

    decoded = other_jwt.decode(token, keys, algorithms=["ES256"])

    other_jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": get_configuration(service, product)["issuer"]},
        aud={"essential": True, "value": product},
        exp={"essential": True},
    ).validate(decoded.claims)


@each_product
def test_an_id_token_names_the_user_and_is_for_the_client_only(
    service: Service, product: Product
) -> None:
    organisation = service.organisation
    token = issue_tokens(service, password_form(organisation, "root"), product)["id_token"]
    keys = jwt.PyJWKSet.from_dict(get_key_set(service, product))

    claims = jwt.decode(
        token,
        keys[jwt.get_unverified_header(token)["kid"]],
        algorithms=["ES256"],
        audience=organisation.client_id,
        issuer=get_configuration(service, product)["issuer"],
    )

    assert claims["sub"] == organisation.root_user_id
    assert claims["exp"] - claims["iat"] == 300
    assert jwt.get_unverified_header(token)["typ"] == "JWT"


@each_product
def test_the_keys_of_the_other_product_do_not_verify_the_token(
    service: Service, product: Product
) -> None:
    (other,) = set(PRODUCTS) - {product}
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    other_keys = {key["kid"] for key in get_key_set(service, other)["keys"]}

    assert jwt.get_unverified_header(token)["kid"] not in other_keys


@each_product
def test_id_and_refresh_tokens_are_refused_as_access_tokens(
    service: Service, product: Product
) -> None:
    for form in (client_form(service.organisation), password_form(service.organisation, "root")):
        tokens = issue_tokens(service, form, product)

        assert is_token_valid(service, tokens["access_token"])
        assert not is_token_valid(service, tokens["id_token"])
        assert not is_token_valid(service, tokens["refresh_token"])
