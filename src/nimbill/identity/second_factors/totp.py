"""Codes of authenticator apps: time-based one-time passwords (RFC 6238, on RFC 4226)."""

import base64
import hmac
import struct
from hashlib import sha1
from typing import Any
from urllib.parse import quote, urlencode

SECRET_BYTES = 20  # as long as the hash, as RFC 4226 recommends
STEP_SECONDS = 30
DIGITS = 6
TOLERATED_STEPS = 1  # before and after the present one, for clocks that differ and slow typing


def compute_code(secret: bytes, step: int, *, digits: int = DIGITS, algorithm: Any = sha1) -> str:
    """Compute the code of a time step: the seconds since 1970 divided by 30."""
    digest = hmac.digest(secret, struct.pack(">Q", step), algorithm)
    offset = digest[-1] & 0x0F
    (number,) = struct.unpack(">I", digest[offset : offset + 4])
    return str((number & 0x7FFF_FFFF) % 10**digits).zfill(digits)


def find_step(secret: bytes, code: str, *, unix_seconds: int, last_step: int) -> int | None:
    """Find the time step of a code near this time, later than the one that was used last.

    Every step is compared, so that the time does not tell which one matches.
    """
    now = unix_seconds // STEP_SECONDS
    found = None
    for step in range(now - TOLERATED_STEPS, now + TOLERATED_STEPS + 1):
        matches = hmac.compare_digest(compute_code(secret, step).encode(), code.encode())
        if matches and step > last_step:
            found = step
    return found


def encode_secret(secret: bytes) -> str:
    """Encode the secret as a person can type it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def format_key_uri(secret: bytes, issuer: str, username: str) -> str:
    """Format the address that apps read, often from a picture."""
    issuer = issuer.replace(":", " ")  # a colon ends the issuer
    values = {"secret": encode_secret(secret), "issuer": issuer}
    # Some apps read the issuer from the label alone. Escaped, a Japanese name would be so long that
    # cameras could hardly read the picture, so it is not repeated.
    label = quote(f"{issuer}:{username}" if issuer.isascii() else username, safe=":")
    return f"otpauth://totp/{label}?{urlencode(values, quote_via=quote)}"
