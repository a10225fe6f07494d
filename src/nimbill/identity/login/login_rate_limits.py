"""Limits on failed logins per minute, by address and by client; counted per worker process."""

import asyncio
import random
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from limits import RateLimitItemPerMinute
from litestar import Request

from nimbill.access.passwords import lane_of_client, refuse_login_if_full
from nimbill.access.request_context import Resources
from nimbill.foundation.errors import TooManyRequests
from nimbill.foundation.settings import Network

# See docs/choices.md, login-throttle.

FAILURES_MAX = RateLimitItemPerMinute(100)
FAILURES_PER_CLIENT_MAX = RateLimitItemPerMinute(60)
HOPS_MAX = 16
DELAYED_CODES = ("logins_failing", "logins_waiting")
# Random delay per second of Retry-After, so that refused clients do not return all at once.
DELAY_SECONDS = (0.5, 1.5)
DELAY_FACTOR_MAX = 3
DELAYED_REQUESTS_MAX = 1_000
IPV6_PREFIX_BITS = 64  # group IPv6 clients by /64

_delayed_requests = 0


def refuse_if_too_many(request: Request[Any, Any, Any], resources: Resources) -> None:
    """NIMBILL_RATE_LIMIT=0 turns this limit off, but not the limit of attempts per user name."""
    if resources.settings.rate_limit and not resources.login_failures.test(
        FAILURES_MAX, get_source(request, resources)
    ):
        raise TooManyRequests(
            "logins_failing",
            "Too many failed logins from this address. Try again later.",
            retry_after=60,
        )


def count_failure(request: Request[Any, Any, Any], resources: Resources) -> None:
    resources.login_failures.hit(FAILURES_MAX, get_source(request, resources))


def refuse_client_if_too_many(client_id: str, resources: Resources) -> None:
    """Checked before the client is looked up. Only failures with a correct secret are counted."""
    source = get_client_source(client_id)
    if resources.settings.rate_limit and not resources.login_failures.test(
        FAILURES_PER_CLIENT_MAX, source
    ):
        raise TooManyRequests(
            "logins_failing",
            "Too many failed logins by this client. Try again later.",
            retry_after=60,
        )
    refuse_login_if_full(lane_of_client(source), source)


def count_client_failure(client_id: str, resources: Resources) -> None:
    resources.login_failures.hit(FAILURES_PER_CLIENT_MAX, get_client_source(client_id))


def get_client_source(client_id: str) -> str:
    return f"client {client_id}"


async def delay_refusal(
    request: Request[Any, Any, Any], resources: Resources, error: TooManyRequests
) -> None:
    """Count an attempt on a throttled user name as failed, and delay the refusal."""
    if error.code == "login_throttled":
        count_failure(request, resources)
    await _delay(error)


async def _delay(error: TooManyRequests) -> None:
    """Delay the response, because clients that ignore Retry-After would return at once."""
    global _delayed_requests
    if error.code not in DELAYED_CODES or _delayed_requests >= DELAYED_REQUESTS_MAX:
        return
    _delayed_requests += 1
    try:
        factor = min(error.retry_after, DELAY_FACTOR_MAX)
        await asyncio.sleep(random.uniform(*DELAY_SECONDS) * factor)
    finally:
        _delayed_requests -= 1


def get_source(request: Request[Any, Any, Any], resources: Resources) -> str:
    """Return the client address, or the /64 network of an IPv6 address."""
    text = get_client_address(request, resources.settings.trusted_proxies)
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address) or address.ipv4_mapped:
        return text
    return str(
        IPv6Network((int(address) >> IPV6_PREFIX_BITS << IPV6_PREFIX_BITS, IPV6_PREFIX_BITS))
    )


def get_client_address(request: Request[Any, Any, Any], proxies: tuple[Network, ...]) -> str:
    """Return the peer address; behind trusted proxies, the last address that is no such proxy."""
    peer = request.scope["client"][0] if request.scope["client"] else ""
    # A proxy appends to the existing header or adds another one.
    forwarded = ",".join(request.headers.getall("x-forwarded-for", []))
    hops = [*(hop.strip() for hop in forwarded.split(",") if hop.strip()), peer]
    for hop in reversed(hops[-HOPS_MAX:]):
        if not _is_trusted_proxy(hop, proxies):
            return hop
    return hops[-1]


def _is_trusted_proxy(hop: str, proxies: tuple[Network, ...]) -> bool:
    try:
        address = ip_address(hop)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped  # an IPv4 peer of a dual-stack socket
    return any(address in network for network in proxies)
