"""How many logins may fail from one address in a minute; counted per worker process."""

from ipaddress import IPv6Address, ip_address
from typing import Any

from limits import RateLimitItemPerMinute
from litestar import Request

from nimbill.access.visit import Resources
from nimbill.basis import chosen
from nimbill.errors import TooMany
from nimbill.settings import Network

basis = chosen("login-throttle")

FAILURES_MAX = RateLimitItemPerMinute(100)
HOPS_MAX = 16


def refuse_if_too_many(request: Request[Any, Any, Any], resources: Resources) -> None:
    """Off with the request rates, NIMBILL_RATE_LIMIT=0; guesses per name are counted always."""
    if resources.settings.rate_limit and not resources.login_failures.test(
        FAILURES_MAX, address_of(request, resources.settings.trusted_proxies)
    ):
        raise TooMany("logins_failing", "too many failed logins from this address", retry_after=60)


def count(request: Request[Any, Any, Any], resources: Resources) -> None:
    address = address_of(request, resources.settings.trusted_proxies)
    resources.login_failures.hit(FAILURES_MAX, address)


def address_of(request: Request[Any, Any, Any], proxies: tuple[Network, ...]) -> str:
    """Who connected; behind trusted proxies, the last address that is not one of theirs."""
    connected = request.scope["client"][0] if request.scope["client"] else ""
    # a proxy appends: to the line it finds, or as one more line below it
    named = ",".join(request.headers.getall("x-forwarded-for", []))
    hops = [*(hop.strip() for hop in named.split(",") if hop.strip()), connected]
    for hop in reversed(hops[-HOPS_MAX:]):
        if not _within(hop, proxies):
            return hop
    return hops[-1]


def _within(hop: str, proxies: tuple[Network, ...]) -> bool:
    try:
        address = ip_address(hop)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped  # how a socket for both kinds names the older one
    return any(address in network for network in proxies)
