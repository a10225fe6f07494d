"""Signed download links that need no token and expire after ten minutes."""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode

from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found

LINK_SECONDS = 600
_KEY_VERSION = "1"
_DIGITS_MAX = 12


@dataclass(frozen=True, slots=True)
class DownloadLink:
    """The file, the credentials of the user who created the link, and its expiry time."""

    organisation_id: str
    export_id: str
    user_id: str
    client_id: str
    family_id: str  # "" if the access token belongs to no family of refresh tokens
    epoch: int
    expires_at: int


def build_signed_url(base_url: str, encryptor: Encryptor, link: DownloadLink) -> str:
    return base_url + _build_path_and_query(encryptor, link)


def verify_link(encryptor: Encryptor, export_id: str, path: bytes, query: bytes) -> DownloadLink:
    """Return the link, or 404 if it has expired or path and query differ from the signed bytes.

    An equivalent spelling, such as an extra slash or an escaped letter, is refused.
    """
    parts = dict(parse_qsl(query.decode("ascii", "replace")))
    link = DownloadLink(
        organisation_id=parts.get("o", ""),
        export_id=export_id,
        user_id=parts.get("u", ""),
        client_id=parts.get("c", ""),
        family_id=parts.get("f", ""),
        epoch=_parse_number(parts.get("p", "")),
        expires_at=_parse_number(parts.get("e", "")),
    )
    expected = _build_path_and_query(encryptor, link).encode()
    if not hmac.compare_digest(expected, path + b"?" + query):
        raise not_found()
    if clock.unix_seconds() >= link.expires_at:
        raise not_found()
    return link


def _build_path_and_query(encryptor: Encryptor, link: DownloadLink) -> str:
    query = {
        "o": link.organisation_id,
        "u": link.user_id,
        "c": link.client_id,
        **({"f": link.family_id} if link.family_id else {}),
        "p": link.epoch,
        "e": link.expires_at,
        "k": _KEY_VERSION,
        "s": _sign(encryptor, link),
    }
    return f"/d/{link.export_id}?{urlencode(query)}"


def _parse_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS_MAX:
        raise not_found()
    return int(text)


def _sign(encryptor: Encryptor, link: DownloadLink) -> str:
    message = "|".join(
        [
            "v1",
            "GET",
            link.organisation_id,
            link.export_id,
            link.user_id,
            link.client_id,
            link.family_id,
            str(link.epoch),
            str(link.expires_at),
        ]
    )
    return hmac.new(encryptor.derive_key("download links"), message.encode(), sha256).hexdigest()
