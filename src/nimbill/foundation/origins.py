"""The origin of an address, as browsers send it."""

from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}


def format_origin(address: str) -> str:
    """Format an origin as browsers do: in lower case, without the default port."""
    parts = urlsplit(address.lower())
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    explicit_port = parts.port not in (None, DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if explicit_port else "")
