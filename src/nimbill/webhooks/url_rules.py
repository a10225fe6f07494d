"""Which addresses an endpoint may have. Host names are resolved and checked at each delivery."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from nimbill.foundation.basis import chosen
from nimbill.foundation.settings import Network
from nimbill.webhooks.address_rules import is_address_permitted

basis = chosen("webhook-addresses")

RULE = (
    "an https address of a public server, in printable ASCII, without user name, password and "
    "fragment"
)
PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    scheme: str
    host: str
    port: int
    target: str  # path and query

    @property
    def host_header(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == PORTS[self.scheme] else f"{name}:{self.port}"


def parse_address(url: str) -> EndpointAddress | None:
    """Return None if the URL violates the rule."""
    if not all("!" <= character <= "~" for character in url) or "#" in url or "\\" in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or "@" in parts.netloc or port == 0:
        return None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return EndpointAddress(parts.scheme, parts.hostname, port or PORTS[parts.scheme], target)


def is_url_permitted(url: str, networks: Sequence[Network]) -> bool:
    """http needs networks that the operator permits; an IP address is checked at once."""
    address = parse_address(url)
    if address is None or (address.scheme == "http" and not networks):
        return False
    try:
        ip = ip_address(address.host)
    except ValueError:
        return True
    return is_address_permitted(ip, address.scheme, networks)
