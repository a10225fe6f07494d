"""The end of life of a part of the API, as responses and the OpenAPI document announce it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime


@dataclass(frozen=True, slots=True)
class Deprecation:
    """All paths under a prefix are deprecated since one date and are removed after another."""

    prefix: str
    since: datetime
    until: datetime
    documentation: str  # the path of a page that explains it

    def covers(self, path: str) -> bool:
        return path == self.prefix or path.startswith(f"{self.prefix}/")

    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the links that both define."""
        links = [
            f'<{self.documentation}>; rel="{relation}"; type="text/html"'
            for relation in ("deprecation", "sunset")
        ]
        return (
            (b"deprecation", f"@{int(self.since.timestamp())}".encode()),
            (b"sunset", format_datetime(self.until, usegmt=True).encode()),
            (b"link", ", ".join(links).encode()),
        )
