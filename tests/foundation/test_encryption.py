"""What is sealed opens only where it stands and only with its own key; the key file is guarded."""

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

PLACE = ("api_clients", "secret", "org_one", "row_one")
SECRET = b"a secret with a canary in it"


@pytest.fixture
def sealer() -> Encryptor:
    return Encryptor(os.urandom(KEY_BYTES))


def test_what_was_sealed_opens_where_it_stands(sealer: Encryptor) -> None:
    assert sealer.open(sealer.seal(SECRET, PLACE), PLACE) == SECRET


def test_what_is_sealed_shows_nothing_and_never_looks_the_same_twice(sealer: Encryptor) -> None:
    one, other = sealer.seal(SECRET, PLACE), sealer.seal(SECRET, PLACE)

    assert one != other
    assert b"canary" not in one + other


@pytest.mark.parametrize(
    "elsewhere",
    [
        ("api_clients", "secret", "org_one", "row_two"),
        ("api_clients", "secret", "org_two", "row_one"),
        ("api_clients", "other_column", "org_one", "row_one"),
        ("other_table", "secret", "org_one", "row_one"),
        ("api_clients", "secret", "org_one"),
        ("api_clients", "secret", "org_onerow_one"),
        (),
    ],
    ids=["row", "organisation", "column", "table", "no row", "words run together", "nowhere"],
)
def test_copied_to_another_place_it_does_not_open(
    sealer: Encryptor, elsewhere: tuple[str, ...]
) -> None:
    sealed = sealer.seal(SECRET, PLACE)

    with pytest.raises(DecryptionError):
        sealer.open(sealed, elsewhere or ("",))


def test_another_key_does_not_open_it(sealer: Encryptor) -> None:
    with pytest.raises(DecryptionError):
        Encryptor(os.urandom(KEY_BYTES)).open(sealer.seal(SECRET, PLACE), PLACE)


def test_another_organisations_key_does_not_open_it(sealer: Encryptor) -> None:
    one, other = sealer.for_organisation("org_one"), sealer.for_organisation("org_two")

    sealed = one.seal(SECRET, PLACE)

    assert sealer.for_organisation("org_one").open(sealed, PLACE) == SECRET
    with pytest.raises(DecryptionError):
        other.open(sealed, PLACE)


def test_a_single_changed_bit_breaks_the_seal(sealer: Encryptor) -> None:
    sealed = sealer.seal(b"short", PLACE)

    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises(DecryptionError):
            sealer.open(bytes(changed), PLACE)


def test_what_was_cut_or_lengthened_does_not_open(sealer: Encryptor) -> None:
    sealed = sealer.seal(SECRET, PLACE)

    for changed in (*(sealed[:length] for length in range(len(sealed))), sealed + b"\0"):
        with pytest.raises(DecryptionError):
            sealer.open(changed, PLACE)


def test_a_broken_seal_tells_the_table_and_nothing_else(sealer: Encryptor) -> None:
    with pytest.raises(DecryptionError) as broken:
        sealer.open(b"", PLACE)

    assert str(broken.value) == "api_clients"


def test_a_key_is_derived_for_each_purpose(sealer: Encryptor) -> None:
    keys = {sealer.derived("passwords"), sealer.derived("checkpoints"), sealer.key}

    assert len(keys) == 3
    assert all(len(key) == KEY_BYTES for key in keys)
    assert sealer.derived("passwords") == Encryptor(sealer.key).derived("passwords")


def test_a_sealer_does_not_show_its_key(sealer: Encryptor) -> None:
    assert repr(sealer) == str(sealer) == "Sealer(…)"


def test_the_first_start_makes_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    file = tmp_path / "new" / "key"

    sealer = load_or_create_key(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert len(sealer.key) == KEY_BYTES
    assert list(file.parent.iterdir()) == [file]


def test_later_starts_keep_the_key(tmp_path: Path) -> None:
    first = load_or_create_key(tmp_path / "key")

    assert load_or_create_key(tmp_path / "key") == first


def test_of_many_first_starts_at_once_one_key_survives(tmp_path: Path) -> None:
    for attempt in range(10):
        file = tmp_path / str(attempt) / "key"
        with ThreadPoolExecutor(8) as starts:
            keys = {sealer.key for sealer in starts.map(load_or_create_key, [file] * 8)}

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
    ids=["empty", "blank", "a word", "short", "long", "half a byte", "no digits"],
)
def test_a_key_file_without_a_whole_key_is_refused(tmp_path: Path, text: str) -> None:
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
def test_a_key_that_anyone_can_guess_is_refused(tmp_path: Path, key: bytes) -> None:
    with pytest.raises(KeyFileError, match="guess"):
        load_or_create_key(write_key(tmp_path, key.hex()))


@pytest.mark.parametrize("mode", [0o404, 0o440, 0o444, 0o644, 0o402, 0o420, 0o401, 0o666])
def test_a_key_file_open_to_others_is_refused_and_left_alone(tmp_path: Path, mode: int) -> None:
    file = write_key(tmp_path, os.urandom(KEY_BYTES).hex(), mode)

    with pytest.raises(KeyFileError, match="chmod 0400"):
        load_or_create_key(file)

    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o400, 0o600])
def test_a_key_file_of_ones_own_is_read(tmp_path: Path, mode: int) -> None:
    key = os.urandom(KEY_BYTES)

    assert load_or_create_key(write_key(tmp_path, key.hex() + "\n", mode)).key == key


def test_a_refused_key_is_not_shown(tmp_path: Path) -> None:
    text = os.urandom(KEY_BYTES).hex() + "ff"

    with pytest.raises(KeyFileError) as refused:
        load_or_create_key(write_key(tmp_path, text))

    assert text not in str(refused.value)
