"""Password hashes that cost next to nothing, for tests in which only their number matters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from argon2 import PasswordHasher

from nimbill.access import hashing_line, passwords

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def quick_hashes() -> Iterator[None]:
    """What is hashed meanwhile can be checked later, and the other way round."""
    real, pause = passwords._hasher, hashing_line.STEP_BACK_SECONDS
    passwords._hasher, hashing_line.STEP_BACK_SECONDS = QUICK, 0
    try:
        yield
    finally:
        passwords._hasher, hashing_line.STEP_BACK_SECONDS = real, pause
