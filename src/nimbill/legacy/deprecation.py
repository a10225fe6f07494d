"""Since when version 3 is deprecated and until when it stays, as every answer of it says."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime

from nimbill.foundation.basis import chosen, stated

basis = stated("Versioning")
dates_basis = chosen("version-3-dates")

PREFIX = "/v3"
DEPRECATED_SINCE = datetime(2026, 11, 15, tzinfo=UTC)
STAYS_UNTIL = datetime(2028, 12, 31, 23, 59, 59, tzinfo=UTC)
ABOUT = "/docs"  # the API page, on which each of its operations stands as deprecated

_LINKS = [f'<{ABOUT}>; rel="{kind}"; type="text/html"' for kind in ("deprecation", "sunset")]

# RFC 9745 and RFC 8594
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"deprecation", f"@{int(DEPRECATED_SINCE.timestamp())}".encode()),
    (b"sunset", format_datetime(STAYS_UNTIL, usegmt=True).encode()),
    (b"link", ", ".join(_LINKS).encode()),
)


def headers_at(path: str) -> Sequence[tuple[bytes, bytes]]:
    """Of every answer under the prefix, refusals and paths that are none included."""
    return HEADERS if is_of_version_3(path) else ()


def is_of_version_3(path: str) -> bool:
    return path == PREFIX or path.startswith(f"{PREFIX}/")
