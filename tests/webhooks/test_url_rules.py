"""The address of an endpoint is an https URL without credentials."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from nimbill.webhooks.url_rules import EndpointAddress, is_url_permitted, parse_address

LOOPBACK = (ip_network("127.0.0.0/8"),)


def test_an_address_has_parts() -> None:
    assert parse_address("https://Example.com/a/b?c=d") == EndpointAddress(
        "https", "example.com", 443, "/a/b?c=d"
    )
    assert parse_address("https://example.com:8443") == EndpointAddress(
        "https", "example.com", 8443, "/"
    )
    assert parse_address("http://example.com?x") == EndpointAddress(
        "http", "example.com", 80, "/?x"
    )


def test_the_host_header_names_an_unusual_port() -> None:
    assert EndpointAddress("https", "example.com", 443, "/").host_header == "example.com"
    assert EndpointAddress("http", "example.com", 443, "/").host_header == "example.com:443"
    assert EndpointAddress("https", "2606:4700::1", 443, "/").host_header == "[2606:4700::1]"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user@example.com/",
        "https://user:password@example.com/",
        "https://@example.com/",
        "https://example.com/#fragment",
        "https://example.com:0/",
        "https://example.com:99999/",
        "https://example.com:port/",
        "https://exa mple.com/",
        "https://example.com/\r\nX: y",
        "https://example.com\\@127.0.0.1/",
        "https://例え.jp/",
        "https://[::1/",
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:169.254.169.254]/",
    ],
)
def test_these_urls_are_refused(url: str) -> None:
    assert not is_url_permitted(url, ())


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://example.com:8443/x?y=z", "https://1.1.1.1/"]
)
def test_these_urls_are_permitted(url: str) -> None:
    assert is_url_permitted(url, ())


def test_http_needs_a_permitted_network() -> None:
    assert not is_url_permitted("http://example.com/", ())
    assert is_url_permitted("http://receiver.test/", LOOPBACK)
    assert is_url_permitted("http://127.0.0.1:9000/", LOOPBACK)
    assert not is_url_permitted("http://1.1.1.1/", LOOPBACK)
