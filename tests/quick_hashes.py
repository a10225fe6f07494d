"""Password hashes that cost next to nothing, for tests in which only their number matters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from argon2 import PasswordHasher

from nimbill.access import password_hash_queue, passwords
from nimbill.identity.login import constant_time_responses

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def quick_hashes() -> Iterator[None]:
    """What is hashed meanwhile can be checked later, and the other way round."""
    with (
        patch.object(passwords, "_hasher", QUICK),
        patch.object(password_hash_queue, "STEP_BACK_SECONDS", 0),
        patch.object(constant_time_responses, "STEP_SECONDS", 0),
    ):
        yield
