"""Codes of authenticator apps: the vectors of RFC 4226 and RFC 6238."""

from __future__ import annotations

from hashlib import sha1, sha256, sha512
from typing import Any

import pytest

from nimbill.identity.second_factors.totp import (
    compute_code,
    encode_secret,
    find_step,
    format_key_uri,
)

SECRET = b"12345678901234567890"
SECRETS = {
    sha1: SECRET,
    sha256: b"12345678901234567890123456789012",
    sha512: b"1234567890123456789012345678901234567890123456789012345678901234",
}


def test_the_codes_of_counters_are_those_of_rfc_4226() -> None:
    expected = (
        *("755224", "287082", "359152", "969429", "338314"),
        *("254676", "287922", "162583", "399871", "520489"),
    )

    assert tuple(compute_code(SECRET, counter) for counter in range(10)) == expected


@pytest.mark.parametrize(
    ("seconds", "algorithm", "code"),
    [
        (59, sha1, "94287082"),
        (59, sha256, "46119246"),
        (59, sha512, "90693936"),
        (1_111_111_109, sha1, "07081804"),
        (1_111_111_109, sha256, "68084774"),
        (1_111_111_109, sha512, "25091201"),
        (1_111_111_111, sha1, "14050471"),
        (1_111_111_111, sha256, "67062674"),
        (1_111_111_111, sha512, "99943326"),
        (1_234_567_890, sha1, "89005924"),
        (1_234_567_890, sha256, "91819424"),
        (1_234_567_890, sha512, "93441116"),
        (2_000_000_000, sha1, "69279037"),
        (2_000_000_000, sha256, "90698825"),
        (2_000_000_000, sha512, "38618901"),
        (20_000_000_000, sha1, "65353130"),
        (20_000_000_000, sha256, "77737706"),
        (20_000_000_000, sha512, "47863826"),
    ],
)
def test_the_codes_of_times_are_those_of_rfc_6238(seconds: int, algorithm: Any, code: str) -> None:
    secret = SECRETS[algorithm]

    assert compute_code(secret, seconds // 30, digits=8, algorithm=algorithm) == code


@pytest.mark.parametrize("difference", [-1, 0, 1])
def test_codes_of_the_steps_before_and_after_are_accepted(difference: int) -> None:
    code = compute_code(SECRET, 1000 + difference)

    assert find_step(SECRET, code, unix_seconds=30_000, last_step=0) == 1000 + difference


@pytest.mark.parametrize("difference", [-2, 2])
def test_codes_of_other_steps_are_refused(difference: int) -> None:
    code = compute_code(SECRET, 1000 + difference)

    assert find_step(SECRET, code, unix_seconds=30_000, last_step=0) is None


@pytest.mark.parametrize(("last_step", "found"), [(999, 1000), (1000, None), (1001, None)])
def test_a_code_is_later_than_the_last_used_one(last_step: int, found: int | None) -> None:
    code = compute_code(SECRET, 1000)

    assert find_step(SECRET, code, unix_seconds=30_000, last_step=last_step) == found


def test_the_uri_names_the_user_and_the_secret() -> None:
    assert encode_secret(SECRET) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    assert format_key_uri(SECRET, "Nimbill", "a b@example.com") == (
        "otpauth://totp/Nimbill:a%20b%40example.com"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Nimbill"
    )


def test_a_colon_of_the_issuer_is_no_end_of_its_name() -> None:
    uri = format_key_uri(SECRET, "Cloud: portal/1", "root")

    name = "Cloud%20%20portal%2F1"
    assert uri.startswith(f"otpauth://totp/{name}:root?")
    assert uri.endswith(f"&issuer={name}")


def test_a_japanese_issuer_is_named_once() -> None:
    uri = format_key_uri(SECRET, "あ", "root")

    assert uri.startswith("otpauth://totp/root?")
    assert uri.endswith("&issuer=%E3%81%82")
