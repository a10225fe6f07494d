"""Identifiers: a prefix that says what it names, then 128 random bits."""

import base64
import secrets

# usernames have 18 characters at most, so an id (4 + 26) can never be taken for a name


def new_id(prefix: str) -> str:
    """A fresh identifier such as usr_6f…; lower-case letters and digits only."""
    random = base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
    return f"{prefix}_{random}"
