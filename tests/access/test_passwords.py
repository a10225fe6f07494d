"""Passwords and client secrets: hash, verify, generate."""

from __future__ import annotations

import asyncio
import hmac
import re
import string
import zlib
from collections.abc import Coroutine, Iterator
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
    needs_rehash,
    password_matches,
)
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.users import records as users
from tests.identity.login.token_requests import (
    decode_claims,
    is_token_valid,
    issue_tokens,
    password_form,
)
from tests.quick_hashes import quick_hashes
from tests.running_service import PASSWORD, Service

T = TypeVar("T")
OWN, OTHER = Encryptor(b"k" * 32), Encryptor(b"o" * 32)
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


@pytest.fixture(scope="module")
def stored() -> str:
    return run(hash_password(PASSWORD, OWN))


@pytest.fixture
def cheap_hashes() -> Iterator[None]:
    with quick_hashes():
        yield


# ── passwords ────────────────────────────────────────────────────────────────────────────────────


def test_a_hash_is_argon2id_of_19_mib_and_two_passes(stored: str) -> None:
    parameters = extract_parameters(stored)

    assert parameters.type is Type.ID
    assert (parameters.memory_cost, parameters.time_cost) == (19_456, 2)
    assert parameters.parallelism == 1
    assert (parameters.salt_len, parameters.hash_len) == (16, 32)


def test_only_the_right_password_matches(cheap_hashes: None) -> None:
    stored = run(hash_password(PASSWORD, OWN))

    assert run(password_matches(PASSWORD, stored, OWN))
    for wrong in ("", PASSWORD.upper(), PASSWORD + " ", " " + PASSWORD, PASSWORD[:-1], "\0"):
        assert not run(password_matches(wrong, stored, OWN))


def test_two_hashes_of_one_password_differ(stored: str) -> None:
    assert run(hash_password(PASSWORD, OWN)) != stored


def test_passwords_are_not_trimmed_normalised_or_truncated(cheap_hashes: None) -> None:
    composed, decomposed, long = "p\u00e4ssw\u00f6rd", "pa\u0308sswo\u0308rd", "x" * 200
    for password, other in ((composed, decomposed), (long, long[:-1]), (" a b ", "a b")):
        hashed = run(hash_password(password, OWN))

        assert run(password_matches(password, hashed, OWN))
        assert not run(password_matches(other, hashed, OWN))


def test_a_hash_cannot_be_verified_without_the_pepper(stored: str) -> None:
    assert not run(password_matches(PASSWORD, stored, OTHER))
    with pytest.raises(Exception, match="does not match"):
        PasswordHasher().verify(stored, PASSWORD)


@pytest.mark.parametrize(
    "no_hash", [None, "", "!", "$argon2", "$argon2id$v=19$m=1", "$2b$12$x", PASSWORD]
)
def test_an_invalid_hash_matches_nothing(cheap_hashes: None, no_hash: str | None) -> None:
    for password in ("", PASSWORD, "!"):
        assert not run(password_matches(password, no_hash, OWN))


@pytest.mark.parametrize("no_hash", [None, "!"])
def test_an_unknown_user_takes_as_long_as_a_known_one(
    no_hash: str | None, stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    real = passwords._hasher

    class CountingHasher(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
            verified.append(str(hash))
            return real.verify(hash, password)

    monkeypatch.setattr(
        passwords, "_hasher", CountingHasher(time_cost=2, memory_cost=19_456, parallelism=1)
    )
    run(password_matches(PASSWORD, no_hash, OWN))

    (verified_hash,) = verified
    assert extract_parameters(verified_hash) == extract_parameters(stored)


# ── outdated hashes ──────────────────────────────────────────────────────────────────────────────


def test_a_hash_with_other_parameters_needs_a_rehash(stored: str) -> None:
    assert not needs_rehash(stored)
    assert needs_rehash(PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash("x"))


def test_a_login_replaces_an_outdated_hash(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", weak)
    service.organisation = service.new_organisation()
    monkeypatch.undo()
    before = load_stored_hash(service)
    assert needs_rehash(before)

    first = issue_tokens(service, password_form(service.organisation, "root"))["access_token"]

    after = load_stored_hash(service)
    assert not needs_rehash(after)
    assert is_token_valid(service, first)
    second = issue_tokens(service, password_form(service.organisation, "root"))["access_token"]
    assert decode_claims(second)["ep"] == decode_claims(first)["ep"] == 1
    assert load_stored_hash(service) == after


def load_stored_hash(service: Service) -> str:
    organisation_id = service.organisation.organisation_id

    async def load_hash() -> str:
        async with transaction(service.resources.engine, organisation_id) as db:
            password_hash: str = (await db.execute(users.users.select())).one().password_hash
            return password_hash

    return service.run(load_hash)


# ── client secrets ───────────────────────────────────────────────────────────────────────────────


def test_a_secret_has_a_prefix_43_random_characters_and_a_checksum() -> None:
    for _ in range(50):
        secret = generate_client_secret()
        match = re.fullmatch(r"nb_cs_([0-9A-Za-z]{43})([0-9A-Za-z]{6})", secret)

        assert match
        number = 0
        for character in match[2]:
            number = number * 62 + BASE62.index(character)
        assert number == zlib.crc32(match[1].encode())


def test_secrets_have_256_bits_and_are_unique() -> None:
    assert 62**43 > 2**256
    secrets = [generate_client_secret() for _ in range(500)]

    assert len(set(secrets)) == 500
    assert {character for secret in secrets for character in secret[6:49]} == set(BASE62)


def test_a_secret_matches_only_its_own_hash() -> None:
    secret = generate_client_secret()
    hashed = hash_client_secret(secret)

    assert hashed == sha256(secret.encode()).digest()
    assert client_secret_matches(secret, hashed)
    for wrong in ("", secret[:-1], secret + "0", secret.lower(), generate_client_secret()):
        assert not client_secret_matches(wrong, hashed)


def test_no_secret_matches_an_unknown_client() -> None:
    for secret in ("", "x", generate_client_secret()):
        assert not client_secret_matches(secret, None)


def test_secrets_are_compared_in_constant_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[int, int]] = []

    def compare(first: bytes, second: bytes) -> bool:
        compared.append((len(first), len(second)))
        return first == second

    monkeypatch.setattr(hmac, "compare_digest", compare)
    client_secret_matches("x", None)
    client_secret_matches("x", hash_client_secret("y"))

    assert compared == [(32, 32), (32, 32)]
