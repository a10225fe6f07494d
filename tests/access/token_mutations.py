"""Random small mutations of valid tokens."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.access.forged_tokens import ALPHABET, decode_base64url, encode_base64url


def mutate_token(random: Random, token: str) -> str:
    """Apply one to three random mutations."""
    changed = token
    for _ in range(random.randint(1, 3)):
        changed = random.choice(_MUTATIONS)(random, changed)
    return changed


def _replace(random: Random, token: str) -> str:
    at = random.randrange(len(token))
    return token[:at] + random.choice(ALPHABET) + token[at + 1 :]


def _drop(random: Random, token: str) -> str:
    at = random.randrange(len(token))
    return token[:at] + token[at + random.randint(1, 4) :]


def _insert(random: Random, token: str) -> str:
    at = random.randrange(len(token) + 1)
    return token[:at] + random.choice("Ab0-_.=+/ ~%") + token[at:]


def _swap(random: Random, token: str) -> str:
    parts = token.split(".")
    first, second = random.randrange(len(parts)), random.randrange(len(parts))
    parts[first], parts[second] = parts[second], parts[first]
    return ".".join(parts)


def _flip_bit(random: Random, token: str) -> str:
    """Flip a bit of the decoded bytes, so that the text stays well-formed."""
    parts = token.split(".")
    at = random.randrange(len(parts))
    raw = bytearray(_decode_or_empty(parts[at]))
    if not raw:
        return _replace(random, token) if token else "."
    raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
    parts[at] = encode_base64url(bytes(raw))
    return ".".join(parts)


def _decode_or_empty(segment: str) -> bytes:
    try:
        return decode_base64url(segment)
    except ValueError:
        return b""


_MUTATIONS: tuple[Callable[[Random, str], str], ...] = (
    _replace,
    _drop,
    _insert,
    _swap,
    _flip_bit,
    _flip_bit,
)
