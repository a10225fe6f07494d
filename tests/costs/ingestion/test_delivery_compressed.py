"""What is read from a compressed file is exactly what went in, or it is refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import resource
import threading
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.delivery import Limits, Part, open_csv
from tests.costs.small_files import TEXT, Inbox, text_of

LINES = b"id,cost\n" + b"".join(b"%d,0.%010d\n" % (at, at * 7919) for at in range(3_000))
PACKED = gzip.compress(LINES, mtime=0)
SMALL = gzip.compress(b"id,cost\n1,0.25\n2,0.75\n", mtime=0)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def part_of(inbox: Inbox, content: bytes, name: str = "a.csv.gz") -> Part:
    inbox.put(name, content)
    (part,) = inbox.take(name).parts
    return part


def rule_on_reading(part: Part, limits: Limits | None = None) -> str:
    with pytest.raises(CostFileError) as refused:
        read_through(part, limits or Limits())
    assert refused.value.file == part.name
    return refused.value.rule


def read_through(part: Part, limits: Limits) -> None:
    with open_csv(part, limits) as text:
        while text.read(2**20):
            pass


# ── gzip ─────────────────────────────────────────────────────────────────────────────────────────


def test_several_members_are_one_text(inbox: Inbox) -> None:
    pieces = [LINES[at : at + 7_000] for at in range(0, len(LINES), 7_000)]
    content = b"".join(gzip.compress(piece, mtime=0) for piece in [b"", *pieces, b""])

    assert text_of(part_of(inbox, content)) == LINES


def test_a_head_with_all_its_extras_is_read(inbox: Inbox) -> None:
    packer = zlib.compressobj(wbits=-15)
    deflated = packer.compress(TEXT) + packer.flush()
    extra, name, comment = b"\x04\0ABCD", b"report.csv\0", b"by hand\0"
    head = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff" + extra + name + comment
    head += (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little")
    tail = zlib.crc32(TEXT).to_bytes(4, "little") + len(TEXT).to_bytes(4, "little")

    assert text_of(part_of(inbox, head + deflated + tail)) == TEXT


@given(cut=st.integers(0, len(SMALL) - 1), before=st.booleans())
def test_a_gzip_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, before: bool
) -> None:
    """As the only member, where even nothing is too little, or as a further one."""
    inbox = Inbox(tmp_path_factory.mktemp("cut"))
    content = (PACKED if before else b"") + SMALL[:cut]
    if before and cut == 0:
        assert text_of(part_of(inbox, content)) == LINES
    else:
        assert rule_on_reading(part_of(inbox, content)) == "truncated"


@pytest.mark.parametrize("cut", range(0, len(PACKED), len(PACKED) // 50))
def test_a_larger_gzip_cut_at_fifty_places_is_refused(inbox: Inbox, cut: int) -> None:
    assert rule_on_reading(part_of(inbox, PACKED[:cut])) == "truncated"


@given(at=st.integers(0, len(SMALL) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_refused_or_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, at: int, bit: int
) -> None:
    """A few bits of the head say only when and where it was compressed."""
    content = bytearray(SMALL)
    content[at] ^= 1 << bit
    inbox = Inbox(tmp_path_factory.mktemp("flipped"))
    part = part_of(inbox, bytes(content))
    try:
        met: bytes | str = text_of(part)
    except CostFileError as refused:
        met = refused.rule
    refusals = {"bad_checksum", "corrupt", "truncated", "not_gzip", "trailing_garbage"}
    assert met == gzip.decompress(SMALL) or met in refusals


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (PACKED[:-8] + bytes([PACKED[-8] ^ 1]) + PACKED[-7:], "bad_checksum"),
        (PACKED[:-4] + bytes([PACKED[-4] ^ 1]) + PACKED[-3:], "bad_checksum"),
        (PACKED + b"garbage", "trailing_garbage"),
        (PACKED + bytes(512), "trailing_garbage"),
        (PACKED + b"\n", "trailing_garbage"),
        (PACKED + b"\x1f", "truncated"),
        (b"a,b\n1,2\n", "not_gzip"),
        (b"\x1f\x8b\x07" + PACKED[3:], "corrupt"),
        (SMALL[:10] + b"\xff" * 40, "corrupt"),
        (gzip.compress(PACKED), "nested"),
        (gzip.compress(b"PK\x03\x04whatever"), "nested"),
        (gzip.compress(b"PAR1whatever"), "nested"),
        (gzip.compress(bz2.compress(LINES)), "nested"),
        (gzip.compress(lzma.compress(LINES)), "nested"),
        (gzip.compress(b"") * 20_000, "corrupt"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_damage_is_named(inbox: Inbox, content: bytes, rule: str) -> None:
    assert rule_on_reading(part_of(inbox, content)) == rule


@pytest.mark.parametrize("content", [bz2.compress(LINES), lzma.compress(LINES)])
def test_other_compressions_are_refused(inbox: Inbox, content: bytes) -> None:
    assert rule_on_reading(part_of(inbox, content, name="a.csv")) == "compression"


# ── limits ───────────────────────────────────────────────────────────────────────────────────────


def bomb(inbox: Inbox, mebibytes: int, block: bytes) -> Part:
    """The same compressed block over and over; how it ends nobody gets to see."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return part_of(inbox, SMALL[:10] + packed * mebibytes)


