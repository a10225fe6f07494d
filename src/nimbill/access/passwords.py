"""Passwords and client secrets: hashing, checking, generating."""

import asyncio
import hmac
import os
import secrets
import string
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from hashlib import sha256
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nimbill.access.password_hash_queue import PasswordHashQueue, QueuePlace, Ring
from nimbill.foundation.encryption import Encryptor

T = TypeVar("T")

SECRET_PREFIX = "nb_cs_"  # noqa: S105  # a prefix by which secret scanners know ours
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_line = PasswordHashQueue()


def _start_afresh() -> None:
    """A forked worker has none of its parent's threads, however busy they seem to it."""
    global _line
    _line = PasswordHashQueue()


os.register_at_fork(after_in_child=_start_afresh)


def ring_of_client(source: str) -> Ring:
    """Its secret is as good as a mark of ours, until somebody fails by it."""
    return Ring.strangers if _line.has_failed(source) else Ring.known


def refuse_login_if_crowded(ring: Ring, source: str) -> None:
    """Before anything is asked of the database."""
    _line.refuse_if_full(ring, source)


@contextmanager
def login_under_way(ring: Ring, source: str) -> Iterator[QueuePlace]:
    """Held from the first question to the last: a crowd is sent away before it costs anything."""
    with _line.place(ring, source) as place:
        yield place


async def hash_password(
    password: str, encryptor: Encryptor, place: QueuePlace | None = None
) -> str:
    """In the place of a login that is under way, or in one of its own."""
    with nullcontext(place) if place else _line.place(Ring.changes, "") as held:
        return await _in_turn(held, partial(_hasher.hash, _peppered(password, encryptor)))


async def password_matches(
    password: str, password_hash: str | None, encryptor: Encryptor, place: QueuePlace | None = None
) -> bool:
    """Whether it is the password; an unknown user (None) costs the same time as a known one."""
    with nullcontext(place) if place else _line.place(Ring.changes, "") as held:
        right = await _in_turn(
            held, partial(_verify, password_hash, _peppered(password, encryptor))
        )
        if right:
            _line.forgive(held)
        return right


def is_outdated(password_hash: str) -> bool:
    """Made with other parameters than today's; who logs in with it gets a new one."""
    return _hasher.check_needs_rehash(password_hash)


async def _in_turn(place: QueuePlace, work: Callable[[], T]) -> T:
    return await asyncio.wrap_future(_line.hash_in_turn(place, work))


def _verify(password_hash: str | None, peppered: bytes) -> bool:
    """Nobody's hash stands in for one that is missing or is none: every refusal costs a hash."""
    somebody = password_hash is not None and password_hash.startswith("$argon2")
    against = password_hash if password_hash is not None and somebody else _hash_of_nobody(_hasher)
    try:
        _hasher.verify(against, peppered)
    except (VerificationError, InvalidHashError):
        return False
    return somebody


def _peppered(password: str, encryptor: Encryptor) -> bytes:
    """A stolen database alone is not enough to guess passwords against."""
    return hmac.digest(encryptor.derive_key("password pepper"), password.encode(), sha256)


@cache
def _hash_of_nobody(hasher: PasswordHasher) -> str:
    """Costs what a hash of this hasher costs."""
    return hasher.hash(secrets.token_bytes(16))


def generate_password() -> str:
    """As long as a password may be: 108 random bits."""
    return secrets.token_urlsafe(14)[:18]


def generate_client_secret() -> str:
    """256 random bits and a checksum, so that a scanner can tell a secret from a look-alike."""
    random = "".join(secrets.choice(_BASE62) for _ in range(43))
    checksum = zlib.crc32(random.encode())
    return SECRET_PREFIX + random + _base62(checksum, 6)


def _base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, rest = divmod(number, 62)
        text = _BASE62[rest] + text
    return text


def hash_client_secret(secret: str) -> bytes:
    """Secrets are random, so one hash is enough."""
    return sha256(secret.encode()).digest()


def client_secret_matches(secret: str, secret_hash: bytes | None) -> bool:
    """Compared in constant time; an unknown client (None) does the same work."""
    matches = hmac.compare_digest(hash_client_secret(secret), secret_hash or bytes(32))
    return matches and secret_hash is not None
