"""Decompression returns exactly the original text or refuses the file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import threading
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.decompression import THREAD_NAME, open_csv
from nimbill.costs.ingestion.parts import Limits, Part
from tests.costs.inbox import CSV_TEXT, Inbox, read_text

LINES = b"id,cost\n" + b"".join(b"%d,0.%010d\n" % (n, n * 7919) for n in range(3_000))
COMPRESSED = gzip.compress(LINES, mtime=0)
SMALL = gzip.compress(b"id,cost\n1,0.25\n2,0.75\n", mtime=0)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def put_part(inbox: Inbox, content: bytes, name: str = "a.csv.gz") -> Part:
    inbox.put(name, content)
    (part,) = inbox.fetch(name).parts
    return part


def read_refused(part: Part, limits: Limits | None = None) -> str:
    with pytest.raises(CostFileError) as caught:
        read_to_end(part, limits or Limits())
    assert caught.value.file == part.name
    return caught.value.rule


def read_to_end(part: Part, limits: Limits) -> None:
    with open_csv(part, limits) as text:
        while text.read(2**20):
            pass


# ── gzip ─────────────────────────────────────────────────────────────────────────────────────────


def test_gzip_members_are_concatenated(inbox: Inbox) -> None:
    texts = [LINES[start : start + 7_000] for start in range(0, len(LINES), 7_000)]
    content = b"".join(gzip.compress(text, mtime=0) for text in [b"", *texts, b""])

    assert read_text(put_part(inbox, content)) == LINES


def test_a_gzip_header_with_all_optional_fields_is_read(inbox: Inbox) -> None:
    compressor = zlib.compressobj(wbits=-15)
    deflated = compressor.compress(CSV_TEXT) + compressor.flush()
    extra, name, comment = b"\x04\0ABCD", b"report.csv\0", b"a comment\0"
    header = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff" + extra + name + comment
    header += (zlib.crc32(header) & 0xFFFF).to_bytes(2, "little")
    trailer = zlib.crc32(CSV_TEXT).to_bytes(4, "little") + len(CSV_TEXT).to_bytes(4, "little")

    assert read_text(put_part(inbox, header + deflated + trailer)) == CSV_TEXT


@given(cut=st.integers(0, len(SMALL) - 1), before=st.booleans())
def test_a_truncated_gzip_member_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, before: bool
) -> None:
    """Truncate the only member, or a second member after a complete one."""
    inbox = Inbox(tmp_path_factory.mktemp("cut"))
    content = (COMPRESSED if before else b"") + SMALL[:cut]
    if before and cut == 0:
        assert read_text(put_part(inbox, content)) == LINES
    else:
        assert read_refused(put_part(inbox, content)) == "truncated"


@pytest.mark.parametrize("cut", range(0, len(COMPRESSED), len(COMPRESSED) // 50))
def test_a_truncated_larger_gzip_file_is_refused(inbox: Inbox, cut: int) -> None:
    assert read_refused(put_part(inbox, COMPRESSED[:cut])) == "truncated"


@given(position=st.integers(0, len(SMALL) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    """Some bits of the header only contain the time and the operating system."""
    content = bytearray(SMALL)
    content[position] ^= 1 << bit
    inbox = Inbox(tmp_path_factory.mktemp("flipped"))
    part = put_part(inbox, bytes(content))
    try:
        result: bytes | str = read_text(part)
    except CostFileError as error:
        result = error.rule
    rules = {"bad_checksum", "corrupt", "truncated", "not_gzip", "trailing_garbage"}
    assert result == gzip.decompress(SMALL) or result in rules


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (COMPRESSED[:-8] + bytes([COMPRESSED[-8] ^ 1]) + COMPRESSED[-7:], "bad_checksum"),
        (COMPRESSED[:-4] + bytes([COMPRESSED[-4] ^ 1]) + COMPRESSED[-3:], "bad_checksum"),
        (COMPRESSED + b"garbage", "trailing_garbage"),
        (COMPRESSED + bytes(512), "trailing_garbage"),
        (COMPRESSED + b"\n", "trailing_garbage"),
        (COMPRESSED + b"\x1f", "truncated"),
        (b"a,b\n1,2\n", "not_gzip"),
        (b"\x1f\x8b\x07" + COMPRESSED[3:], "corrupt"),
        (SMALL[:10] + b"\xff" * 40, "corrupt"),
        (gzip.compress(COMPRESSED), "nested"),
        (gzip.compress(b"PK\x03\x04whatever"), "nested"),
        (gzip.compress(b"PAR1whatever"), "nested"),
        (gzip.compress(bz2.compress(LINES)), "nested"),
        (gzip.compress(lzma.compress(LINES)), "nested"),
        (gzip.compress(b"") * 20_000, "corrupt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_damaged_files_are_refused(inbox: Inbox, content: bytes, rule: str) -> None:
    assert read_refused(put_part(inbox, content)) == rule


@pytest.mark.parametrize("content", [bz2.compress(LINES), lzma.compress(LINES)])
def test_other_compressions_are_refused(inbox: Inbox, content: bytes) -> None:
    assert read_refused(put_part(inbox, content, name="a.csv")) == "compression"


# ── limits ───────────────────────────────────────────────────────────────────────────────────────


def put_bomb(inbox: Inbox, mebibytes: int, block: bytes) -> Part:
    """Repeat a compressed block; reading must stop before the invalid end."""
    compressor = zlib.compressobj(9, wbits=-15)
    packed = compressor.compress(block) + compressor.flush(zlib.Z_FULL_FLUSH)
    return put_part(inbox, SMALL[:10] + packed * mebibytes)


@pytest.mark.parametrize(
    ("block", "rule"), [(bytes(2**20), "line_too_long"), (b"0\n" * 2**19, "bomb")]
)
def test_a_bomb_is_refused_early_with_little_memory(inbox: Inbox, block: bytes, rule: str) -> None:
    part = put_bomb(inbox, 1024, block)
    assert part.bytes < 3_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert read_refused(part) == rule
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_limits_are_exact(inbox: Inbox) -> None:
    part = put_part(inbox, COMPRESSED)

    assert len(read_text(part, Limits(part_bytes_max=len(LINES)))) == len(LINES)
    assert read_refused(part, Limits(part_bytes_max=len(LINES) - 1)) == "too_large"
    ratio = len(LINES) // part.bytes
    assert read_refused(part, Limits(bomb_bytes_min=1_000, bomb_ratio_max=ratio)) == "bomb"
    assert read_text(part, Limits(bomb_bytes_min=1_000, bomb_ratio_max=ratio + 1)) == LINES
    assert read_text(part, Limits(bomb_bytes_min=len(LINES), bomb_ratio_max=1)) == LINES


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_the_number_of_a_line_that_is_too_long_is_reported(inbox: Inbox, name: str) -> None:
    long = b"x" * (3 * 2**20)
    content = b"a\n" * 5 + long + b"\n" + b"b\n" * 700_000 + long + b"\nend"
    packed = gzip.compress(content, 1) if name.endswith("gz") else content
    part = put_part(inbox, packed, name)

    assert read_text(part, Limits(line_bytes_max=3 * 2**20)) == content
    with pytest.raises(CostFileError) as caught:
        read_text(part, Limits(line_bytes_max=2 * 2**20))
    assert (caught.value.rule, caught.value.line) == ("line_too_long", 6)


def test_memory_does_not_grow_with_the_length_of_the_text(inbox: Inbox) -> None:
    compressor = zlib.compressobj(1, wbits=31)
    block = b"".join(b"%d,%d,some words\n" % (n, n * n) for n in range(20_000))
    content = b"".join(compressor.compress(block) for _ in range(60)) + compressor.flush()
    part = put_part(inbox, content)
    tracemalloc.start()
    with open_csv(part, Limits()) as text:
        length = sum(len(chunk) for chunk in iter(lambda: text.read(2**18), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert length == 60 * len(block)
    assert peak < 16 * 2**20


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_changed_since_it_was_hashed_is_refused(inbox: Inbox) -> None:
    part = put_part(inbox, COMPRESSED)
    part.path.write_bytes(gzip.compress(LINES.replace(b"1,0.", b"1,9."), mtime=0))

    assert read_refused(part) == "changed"


def test_the_error_is_raised_again_by_later_reads(inbox: Inbox) -> None:
    part = put_part(inbox, COMPRESSED[:-4])
    with open_csv(part, Limits()) as text:
        for _ in range(3):
            with pytest.raises(CostFileError):
                text.read()


def test_reads_after_the_end_return_nothing(inbox: Inbox) -> None:
    with open_csv(put_part(inbox, COMPRESSED), Limits()) as text:
        assert text.read() == LINES
        assert text.read() == text.read(5) == b""


def list_reading_threads() -> set[threading.Thread]:
    """Services of this process have other threads, which begin and end at any time."""
    return {thread for thread in threading.enumerate() if thread.name == THREAD_NAME}


def test_closing_a_reader_early_ends_its_thread(inbox: Inbox) -> None:
    packed = gzip.compress(LINES * 100, 1)
    before = list_reading_threads()
    for _ in range(5):
        text = open_csv(put_part(inbox, packed), Limits())
        assert text.read(10) == LINES[:10]
        text.close()
        assert text.closed

    assert list_reading_threads() <= before


def test_an_abandoned_reader_ends_its_thread(inbox: Inbox) -> None:
    before = list_reading_threads()
    abandoned = open_csv(put_part(inbox, gzip.compress(LINES * 100, 1)), Limits())
    del abandoned

    assert list_reading_threads() <= before
