"""Sends a request to an endpoint: only to a checked address, without redirects, in limited time.

The name is resolved once for each attempt. Every address is checked, and the connection is made to
a checked address, so that a later answer of the name server has no effect. TLS verifies the
certificate against the name.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address

import httpx

from nimbill.foundation.settings import Network
from nimbill.webhooks.address_rules import Address, is_address_permitted
from nimbill.webhooks.bodies import DeliveryError
from nimbill.webhooks.url_rules import EndpointAddress, parse_address

TIMEOUT_SECONDS = 20.0
RESOLVER_THREADS = 64  # a name server that does not answer blocks a thread
USER_AGENT = "Nimbill-Webhooks"

_GONE = 410


@dataclass(frozen=True, slots=True)
class Attempt:
    """The response, or why there was none. No error means success."""

    status: int | None
    error: DeliveryError | None


@cache
def _resolver_threads() -> ThreadPoolExecutor:
    """Threads of their own, so that slow names do not delay other work of the process."""
    return ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="webhook-names")


@cache
def get_tls_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()


async def send_request(
    url: str, headers: Mapping[str, str], body: bytes, networks: Sequence[Network]
) -> Attempt:
    """Never raises for what the receiver, its name server or the network does."""
    address = parse_address(url)
    if address is None:
        return Attempt(None, DeliveryError.address_refused)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            ips = await _resolve(address)
            if not all(is_address_permitted(ip, address.scheme, networks) for ip in ips):
                return Attempt(None, DeliveryError.address_refused)
            return _judge(await _post(address, ips, headers, body))
    except (TimeoutError, httpx.TimeoutException):
        return Attempt(None, DeliveryError.timeout)
    except (socket.gaierror, UnicodeError):
        return Attempt(None, DeliveryError.dns)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        is_tls = any(isinstance(cause, ssl.SSLError) for cause in _list_causes(error))
        return Attempt(None, DeliveryError.tls if is_tls else DeliveryError.connection)


async def _resolve(address: EndpointAddress) -> list[Address]:
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(_resolver_threads(), _look_up, address.host, address.port)
    return [ip_address(ip) for ip in dict.fromkeys(found)]


def _look_up(host: str, port: int) -> list[str]:
    return [
        str(sockaddr[0]) for *_, sockaddr in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ]


async def _post(
    address: EndpointAddress, ips: Sequence[Address], headers: Mapping[str, str], body: bytes
) -> int:
    """Try one address after the other until one accepts the connection; return the status."""
    transport = httpx.AsyncHTTPTransport(verify=get_tls_context(), trust_env=False)
    async with httpx.AsyncClient(
        transport=transport, trust_env=False, follow_redirects=False, timeout=TIMEOUT_SECONDS
    ) as client:
        for ip in ips[:-1]:
            try:
                return await _post_to(client, address, ip, headers, body)
            except httpx.ConnectError:
                continue
        return await _post_to(client, address, ips[-1], headers, body)


async def _post_to(
    client: httpx.AsyncClient,
    address: EndpointAddress,
    ip: Address,
    headers: Mapping[str, str],
    body: bytes,
) -> int:
    """The body of the response is not read."""
    host = f"[{ip}]" if ip.version == 6 else str(ip)
    request = client.build_request(
        "POST",
        f"{address.scheme}://{host}:{address.port}{address.target}",
        content=body,
        headers={
            **headers,
            "Host": address.host_header,
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "Connection": "close",
        },
        extensions={"sni_hostname": address.host},  # TLS verifies this name
    )
    response = await client.send(request, stream=True)
    await response.aclose()
    return response.status_code


def _judge(status: int) -> Attempt:
    if 200 <= status < 300:
        return Attempt(status, None)
    if status == _GONE:
        return Attempt(status, DeliveryError.gone)
    is_redirect = 300 <= status < 400
    return Attempt(status, DeliveryError.redirect if is_redirect else DeliveryError.status)


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
