"""Signed links to a file: no token needed, gone after ten minutes or with their maker."""

import hmac
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode

from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found

basis = chosen("download-links")

LINK_SECONDS = 600
_KEY_VERSION = "1"
_DIGITS_MAX = 12


@dataclass(frozen=True, slots=True)
class Link:
    """Which file of which organisation, who made the link with what, and until when it works."""

    organisation_id: str
    export_id: str
    user_id: str
    client_id: str
    epoch: int
    expires_at: int


def signed_address(base_url: str, sealer: Encryptor, link: Link) -> str:
    return base_url + _path_and_query(sealer, link)


def read_link(sealer: Encryptor, export_id: str, path: bytes, query: bytes) -> Link:
    """The link, where path and query are byte for byte what we wrote, and in time; 404 otherwise.

    What is written differently and means the same, a slash more or a letter escaped, is no link.
    """
    parts = dict(parse_qsl(query.decode("ascii", "replace")))
    link = Link(
        organisation_id=parts.get("o", ""),
        export_id=export_id,
        user_id=parts.get("u", ""),
        client_id=parts.get("c", ""),
        epoch=_number(parts.get("p", "")),
        expires_at=_number(parts.get("e", "")),
    )
    written = _path_and_query(sealer, link).encode()
    if not hmac.compare_digest(written, path + b"?" + query):
        raise not_found()
    if clock.unix_seconds() >= link.expires_at:
        raise not_found()
    return link


def _path_and_query(sealer: Encryptor, link: Link) -> str:
    query = {
        "o": link.organisation_id,
        "u": link.user_id,
        "c": link.client_id,
        "p": link.epoch,
        "e": link.expires_at,
        "k": _KEY_VERSION,
        "s": _signature(sealer, link),
    }
    return f"/d/{link.export_id}?{urlencode(query)}"


def _number(written: str) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > _DIGITS_MAX:
        raise not_found()
    return int(written)


def _signature(sealer: Encryptor, link: Link) -> str:
    signed = "|".join(
        [
            "v1",
            "GET",
            link.organisation_id,
            link.export_id,
            link.user_id,
            link.client_id,
            str(link.epoch),
            str(link.expires_at),
        ]
    )
    return hmac.new(sealer.derived("download links"), signed.encode(), sha256).hexdigest()
