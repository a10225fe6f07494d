"""Sound tokens after small accidents, as many as one likes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.access.forging import ALPHABET, base64url, raw_of


def mutated(random: Random, token: str) -> str:
    """A sound token with one to three small accidents."""
    changed = token
    for _ in range(random.randint(1, 3)):
        changed = random.choice(_ACCIDENTS)(random, changed)
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
    one, other = random.randrange(len(parts)), random.randrange(len(parts))
    parts[one], parts[other] = parts[other], parts[one]
    return ".".join(parts)


def _flip_a_bit(random: Random, token: str) -> str:
    """In the decoded bytes, so that the text stays well-formed."""
    parts = token.split(".")
    at = random.randrange(len(parts))
    raw = bytearray(_raw_or_nothing(parts[at]))
    if not raw:
        return _replace(random, token) if token else "."
    raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
    parts[at] = base64url(bytes(raw))
    return ".".join(parts)


def _raw_or_nothing(segment: str) -> bytes:
    try:
        return raw_of(segment)
    except ValueError:
        return b""


_ACCIDENTS: tuple[Callable[[Random, str], str], ...] = (
    _replace,
    _drop,
    _insert,
    _swap,
    _flip_a_bit,
    _flip_a_bit,
)
