"""Hash, verify and generate passwords and client secrets."""

import asyncio
import hmac
import os
import secrets
import string
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from hashlib import sha256
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nimbill.access.password_hash_queue import (
    PasswordHashQueue,
    QueueEntry,
    QueueLane,
    create_attempts,
)
from nimbill.foundation.encryption import Encryptor

T = TypeVar("T")

SECRET_PREFIX = "nb_cs_"  # noqa: S105  # lets secret scanners recognise our secrets
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_queue = PasswordHashQueue(create_attempts())


def _reset_after_fork() -> None:
    """A forked worker does not have the threads of its parent's queue, but counts with it."""
    global _queue
    _queue = PasswordHashQueue(_queue.attempts)


os.register_at_fork(after_in_child=_reset_after_fork)


def lane_of_client(source: str) -> QueueLane:
    """A client with a valid secret counts as known until an attempt of it fails."""
    return QueueLane.unknown_source if _queue.has_failed(source) else QueueLane.known_source


def refuse_login_if_full(lane: QueueLane, source: str) -> None:
    """Refuse before the first database query."""
    _queue.refuse_if_full(lane, source)


@contextmanager
def enter_login_queue(lane: QueueLane, source: str) -> Iterator[QueueEntry]:
    """Hold the entry for the whole login, so that a flood is refused before it costs anything."""
    with _queue.enter(lane, source) as entry:
        yield entry


async def hash_password(
    password: str, encryptor: Encryptor, entry: QueueEntry | None = None
) -> str:
    """Hash within the entry of a login, or within a new entry."""
    with _use_entry(entry) as own_entry:
        work = partial(_hasher.hash, _add_pepper(password, encryptor))
        return await _run_in_queue(own_entry, work)


async def password_matches(
    password: str, password_hash: str | None, encryptor: Encryptor, entry: QueueEntry | None = None
) -> bool:
    """Verify a password. An unknown user (None) takes the same time as a known one."""
    with _use_entry(entry) as own_entry:
        work = partial(_verify, password_hash, _add_pepper(password, encryptor))
        matches = await _run_in_queue(own_entry, work)
        if matches:
            _queue.cancel_attempt(own_entry)
        return matches


def needs_rehash(password_hash: str) -> bool:
    """Return whether the hash has old parameters; a login then replaces it."""
    return _hasher.check_needs_rehash(password_hash)


def _use_entry(entry: QueueEntry | None) -> AbstractContextManager[QueueEntry]:
    return nullcontext(entry) if entry else _queue.enter(QueueLane.password_change, "")


async def _run_in_queue(entry: QueueEntry, work: Callable[[], T]) -> T:
    return await asyncio.wrap_future(_queue.submit(entry, work))


def _verify(password_hash: str | None, peppered: bytes) -> bool:
    """Verify against a dummy hash without a real one, so that every refusal takes the same time."""
    is_hash = password_hash is not None and password_hash.startswith("$argon2")
    used_hash = password_hash if password_hash is not None and is_hash else _dummy_hash(_hasher)
    try:
        _hasher.verify(used_hash, peppered)
    except (VerificationError, InvalidHashError):
        return False
    return is_hash


def _add_pepper(password: str, encryptor: Encryptor) -> bytes:
    """The pepper is not in the database, so a stolen database alone cannot be attacked."""
    return hmac.digest(encryptor.derive_key("password pepper"), password.encode(), sha256)


@cache
def _dummy_hash(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_bytes(16))


def generate_password() -> str:
    """Return a password of the maximum length, with 108 random bits."""
    return secrets.token_urlsafe(14)[:18]


def generate_client_secret() -> str:
    """Return 256 random bits with a checksum, by which scanners recognise a real secret."""
    random = "".join(secrets.choice(_BASE62) for _ in range(43))
    checksum = zlib.crc32(random.encode())
    return SECRET_PREFIX + random + _encode_base62(checksum, 6)


def _encode_base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, remainder = divmod(number, 62)
        text = _BASE62[remainder] + text
    return text


def hash_client_secret(secret: str) -> bytes:
    """Hash once: secrets are random, so a slow hash is not needed."""
    return sha256(secret.encode()).digest()


def client_secret_matches(secret: str, secret_hash: bytes | None) -> bool:
    """Compare in constant time. An unknown client (None) takes the same time."""
    matches = hmac.compare_digest(hash_client_secret(secret), secret_hash or bytes(32))
    return matches and secret_hash is not None
