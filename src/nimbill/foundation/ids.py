"""Identifiers: a prefix for the type of record, then 130 random or derived bits."""

import json
import secrets
from hashlib import sha256

# An id has 30 characters and a username at most 18, so they cannot be confused.
_CHARACTERS = 26
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"
# 256 is a multiple of 32, so all characters are equally likely.
_BYTE_TO_CHARACTER = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))


def new_id(prefix: str) -> str:
    """Return a random identifier such as usr_6f…, of lower-case letters and digits."""
    random = secrets.token_bytes(_CHARACTERS).translate(_BYTE_TO_CHARACTER).decode()
    return f"{prefix}_{random}"


def derive_id(prefix: str, *parts: str | int) -> str:
    """Return the same identifier for the same parts, in the format of `new_id`."""
    digest = sha256(json.dumps(parts, ensure_ascii=True).encode()).digest()
    return f"{prefix}_{digest[:_CHARACTERS].translate(_BYTE_TO_CHARACTER).decode()}"
