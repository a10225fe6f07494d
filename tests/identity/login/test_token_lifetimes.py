"""Lifetimes of access tokens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from nimbill.foundation.product import Product
from nimbill.foundation.settings import read_settings
from nimbill.legacy.settings import read_legacy_settings  # version 3
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.identity.login.token_requests import (
    PRODUCTS,
    client_form,
    decode_claims,
    is_token_valid,
    issue_tokens,
)
from tests.running_service import Service, running_service


@pytest.fixture(scope="module")
def short_lived(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Another service on the same database, with shorter lifetimes."""
    with running_service(
        running.database_url,
        tmp_path_factory.mktemp("short"),
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_CORE_TOKEN_SECONDS="60",
        NIMBILL_PORTAL_TOKEN_SECONDS="120",
        NIMBILL_LEGACY_TOKEN_SECONDS="180",  # version 3
    ) as service:
        yield service


def test_the_default_lifetimes_are_a_day_and_for_version_3_half_a_day() -> None:
    settings = read_settings({})

    assert settings.core_token_seconds == 86_400
    assert settings.portal_token_seconds == 86_400
    assert read_legacy_settings(settings).token_seconds == 43_200  # version 3


@pytest.mark.parametrize(
    ("product", "seconds"),
    [
        (Product.core, 60),
        (Product.portal, 120),
        (LEGACY, 180),  # version 3
    ],
)
def test_every_lifetime_is_a_setting(short_lived: Service, product: Product, seconds: int) -> None:
    tokens = issue_tokens(short_lived, client_form(short_lived.organisation), product)

    assert tokens["expires_in"] == seconds
    claims = decode_claims(tokens["access_token"])
    assert claims["exp"] - claims["iat"] == seconds


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("cached", [True, False])
def test_a_token_expires_five_seconds_after_its_expiry_time(
    service: Service, product: Product, *, cached: bool
) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]
    if cached:
        assert is_token_valid(service, token)
    end = datetime.fromtimestamp(decode_claims(token)["exp"], UTC)

    with time_machine.travel(end + timedelta(seconds=4.9), tick=False):
        assert is_token_valid(service, token)
    with time_machine.travel(end + timedelta(seconds=5), tick=False):
        assert not is_token_valid(service, token)


def test_a_token_with_a_longer_lifetime_than_the_setting_is_invalid(
    service: Service, short_lived: Service
) -> None:
    token = issue_tokens(service, client_form(service.organisation))["access_token"]

    assert is_token_valid(service, token)
    assert not is_token_valid(short_lived, token)


@pytest.mark.parametrize("cached", [True, False])
def test_a_token_issued_in_the_future_is_invalid_until_then(
    service: Service, *, cached: bool
) -> None:
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(seconds=60), tick=False):
        token = issue_tokens(service, client_form(service.organisation))["access_token"]
        if cached:
            assert is_token_valid(service, token)

    with time_machine.travel(now, tick=False):
        assert not is_token_valid(service, token)
    with time_machine.travel(now + timedelta(seconds=56), tick=False):
        assert is_token_valid(service, token)
