"""Checkpoints: signed lines outside the database; what is not signed by our key is nothing."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from nimbill.audit.checkpoints import read_checkpoints, write_checkpoint
from nimbill.foundation.encryption import KEY_BYTES, Encryptor

ORGANISATION = "org_one"
SEALER = Encryptor(os.urandom(KEY_BYTES))
POINTS = [(1, b"\x01" * 32), (5, b"\x05" * 32), (5, b"\x05" * 32), (9, b"\x09" * 32)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for seq, hash_ in POINTS:
        write_checkpoint(tmp_path / "audit", SEALER, ORGANISATION, seq, hash_)
    return tmp_path / "audit" / f"{ORGANISATION}.jsonl"


def read(file: Path, sealer: Encryptor = SEALER) -> list[tuple[int, bytes]]:
    return read_checkpoints(file.parent, sealer, ORGANISATION)


def test_what_was_written_is_read_in_its_order(file: Path) -> None:
    assert read(file) == POINTS


def test_an_organisation_without_a_file_has_none(tmp_path: Path) -> None:
    assert read_checkpoints(tmp_path, SEALER, ORGANISATION) == []


def test_a_line_says_when_and_what(file: Path) -> None:
    line = json.loads(file.read_text().splitlines()[0])

    assert set(line) == {"seq", "hash", "at", "signature"}
    assert line["seq"] == 1
    assert line["hash"] == "01" * 32


def test_the_folder_is_our_own(file: Path) -> None:
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_torn_last_line_is_left_out_wherever_it_was_torn(file: Path) -> None:
    whole = file.read_bytes()
    begin_of_last = whole.rstrip(b"\n").rfind(b"\n") + 1

    for length in range(begin_of_last, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert read(file) == POINTS[:-1], length


def test_what_is_written_after_a_torn_line_is_not_lost(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])

    write_checkpoint(file.parent, SEALER, ORGANISATION, 12, bytes(32))

    assert read(file) == [*POINTS[:-1], (12, bytes(32))]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seq", 2),
        ("hash", "02" * 32),
        ("at", "2020-01-01T00:00:00.000000Z"),
        ("signature", "00" * 64),
        ("signature", "zz"),
        ("seq", None),
        ("hash", 7),
    ],
)
def test_an_edited_line_counts_for_nothing(file: Path, field: str, value: object) -> None:
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(first) | {field: value}), *rest]) + "\n")

    assert read(file) == POINTS[1:]


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", "7", '"text"', "not json", "\x00", "🌸"])
def test_a_line_that_is_no_checkpoint_counts_for_nothing(file: Path, line: str) -> None:
    file.write_text(line + "\n" + file.read_text())

    assert read(file) == POINTS


def test_a_file_with_broken_bytes_still_shows_what_is_sound(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\n" + file.read_bytes())

    assert read(file) == POINTS


def test_the_lines_of_another_organisation_count_for_nothing(file: Path) -> None:
    file.rename(file.parent / "org_two.jsonl")

    assert read_checkpoints(file.parent, SEALER, "org_two") == []


def test_lines_signed_by_another_key_count_for_nothing(file: Path) -> None:
    assert read(file, Encryptor(os.urandom(KEY_BYTES))) == []
