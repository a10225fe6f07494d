"""Events go to public addresses only, and to networks that the operator permits."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest

from nimbill.webhooks.address_rules import REFUSED_NETWORKS, is_address_permitted

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "172.31.255.255",
        "192.0.0.8",
        "192.168.0.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_address_permitted(ip_address(address), "https", ())


@pytest.mark.parametrize("network", REFUSED_NETWORKS, ids=str)
def test_both_ends_of_every_listed_network_are_refused(network: object) -> None:
    first, last = network[0], network[-1]  # type: ignore[index]
    assert not is_address_permitted(first, "https", ())
    assert not is_address_permitted(last, "https", ())


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"]
)
def test_public_addresses_are_permitted_for_https_only(address: str) -> None:
    assert is_address_permitted(ip_address(address), "https", ())
    assert not is_address_permitted(ip_address(address), "http", ())
    assert not is_address_permitted(ip_address(address), "http", LOOPBACK)


def test_networks_of_the_operator_are_permitted_also_for_http() -> None:
    assert is_address_permitted(ip_address("127.0.0.1"), "http", LOOPBACK)
    assert is_address_permitted(ip_address("::ffff:127.0.0.1"), "https", LOOPBACK)
    assert not is_address_permitted(ip_address("10.0.0.1"), "https", LOOPBACK)
    assert not is_address_permitted(ip_address("::1"), "http", LOOPBACK)