@pytest.mark.parametrize(
    ("block", "rule"), [(bytes(2**20), "line_too_long"), (b"0\n" * 2**19, "bomb")]
)
def test_a_bomb_is_refused_soon_and_in_little_memory(inbox: Inbox, block: bytes, rule: str) -> None:
    part = bomb(inbox, 1024, block)
    assert part.bytes < 3_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()

    assert rule_on_reading(part) == rule

    assert time.process_time() - started < 20  # the aim is 2; this is the watchdog
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_limits_are_met_exactly(inbox: Inbox) -> None:
    part = part_of(inbox, PACKED)

    assert len(text_of(part, Limits(part_bytes_max=len(LINES)))) == len(LINES)
    assert rule_on_reading(part, Limits(part_bytes_max=len(LINES) - 1)) == "too_large"
    ratio = len(LINES) // part.bytes
    assert rule_on_reading(part, Limits(bomb_bytes_min=1_000, bomb_ratio_max=ratio)) == "bomb"
    assert text_of(part, Limits(bomb_bytes_min=1_000, bomb_ratio_max=ratio + 1)) == LINES
    assert text_of(part, Limits(bomb_bytes_min=len(LINES), bomb_ratio_max=1)) == LINES


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_line_that_is_too_long_is_named_by_its_number(inbox: Inbox, name: str) -> None:
    long = b"x" * (3 * 2**20)
    content = b"a\n" * 5 + long + b"\n" + b"b\n" * 700_000 + long + b"\nend"
    packed = gzip.compress(content, 1) if name.endswith("gz") else content
    part = part_of(inbox, packed, name)

    assert text_of(part, Limits(line_bytes_max=3 * 2**20)) == content
    with pytest.raises(CostFileError) as refused:
        text_of(part, Limits(line_bytes_max=2 * 2**20))
    assert (refused.value.rule, refused.value.line) == ("line_too_long", 6)


def test_memory_stays_small_however_long_the_text(inbox: Inbox) -> None:
    packer = zlib.compressobj(1, wbits=31)
    block = b"".join(b"%d,%d,some words\n" % (at, at * at) for at in range(20_000))
    content = b"".join(packer.compress(block) for _ in range(60)) + packer.flush()
    part = part_of(inbox, content)
    tracemalloc.start()
    with open_csv(part, Limits()) as text:
        read = sum(len(piece) for piece in iter(lambda: text.read(2**18), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert read == 60 * len(block)
    assert peak < 16 * 2**20


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_changed_since_it_was_delivered_is_refused(inbox: Inbox) -> None:
    part = part_of(inbox, PACKED)
    part.path.write_bytes(gzip.compress(LINES.replace(b"1,0.", b"1,9."), mtime=0))

    assert rule_on_reading(part) == "changed"


def test_the_refusal_stays_when_one_reads_on(inbox: Inbox) -> None:
    part = part_of(inbox, PACKED[:-4])
    with open_csv(part, Limits()) as text:
        for _ in range(3):
            with pytest.raises(CostFileError):
                text.read()


def test_the_end_stays_the_end(inbox: Inbox) -> None:
    with open_csv(part_of(inbox, PACKED), Limits()) as text:
        assert text.read() == LINES
        assert text.read() == text.read(5) == b""


def test_a_reader_that_is_closed_early_leaves_no_thread(inbox: Inbox) -> None:
    packed = gzip.compress(LINES * 100, 1)
    before = threading.active_count()
    for _ in range(5):
        text = open_csv(part_of(inbox, packed), Limits())
        assert text.read(10) == LINES[:10]
        text.close()
        assert text.closed

    assert threading.active_count() == before


def test_a_reader_that_is_forgotten_leaves_no_thread(inbox: Inbox) -> None:
    before = threading.active_count()
    forgotten = open_csv(part_of(inbox, gzip.compress(LINES * 100, 1)), Limits())
    del forgotten

    assert threading.active_count() == before
