"""Cheap password hashes for tests that do not check their cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from argon2 import PasswordHasher

from nimbill.access import password_hash_queue, passwords
from nimbill.identity.login import constant_time_responses

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def quick_hashes() -> Iterator[None]:
    """Hash cheaply and without waiting. Hashes stay verifiable before and after."""
    with (
        patch.object(passwords, "_hasher", QUICK),
        patch.object(password_hash_queue, "BACKOFF_SECONDS", 0),
        patch.object(constant_time_responses, "STEP_SECONDS", 0),
    ):
        yield


@pytest.fixture(autouse=True)
def use_quick_hashes() -> Iterator[None]:
    """Import this fixture into a conftest to hash cheaply in every test of the folder."""
    with quick_hashes():
        yield
