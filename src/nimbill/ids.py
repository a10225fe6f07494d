"""Identifiers: a prefix that says what it names, then 130 random bits."""

import secrets

# usernames have 18 characters at most, so an id (4 + 26) can never be taken for a name
_CHARACTERS = 26
_ALPHABET = b"abcdefghijklmnopqrstuvwxyz234567"
# 256 is a multiple of 32: every character is as likely as any other
_CHARACTER_OF_BYTE = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))


def new_id(prefix: str) -> str:
    """A fresh identifier such as usr_6f…; lower-case letters and digits only."""
    random = secrets.token_bytes(_CHARACTERS).translate(_CHARACTER_OF_BYTE).decode()
    return f"{prefix}_{random}"
