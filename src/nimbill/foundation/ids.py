"""Identifiers: a prefix that says what it names, then 130 bits, random or derived."""

import json
import secrets
from hashlib import sha256

# usernames have 18 characters at most, so an id (4 + 26) can never be taken for a name
_CHARACTERS = 26
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"
# 256 is a multiple of 32: every character is as likely as any other
_CHARACTER_OF_BYTE = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))


def new_id(prefix: str) -> str:
    """A fresh identifier such as usr_6f…; lower-case letters and digits only."""
    random = secrets.token_bytes(_CHARACTERS).translate(_CHARACTER_OF_BYTE).decode()
    return f"{prefix}_{random}"


def derived_id(prefix: str, *parts: str | int) -> str:
    """The same identifier whenever the parts are the same; looks like a fresh one."""
    digest = sha256(json.dumps(parts, ensure_ascii=True).encode()).digest()
    return f"{prefix}_{digest[:_CHARACTERS].translate(_CHARACTER_OF_BYTE).decode()}"
