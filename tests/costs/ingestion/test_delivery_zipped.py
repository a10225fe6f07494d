"""The CSV files of a zip file become parts; names in the zip file are never used as paths."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.parts import Limits, Part
from tests.costs.inbox import CSV_TEXT, Inbox, part_names, read_text

LINES = b"id,cost\n" + b"".join(b"%d,0.%010d\n" % (n, n * 7919) for n in range(3_000))
COMPRESSED = gzip.compress(LINES, mtime=0)
SMALL_BOMBS = Limits(bomb_bytes_min=1_000_000)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def read_refused(part: Part) -> str:
    with pytest.raises(CostFileError) as caught:
        read_text(part)
    return caught.value.rule


def build_zip(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_every_csv_file_of_a_zip_file_becomes_a_part(inbox: Inbox, method: int) -> None:
    inbox.put(
        "month.zip",
        build_zip(("a.csv", LINES), ("b/B.CSV", CSV_TEXT), ("readme.txt", b"-"), method=method),
    )

    delivery = inbox.fetch()

    assert part_names(delivery) == ["month.zip/a.csv", "month.zip/B.CSV"]
    assert [read_text(part) for part in delivery.parts] == [LINES, CSV_TEXT]
    assert {part.path.parent for part in delivery.parts} == {inbox.spool}


def test_names_in_a_zip_file_are_not_used_as_paths(inbox: Inbox, tmp_path: Path) -> None:
    names = ["../../escaped.csv", "/etc/cron.d/x.csv", "a\\..\\b.csv", "__MACOSX/._a.csv", ".x.csv"]
    names += [".git/y.csv"]
    members = [(name, b"a\n%d\n" % number) for number, name in enumerate(names)]
    inbox.put("month.zip", build_zip(*members, ("dir.csv/", b"")))

    delivery = inbox.fetch()

    assert len(delivery.parts) == 3
    assert all(part.path.parent == inbox.spool for part in delivery.parts)
    assert not list(tmp_path.rglob("escaped*"))


def test_a_member_without_sizes_in_its_local_header_is_read(inbox: Inbox) -> None:
    """A zip file written to a stream has the sizes only in its directory."""

    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise io.UnsupportedOperation

    out = Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", LINES)
    inbox.put("month.zip", out.getvalue())

    assert read_text(inbox.fetch().parts[0]) == LINES


def build_encrypted_zip() -> bytes:
    content = bytearray(build_zip(("a.csv", CSV_TEXT)))
    content[6] |= 1  # in the local header
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def build_overlapping_zip() -> bytes:
    """Two directory entries refer to the same member."""
    content = build_zip(("a.csv", LINES))
    start = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry = content[start:end]
    tail = bytearray(content[end:])
    tail[8:12] = b"\x02\0\x02\0"
    tail[12:16] = (2 * len(entry)).to_bytes(4, "little")
    return content[:end] + entry + bytes(tail)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (build_zip(), "no_parts"),
        (build_zip(("readme.txt", b"-")), "no_parts"),
        (build_zip(("a.csv.gz", COMPRESSED)), "nested"),
        (build_zip(("a.zip", build_zip(("a.csv", CSV_TEXT)))), "nested"),
        (build_zip(("a.csv", LINES), method=zipfile.ZIP_BZIP2), "compression"),
        (build_zip(("a.csv", LINES), method=zipfile.ZIP_LZMA), "compression"),
        (build_zip(("a.csv", b"0\n" * 600_000)), "bomb"),
        (build_encrypted_zip(), "encrypted"),
        (build_overlapping_zip(), "corrupt"),
        (build_zip(("a.csv", LINES))[:-10], "truncated"),
        (build_zip(("a.csv", LINES))[:2000], "truncated"),
        (
            build_zip(("a.csv", CSV_TEXT), method=zipfile.ZIP_STORED).replace(b"1,2", b"1,3"),
            "bad_checksum",
        ),
    ],
)
def test_invalid_zip_files_are_refused(inbox: Inbox, content: bytes, rule: str) -> None:
    inbox.put("month.zip", content)

    error = inbox.fetch_error(limits=SMALL_BOMBS)

    assert error.rule == rule
    assert error.file.startswith("month.zip")


def test_a_damaged_member_is_refused_when_it_is_read(inbox: Inbox) -> None:
    content = bytearray(build_zip(("a.csv", LINES)))
    content[500] ^= 0x55
    inbox.put("month.zip", bytes(content))

    assert read_refused(inbox.fetch().parts[0]) in {"bad_checksum", "corrupt"}


def test_a_member_compressed_twice_is_refused_when_it_is_read(inbox: Inbox) -> None:
    inbox.put("month.zip", build_zip(("a.csv", COMPRESSED)))

    assert read_refused(inbox.fetch().parts[0]) == "nested"


@given(cut=st.integers(0, 400))
def test_a_truncated_zip_file_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    content = build_zip(("a.csv", b"id,cost\n" + b"".join(b"%d,1\n" % n for n in range(200))))
    inbox = Inbox(tmp_path_factory.mktemp("cut"))
    inbox.put("month.zip", content[: min(cut, len(content) - 1)])

    assert inbox.fetch_error().rule in {"truncated", "not_zip"}


def test_a_directory_that_is_too_large_is_refused(inbox: Inbox) -> None:
    content = bytearray(build_zip(("a.csv", CSV_TEXT)))
    end = content.index(b"PK\x05\x06")
    content[end + 12 : end + 16] = (2**31).to_bytes(4, "little")
    inbox.put("month.zip", bytes(content))

    assert inbox.fetch_error().rule == "too_many_files"
