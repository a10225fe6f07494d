"""Limits on failed logins per minute, by address and by client, and the delay of refusals."""

import asyncio
import random
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from litestar import Request

from nimbill.access.login_failures import (
    UNKNOWN_ORGANISATION,
    FailureCount,
    add_attempt,
    count_of_address,
    count_of_client,
    refuse_if_reached,
)
from nimbill.access.passwords import lane_of_client, refuse_login_if_full
from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.errors import TooManyRequests
from nimbill.foundation.settings import Network

# See docs/choices.md, login-throttle.

HOPS_MAX = 16
DELAYED_CODES = ("logins_failing", "logins_waiting")
# Random delay per second of Retry-After, so that refused clients do not return all at once.
DELAY_SECONDS = (0.5, 1.5)
DELAY_FACTOR_MAX = 3
IPV6_PREFIX_BITS = 64  # group IPv6 clients by /64


async def refuse_if_too_many(
    request: Request[Any, Any, Any], resources: Resources, *, client_id: str | None = None
) -> None:
    """Refuse an address or a client with too many failures, before a password is checked.

    NIMBILL_RATE_LIMIT=0 turns this limit off, but not the limit of attempts per user name.
    """
    counts = [count_of_address(get_source(request, resources))]
    if client_id is not None:
        source = get_client_source(client_id)
        refuse_login_if_full(lane_of_client(source), source)
        counts.append(count_of_client(client_id))
    if resources.settings.rate_limit:
        async with transaction(resources.engine, UNKNOWN_ORGANISATION.organisation_id) as db:
            await refuse_if_reached(db, *counts)


async def count_failure(request: Request[Any, Any, Any], resources: Resources) -> None:
    """Count a failure of the address; beyond the limit it is refused with 429 instead."""
    await _count(resources, count_of_address(get_source(request, resources)))


async def count_client_failure(client_id: str, resources: Resources) -> None:
    """Only failures with a correct secret are counted."""
    await _count(resources, count_of_client(client_id))


async def _count(resources: Resources, count: FailureCount) -> None:
    """Beyond the limit only read, so that a flood that ignores the refusal writes nothing."""
    if resources.settings.rate_limit:
        async with transaction(resources.engine, UNKNOWN_ORGANISATION.organisation_id) as db:
            await refuse_if_reached(db, count)
            await add_attempt(db, count)


def get_client_source(client_id: str) -> str:
    return f"client {client_id}"


async def delay_refusal(
    request: Request[Any, Any, Any], resources: Resources, error: TooManyRequests
) -> None:
    """Count an attempt on a throttled user name as failed, and delay other refusals.

    Clients that ignore Retry-After would otherwise return at once.
    """
    if error.code == "login_throttled":
        await count_failure(request, resources)
    if error.code in DELAYED_CODES:
        factor = min(error.retry_after, DELAY_FACTOR_MAX)
        await asyncio.sleep(random.uniform(*DELAY_SECONDS) * factor)


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
