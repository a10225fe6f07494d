"""Encryption: ciphertexts are bound to key and context; unsafe key files are refused."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from nimbill.foundation.encryption import (
    KEY_BYTES,
    DecryptionError,
    Encryptor,
    KeyFileError,
    load_or_create_key,
)

CONTEXT = ("api_clients", "secret", "org_one", "row_one")
SECRET = b"a secret with a canary in it"


@pytest.fixture
def encryptor() -> Encryptor:
    return Encryptor(os.urandom(KEY_BYTES))


def test_decryption_with_the_same_context_returns_the_secret(encryptor: Encryptor) -> None:
    assert encryptor.decrypt(encryptor.encrypt(SECRET, CONTEXT), CONTEXT) == SECRET


def test_ciphertexts_differ_and_do_not_contain_the_secret(encryptor: Encryptor) -> None:
    first, second = encryptor.encrypt(SECRET, CONTEXT), encryptor.encrypt(SECRET, CONTEXT)

    assert first != second
    assert b"canary" not in first + second


@pytest.mark.parametrize(
    "other_context",
    [
        ("api_clients", "secret", "org_one", "row_two"),
        ("api_clients", "secret", "org_two", "row_one"),
        ("api_clients", "other_column", "org_one", "row_one"),
        ("other_table", "secret", "org_one", "row_one"),
        ("api_clients", "secret", "org_one"),
        ("api_clients", "secret", "org_onerow_one"),
        (),
    ],
    ids=["row", "organisation", "column", "table", "no row", "joined words", "empty"],
)
def test_another_context_cannot_decrypt(
    encryptor: Encryptor, other_context: tuple[str, ...]
) -> None:
    ciphertext = encryptor.encrypt(SECRET, CONTEXT)

    with pytest.raises(DecryptionError):
        encryptor.decrypt(ciphertext, other_context or ("",))


def test_another_key_cannot_decrypt(encryptor: Encryptor) -> None:
    with pytest.raises(DecryptionError):
        Encryptor(os.urandom(KEY_BYTES)).decrypt(encryptor.encrypt(SECRET, CONTEXT), CONTEXT)


def test_another_organisations_key_cannot_decrypt(encryptor: Encryptor) -> None:
    own, other = encryptor.for_organisation("org_one"), encryptor.for_organisation("org_two")

    ciphertext = own.encrypt(SECRET, CONTEXT)

    assert encryptor.for_organisation("org_one").decrypt(ciphertext, CONTEXT) == SECRET
    with pytest.raises(DecryptionError):
        other.decrypt(ciphertext, CONTEXT)


def test_a_single_changed_bit_prevents_decryption(encryptor: Encryptor) -> None:
    ciphertext = encryptor.encrypt(b"short", CONTEXT)

    for position in range(len(ciphertext)):
        changed = bytearray(ciphertext)
        changed[position] ^= 1
        with pytest.raises(DecryptionError):
            encryptor.decrypt(bytes(changed), CONTEXT)


def test_a_shortened_or_extended_ciphertext_cannot_be_decrypted(encryptor: Encryptor) -> None:
    ciphertext = encryptor.encrypt(SECRET, CONTEXT)

    for changed in (
        *(ciphertext[:length] for length in range(len(ciphertext))),
        ciphertext + b"\0",
    ):
        with pytest.raises(DecryptionError):
            encryptor.decrypt(changed, CONTEXT)


def test_the_error_names_only_the_table(encryptor: Encryptor) -> None:
    with pytest.raises(DecryptionError) as failed:
        encryptor.decrypt(b"", CONTEXT)

    assert str(failed.value) == "api_clients"


def test_each_purpose_has_its_own_derived_key(encryptor: Encryptor) -> None:
    keys = {encryptor.derive_key("passwords"), encryptor.derive_key("checkpoints"), encryptor.key}

    assert len(keys) == 3
    assert all(len(key) == KEY_BYTES for key in keys)
    assert encryptor.derive_key("passwords") == Encryptor(encryptor.key).derive_key("passwords")


def test_repr_hides_the_key(encryptor: Encryptor) -> None:
    assert repr(encryptor) == str(encryptor) == "Encryptor(…)"


def test_the_first_start_creates_a_key_file_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "key"

    encryptor = load_or_create_key(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(encryptor.key) == KEY_BYTES
    assert list(file.parent.iterdir()) == [file]


def test_later_starts_keep_the_key(tmp_path: Path) -> None:
    first = load_or_create_key(tmp_path / "key")

    assert load_or_create_key(tmp_path / "key") == first


def test_concurrent_first_starts_share_one_key(tmp_path: Path) -> None:
    for attempt in range(10):
        file = tmp_path / str(attempt) / "key"
        with ThreadPoolExecutor(8) as starts:
            keys = {encryptor.key for encryptor in starts.map(load_or_create_key, [file] * 8)}

        assert len(keys) == 1
        assert list(file.parent.iterdir()) == [file]


def write_key(folder: Path, text: str, mode: int = 0o400) -> Path:
    file = folder / "key"
    file.write_text(text)
    file.chmod(mode)
    return file


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "secret",
        "ab" * (KEY_BYTES - 1),
        "ab" * (KEY_BYTES + 1),
        os.urandom(KEY_BYTES).hex()[:-1],
        "zz" * KEY_BYTES,
    ],
    ids=["empty", "blank", "a word", "short", "long", "half a byte", "not hexadecimal"],
)
def test_a_malformed_key_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(KeyFileError, match="32 bytes as hexadecimal digits"):
        load_or_create_key(write_key(tmp_path, text))


@pytest.mark.parametrize(
    "key",
    [
        bytes(KEY_BYTES),
        b"\xff" * KEY_BYTES,
        b"0123456" * 4 + b"0123",
        bytes(range(KEY_BYTES)),
        bytes(reversed(range(KEY_BYTES))),
        sha256(b"").digest(),
        sha256(b"secret").digest(),
        sha256(b"nimbill").digest(),
    ],
)
def test_a_guessable_key_is_refused(tmp_path: Path, key: bytes) -> None:
    with pytest.raises(KeyFileError, match="guess"):
        load_or_create_key(write_key(tmp_path, key.hex()))


@pytest.mark.parametrize("mode", [0o404, 0o440, 0o444, 0o644, 0o402, 0o420, 0o401, 0o666])
def test_a_key_file_open_to_others_is_refused_and_not_changed(tmp_path: Path, mode: int) -> None:
    file = write_key(tmp_path, os.urandom(KEY_BYTES).hex(), mode)

    with pytest.raises(KeyFileError, match="chmod 0400"):
        load_or_create_key(file)

    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o400, 0o600])
def test_a_private_key_file_is_read(tmp_path: Path, mode: int) -> None:
    key = os.urandom(KEY_BYTES)

    assert load_or_create_key(write_key(tmp_path, key.hex() + "\n", mode)).key == key


def test_the_error_does_not_contain_the_key(tmp_path: Path) -> None:
    text = os.urandom(KEY_BYTES).hex() + "ff"

    with pytest.raises(KeyFileError) as refused:
        load_or_create_key(write_key(tmp_path, text))

    assert text not in str(refused.value)
