"""The site that passkeys belong to."""

from __future__ import annotations

import pytest

from nimbill.foundation.settings import read_settings
from nimbill.identity.second_factors.passkeys import PasskeySite, find_site


@pytest.mark.parametrize(
    ("address", "site"),
    [
        (None, PasskeySite("localhost", "http://localhost:8080")),
        ("http://127.0.0.1:9000", PasskeySite("localhost", "http://localhost:9000")),
        ("http://[::1]", PasskeySite("localhost", "http://localhost")),
        ("http://localhost:8080", PasskeySite("localhost", "http://localhost:8080")),
        (
            "https://Billing.Example.com:443/nimbill",
            PasskeySite("billing.example.com", "https://billing.example.com"),
        ),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]:8443", None),
    ],
)
def test_the_site_is_the_host_name_of_the_service(
    address: str | None, site: PasskeySite | None
) -> None:
    environment = {} if address is None else {"NIMBILL_BASE_URL": address}

    assert find_site(read_settings(environment)) == site


def test_a_service_without_an_address_uses_the_port_that_it_listens_at() -> None:
    settings = read_settings({"NIMBILL_LISTENS_AT": "http://127.0.0.1:40123"})

    assert find_site(settings) == PasskeySite("localhost", "http://localhost:40123")
