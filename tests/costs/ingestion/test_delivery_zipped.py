"""The CSV files in a zip file are parts, its names never paths; what is wrong is refused."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.ingestion.delivery import CostFileError, Limits, Part
from tests.costs.small_files import TEXT, Inbox, names, text_of

LINES = b"id,cost\n" + b"".join(b"%d,0.%010d\n" % (at, at * 7919) for at in range(3_000))
PACKED = gzip.compress(LINES, mtime=0)
SMALL_BOMBS = Limits(bomb_bytes_min=1_000_000)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def rule_on_reading(part: Part) -> str:
    with pytest.raises(CostFileError) as refused:
        text_of(part)
    return refused.value.rule


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_zip_file_is_as_many_parts_as_it_holds_csv_files(inbox: Inbox, method: int) -> None:
    inbox.put(
        "month.zip",
        zipped(("a.csv", LINES), ("b/B.CSV", TEXT), ("readme.txt", b"-"), method=method),
    )

    delivery = inbox.take()

    assert names(delivery) == ["month.zip/a.csv", "month.zip/B.CSV"]
    assert [text_of(part) for part in delivery.parts] == [LINES, TEXT]
    assert {part.path.parent for part in delivery.parts} == {inbox.spool}


def test_names_in_a_zip_file_are_never_paths(inbox: Inbox, tmp_path: Path) -> None:
    wild = ["../../escaped.csv", "/etc/cron.d/x.csv", "a\\..\\b.csv", "__MACOSX/._a.csv", ".x.csv"]
    members = [(name, b"a\n%d\n" % at) for at, name in enumerate(wild)]
    inbox.put("month.zip", zipped(*members, ("dir.csv/", b"")))

    delivery = inbox.take()

    assert len(delivery.parts) == 3
    assert all(part.path.parent == inbox.spool for part in delivery.parts)
    assert not list(tmp_path.rglob("escaped*"))


def test_a_member_that_was_streamed_into_its_zip_file_is_read(inbox: Inbox) -> None:
    """Its local head knows no sizes; only the directory at the end does."""

    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise io.UnsupportedOperation

    out = Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", LINES)
    inbox.put("month.zip", out.getvalue())

    assert text_of(inbox.take().parts[0]) == LINES


def encrypted() -> bytes:
    content = bytearray(zipped(("a.csv", TEXT)))
    content[6] |= 1  # in the local head
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def overlapping() -> bytes:
    """Two entries of the directory for one and the same member."""
    content = zipped(("a.csv", LINES))
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
        (zipped(), "no_parts"),
        (zipped(("readme.txt", b"-")), "no_parts"),
        (zipped(("a.csv.gz", PACKED)), "nested"),
        (zipped(("a.zip", zipped(("a.csv", TEXT)))), "nested"),
        (zipped(("a.csv", LINES), method=zipfile.ZIP_BZIP2), "compression"),
        (zipped(("a.csv", LINES), method=zipfile.ZIP_LZMA), "compression"),
        (zipped(("a.csv", b"0\n" * 600_000)), "bomb"),
        (encrypted(), "encrypted"),
        (overlapping(), "corrupt"),
        (zipped(("a.csv", LINES))[:-10], "truncated"),
        (zipped(("a.csv", LINES))[:2000], "truncated"),
        (
            zipped(("a.csv", TEXT), method=zipfile.ZIP_STORED).replace(b"1,2", b"1,3"),
            "bad_checksum",
        ),
    ],
)
def test_zip_files_are_refused_by_name(inbox: Inbox, content: bytes, rule: str) -> None:
    inbox.put("month.zip", content)

    refused = inbox.refusal(limits=SMALL_BOMBS)

    assert refused.rule == rule
    assert refused.file.startswith("month.zip")


def test_a_damaged_member_is_met_where_it_is_read(inbox: Inbox) -> None:
    content = bytearray(zipped(("a.csv", LINES)))
    content[500] ^= 0x55
    inbox.put("month.zip", bytes(content))

    assert rule_on_reading(inbox.take().parts[0]) in {"bad_checksum", "corrupt"}


def test_a_member_compressed_twice_is_met_where_it_is_read(inbox: Inbox) -> None:
    inbox.put("month.zip", zipped(("a.csv", PACKED)))

    assert rule_on_reading(inbox.take().parts[0]) == "nested"


@given(cut=st.integers(0, 400))
def test_a_zip_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    content = zipped(("a.csv", b"id,cost\n" + b"".join(b"%d,1\n" % at for at in range(200))))
    inbox = Inbox(tmp_path_factory.mktemp("cut"))
    inbox.put("month.zip", content[: min(cut, len(content) - 1)])

    assert inbox.refusal().rule in {"truncated", "not_zip"}


def test_a_directory_too_large_to_be_true_is_refused_unread(inbox: Inbox) -> None:
    content = bytearray(zipped(("a.csv", TEXT)))
    end = content.index(b"PK\x05\x06")
    content[end + 12 : end + 16] = (2**31).to_bytes(4, "little")
    inbox.put("month.zip", bytes(content))

    assert inbox.refusal().rule == "too_many_files"
