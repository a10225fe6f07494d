"""Request and response bodies of the portal's branding."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from nimbill.customers.portal_branding.logo_rules import LOGO_BYTES_MAX, find_logo_violations
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length

# Base64 has four characters for three bytes. Longer texts are refused without decoding.
ENCODED_MAX = 2 * LOGO_BYTES_MAX


class PortalLogoBody(Body, frozen=True, kw_only=True):
    """The file in base64. Its format is recognised by its content."""

    basis: ClassVar[Basis] = chosen("portal-branding")

    content: Annotated[str, text_length(1, ENCODED_MAX)]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        content = sent.get("content")
        if not isinstance(content, str) or not 1 <= len(content) <= ENCODED_MAX:
            return
        try:
            decoded = decode_content(content)
        except (ValueError, binascii.Error):
            yield Violation("content", "a file in base64")
            return
        yield from find_logo_violations(decoded)


def decode_content(content: str) -> bytes:
    return base64.b64decode(content, validate=True)


class PortalLogo(Body, frozen=True, kw_only=True):
    """`logo` is the public address of the file."""

    basis: ClassVar[Basis] = chosen("portal-branding")

    logo: str
    media_type: str
    width: int
    height: int
