"""Checkpoints: signed lines outside the database; lines without a valid signature are skipped."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from nimbill.audit.checkpoints import read_checkpoints, write_checkpoint
from nimbill.foundation.encryption import KEY_BYTES, Encryptor

ORGANISATION = "org_one"
ENCRYPTOR = Encryptor(os.urandom(KEY_BYTES))
POINTS = [(1, b"\x01" * 32), (5, b"\x05" * 32), (5, b"\x05" * 32), (9, b"\x09" * 32)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    for seq, hash_ in POINTS:
        write_checkpoint(tmp_path / "audit", ENCRYPTOR, ORGANISATION, seq, hash_)
    return tmp_path / "audit" / f"{ORGANISATION}.jsonl"


def read(file: Path, encryptor: Encryptor = ENCRYPTOR) -> list[tuple[int, bytes]]:
    return read_checkpoints(file.parent, encryptor, ORGANISATION)


def test_checkpoints_are_read_in_the_order_written(file: Path) -> None:
    assert read(file) == POINTS


def test_an_organisation_without_a_file_has_no_checkpoints(tmp_path: Path) -> None:
    assert read_checkpoints(tmp_path, ENCRYPTOR, ORGANISATION) == []


def test_a_line_holds_number_hash_time_and_signature(file: Path) -> None:
    line = json.loads(file.read_text().splitlines()[0])

    assert set(line) == {"seq", "hash", "at", "signature"}
    assert line["seq"] == 1
    assert line["hash"] == "01" * 32


def test_only_the_owner_can_read_the_folder(file: Path) -> None:
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_incomplete_last_line_is_skipped(file: Path) -> None:
    content = file.read_bytes()
    last_line_start = content.rstrip(b"\n").rfind(b"\n") + 1

    for length in range(last_line_start, len(content) - 1):
        file.write_bytes(content[:length])
        assert read(file) == POINTS[:-1], length


def test_a_checkpoint_after_an_incomplete_line_is_read(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])

    write_checkpoint(file.parent, ENCRYPTOR, ORGANISATION, 12, bytes(32))

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
def test_an_edited_line_is_skipped(file: Path, field: str, value: object) -> None:
    first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(first) | {field: value}), *rest]) + "\n")

    assert read(file) == POINTS[1:]


@pytest.mark.parametrize("line", ["", "{}", "[]", "null", "7", '"text"', "not json", "\x00", "🌸"])
def test_a_line_that_is_not_a_checkpoint_is_skipped(file: Path, line: str) -> None:
    file.write_text(line + "\n" + file.read_text())

    assert read(file) == POINTS


def test_a_line_of_invalid_utf8_is_skipped(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\n" + file.read_bytes())

    assert read(file) == POINTS


def test_the_lines_of_another_organisation_are_skipped(file: Path) -> None:
    file.rename(file.parent / "org_two.jsonl")

    assert read_checkpoints(file.parent, ENCRYPTOR, "org_two") == []


def test_lines_signed_with_another_key_are_skipped(file: Path) -> None:
    assert read(file, Encryptor(os.urandom(KEY_BYTES))) == []
