"""Signed links to a file: no token needed, gone after ten minutes or with their maker."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

from nimbill import clock
from nimbill.basis import chosen
from nimbill.errors import not_found
from nimbill.seal import Sealer

basis = chosen("download-links")

LINK_SECONDS = 600
_KEY_VERSION = "1"
_PLAIN = re.compile(r"[A-Za-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True)
class Link:
    """Which file of which organisation, who made the link with what, and until when it works."""

    organisation_id: str
    export_id: str
    user_id: str
    client_id: str
    epoch: int
    expires_at: int


def signed_address(base_url: str, sealer: Sealer, link: Link) -> str:
    query = {
        "o": link.organisation_id,
        "u": link.user_id,
        "c": link.client_id,
        "p": link.epoch,
        "e": link.expires_at,
        "k": _KEY_VERSION,
        "s": _signature(sealer, link),
    }
    return f"{base_url}/d/{link.export_id}?{urlencode(query)}"


def read_link(sealer: Sealer, export_id: str, query: Mapping[str, list[str]]) -> Link:
    """The link, if every part of it is as we signed it and it has not expired; 404 otherwise."""
    parts = {name: values[0] for name, values in query.items() if len(values) == 1}
    if set(parts) != set("oucpeks") or len(parts) != len(query):
        raise not_found()
    if not all(_PLAIN.fullmatch(part) for part in (export_id, *parts.values())):
        raise not_found()
    link = Link(
        organisation_id=parts["o"],
        export_id=export_id,
        user_id=parts["u"],
        client_id=parts["c"],
        epoch=_number(parts["p"]),
        expires_at=_number(parts["e"]),
    )
    sound = parts["k"] == _KEY_VERSION and (str(link.epoch), str(link.expires_at)) == (
        parts["p"],
        parts["e"],
    )
    if not hmac.compare_digest(_signature(sealer, link), parts["s"]) or not sound:
        raise not_found()
    if clock.unix_seconds() > link.expires_at:
        raise not_found()
    return link


def _number(written: str) -> int:
    if not written.isascii() or not written.isdigit() or len(written) > 12:
        raise not_found()
    return int(written)


def _signature(sealer: Sealer, link: Link) -> str:
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
