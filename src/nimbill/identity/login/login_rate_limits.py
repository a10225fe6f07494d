"""How many logins may fail in a minute, by address and by client; counted per worker process."""

import asyncio
import random
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from limits import RateLimitItemPerMinute
from litestar import Request

from nimbill.access.passwords import refuse_login_if_crowded, ring_of_client
from nimbill.access.request_context import Resources
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import TooMany
from nimbill.foundation.settings import Network

basis = chosen("login-throttle")

FAILURES_MAX = RateLimitItemPerMinute(100)
FAILURES_PER_CLIENT_MAX = RateLimitItemPerMinute(60)
HOPS_MAX = 16
REFUSED_SLOWLY = ("logins_failing", "logins_waiting")
# between these for each second he is asked to stay away: so a crowd does not come back as one
SLOWLY_SECONDS = (0.5, 1.5)
SLOWLY_TIMES_MAX = 3
SLOWLY_AT_ONCE_MAX = 1_000
NEIGHBOURS = 64  # so many bits of a newer address belong to one household

_refused_slowly = 0


def refuse_if_too_many(request: Request[Any, Any, Any], resources: Resources) -> None:
    """Off with the request rates, NIMBILL_RATE_LIMIT=0; guesses per name are counted always."""
    if resources.settings.rate_limit and not resources.login_failures.test(
        FAILURES_MAX, source_of(request, resources)
    ):
        raise TooMany("logins_failing", "too many failed logins from this address", retry_after=60)


def count(request: Request[Any, Any, Any], resources: Resources) -> None:
    resources.login_failures.hit(FAILURES_MAX, source_of(request, resources))


def refuse_client_if_too_many(client_id: str, resources: Resources) -> None:
    """Asked before the client is looked up; only failures of who knew its secret are counted."""
    source = source_of_client(client_id)
    if resources.settings.rate_limit and not resources.login_failures.test(
        FAILURES_PER_CLIENT_MAX, source
    ):
        raise TooMany("logins_failing", "too many failed logins by this client", retry_after=60)
    refuse_login_if_crowded(ring_of_client(source), source)


def count_client(client_id: str, resources: Resources) -> None:
    resources.login_failures.hit(FAILURES_PER_CLIENT_MAX, source_of_client(client_id))


def source_of_client(client_id: str) -> str:
    return f"client {client_id}"


async def told_too_many(
    request: Request[Any, Any, Any], resources: Resources, error: TooMany
) -> None:
    """A guess at a name that is guessed at too often fails too, and counts by its address."""
    if error.code == "login_throttled":
        count(request, resources)
    await _refuse_slowly(error)


async def _refuse_slowly(error: TooMany) -> None:
    """Whoever is sent away for being many comes back at once: to wait costs us nothing."""
    global _refused_slowly
    if error.code not in REFUSED_SLOWLY or _refused_slowly >= SLOWLY_AT_ONCE_MAX:
        return
    _refused_slowly += 1
    try:
        times = min(error.retry_after, SLOWLY_TIMES_MAX)
        await asyncio.sleep(random.uniform(*SLOWLY_SECONDS) * times)
    finally:
        _refused_slowly -= 1


def source_of(request: Request[Any, Any, Any], resources: Resources) -> str:
    """The caller's address; of the newer kind the part that one household shares."""
    written = address_of(request, resources.settings.trusted_proxies)
    try:
        address = ip_address(written)
    except ValueError:
        return written
    if not isinstance(address, IPv6Address) or address.ipv4_mapped:
        return written
    return str(IPv6Network((int(address) >> NEIGHBOURS << NEIGHBOURS, NEIGHBOURS)))


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
