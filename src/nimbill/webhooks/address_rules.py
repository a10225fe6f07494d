"""Which IP addresses events are sent to: public ones, and networks that the operator permits."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_network

from nimbill.foundation.basis import chosen
from nimbill.foundation.settings import Network

basis = chosen("webhook-addresses")

Address = IPv4Address | IPv6Address

# Listed here because the attributes of `ipaddress` differ between releases of Python.
REFUSED_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, with the metadata services of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "2001::/23",  # protocol assignments, with Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4 contains an IPv4 address
        "3fff::/20",  # documentation
    )
)
# Everything else of IPv6 is loopback, private, link-local, multicast, mapped IPv4 or unassigned.
PUBLIC_IPV6 = ip_network("2000::/3")


def is_address_permitted(address: Address, scheme: str, networks: Sequence[Network]) -> bool:
    """`networks` are permitted by the operator, also for http."""
    address = _unwrap(address)
    if any(address in network for network in networks):
        return True
    return scheme == "https" and _is_public(address)


def _unwrap(address: Address) -> Address:
    """Return the IPv4 address of ::ffff:10.0.0.1, which connects to it."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in PUBLIC_IPV6:
        return False
    return address.is_global and not any(address in network for network in REFUSED_NETWORKS)
