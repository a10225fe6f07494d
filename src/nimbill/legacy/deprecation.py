"""Since when version 3 is deprecated, and until when it is available."""

from datetime import UTC, datetime

from nimbill.http.deprecation import Deprecation

# See docs/choices.md, legacy-sunset.

VERSION_3 = Deprecation(
    prefix="/v3",
    since=datetime(2026, 11, 15, tzinfo=UTC),
    until=datetime(2028, 12, 31, 23, 59, 59, tzinfo=UTC),
    documentation="/docs",  # the API page, which marks each of its operations as deprecated
)
