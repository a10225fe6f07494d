"""Passwords and client secrets: hashing, checking, generating."""

from __future__ import annotations

import asyncio
import hmac
import re
import string
import zlib
from collections.abc import Coroutine
from hashlib import sha256
from typing import Any, Literal, TypeVar

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type

from nimbill.access import passwords
from nimbill.access.passwords import (
    client_secret_matches,
    generate_client_secret,
    hash_client_secret,
    hash_password,
    is_outdated,
    password_matches,
)
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.users import records as users
from tests.identity.login.asking import as_user, claims_of, issued, stands
from tests.running_service import PASSWORD, Service

T = TypeVar("T")
OURS, OTHER = Encryptor(b"k" * 32), Encryptor(b"o" * 32)
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def run(do: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(do)


@pytest.fixture(scope="module")
def stored() -> str:
    return run(hash_password(PASSWORD, OURS))


# ── passwords ────────────────────────────────────────────────────────────────────────────────────


def test_a_hash_is_argon2id_of_19_mib_and_two_passes(stored: str) -> None:
    parameters = extract_parameters(stored)

    assert parameters.type is Type.ID
    assert (parameters.memory_cost, parameters.time_cost) == (19_456, 2)
    assert parameters.parallelism == 1
    assert (parameters.salt_len, parameters.hash_len) == (16, 32)


def test_the_right_password_matches_and_no_other(stored: str) -> None:
    assert run(password_matches(PASSWORD, stored, OURS))
    for wrong in ("", PASSWORD.upper(), PASSWORD + " ", " " + PASSWORD, PASSWORD[:-1], "\0"):
        assert not run(password_matches(wrong, stored, OURS))


def test_two_hashes_of_one_password_differ(stored: str) -> None:
    assert run(hash_password(PASSWORD, OURS)) != stored


def test_nothing_is_trimmed_folded_or_cut_off() -> None:
    composed, decomposed, long = "p\u00e4ssw\u00f6rd", "pa\u0308sswo\u0308rd", "x" * 200
    for password, other in ((composed, decomposed), (long, long[:-1]), (" a b ", "a b")):
        hashed = run(hash_password(password, OURS))

        assert run(password_matches(password, hashed, OURS))
        assert not run(password_matches(other, hashed, OURS))


def test_a_stolen_database_alone_is_not_enough(stored: str) -> None:
    assert not run(password_matches(PASSWORD, stored, OTHER))
    with pytest.raises(Exception, match="does not match"):
        PasswordHasher().verify(stored, PASSWORD)


@pytest.mark.parametrize(
    "no_hash", [None, "", "!", "$argon2", "$argon2id$v=19$m=1", "$2b$12$x", PASSWORD]
)
def test_what_is_no_hash_matches_nothing(no_hash: str | None) -> None:
    for password in ("", PASSWORD, "!"):
        assert not run(password_matches(password, no_hash, OURS))


@pytest.mark.parametrize("no_hash", [None, "!"])
def test_an_unknown_user_costs_a_hash(
    no_hash: str | None, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    real = passwords._hasher

    class Counting(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
            verified.append(str(hash))
            return real.verify(hash, password)

    monkeypatch.setattr(
        passwords, "_hasher", Counting(time_cost=2, memory_cost=19_456, parallelism=1)
    )
    run(password_matches(PASSWORD, no_hash, OURS))

    (against,) = verified
    assert extract_parameters(against) == extract_parameters(stored)


# ── hashes of other days ─────────────────────────────────────────────────────────────────────────


def test_a_hash_with_other_parameters_is_outdated(stored: str) -> None:
    assert not is_outdated(stored)
    assert is_outdated(PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash("x"))


def test_whoever_logs_in_with_an_outdated_hash_gets_a_new_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", weak)
    service.organisation = service.new_organisation()
    monkeypatch.undo()
    before = stored_hash(service)
    assert is_outdated(before)

    first = issued(service, as_user(service.organisation, "root"))["access_token"]

    after = stored_hash(service)
    assert not is_outdated(after)
    assert stands(service, first)
    second = issued(service, as_user(service.organisation, "root"))["access_token"]
    assert claims_of(second)["ep"] == claims_of(first)["ep"] == 1
    assert stored_hash(service) == after


def stored_hash(service: Service) -> str:
    who = service.organisation

    async def ask() -> str:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            found: str = (await db.execute(users.users.select())).one().password_hash
            return found

    return service.run(ask)


# ── client secrets ───────────────────────────────────────────────────────────────────────────────


def test_a_secret_has_a_prefix_43_random_characters_and_a_checksum() -> None:
    for _ in range(50):
        secret = generate_client_secret()
        found = re.fullmatch(r"nb_cs_([0-9A-Za-z]{43})([0-9A-Za-z]{6})", secret)

        assert found
        number = 0
        for character in found[2]:
            number = number * 62 + BASE62.index(character)
        assert number == zlib.crc32(found[1].encode())


def test_secrets_hold_256_bits_and_never_come_twice() -> None:
    assert 62**43 > 2**256
    made = [generate_client_secret() for _ in range(500)]

    assert len(set(made)) == 500
    assert {c for secret in made for c in secret[6:49]} == set(BASE62)


def test_a_secret_matches_its_hash_alone() -> None:
    secret = generate_client_secret()
    hashed = hash_client_secret(secret)

    assert hashed == sha256(secret.encode()).digest()
    assert client_secret_matches(secret, hashed)
    for wrong in ("", secret[:-1], secret + "0", secret.lower(), generate_client_secret()):
        assert not client_secret_matches(wrong, hashed)


def test_a_client_that_is_none_has_no_secret() -> None:
    for secret in ("", "x", generate_client_secret()):
        assert not client_secret_matches(secret, None)


def test_secrets_are_compared_in_constant_time_known_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[int, int]] = []

    def watched(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", watched)
    client_secret_matches("x", None)
    client_secret_matches("x", hash_client_secret("y"))

    assert compared == [(32, 32), (32, 32)]
