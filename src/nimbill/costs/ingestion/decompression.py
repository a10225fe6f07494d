"""The text of a CSV part, decompressed beside its reader and never more than is allowed."""

from __future__ import annotations

import hashlib
import io
import queue
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from isal import igzip_lib, isal_zlib

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.parts import Limits, Part

BLOCK_BYTES = 2**20
INPUT_BYTES = 2**18
BLOCKS_AHEAD = 4

GZIP = b"\x1f\x8b"
# what no text begins with: gzip, zip, Parquet, bzip2, xz, zstd, 7z
COMPRESSED = (GZIP, b"PK\x03\x04", b"PAR1", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf")

# a file of ever so many members with next to nothing in them only costs time
MEMBERS_MAX = 10_000
MEMBER_BYTES_MIN = 512

DAMAGED = cast("type[Exception]", isal_zlib.error)  # which its types call an instance
BAD_CHECKSUM = -6


def open_csv(part: Part, limits: Limits) -> BinaryIO:
    """The part's text; Broken on reading where it is damaged, too large, or not what was hashed.

    A reader that met the end has seen every checksum hold.
    """
    return cast("BinaryIO", io.BufferedReader(_beside(part, limits), BLOCK_BYTES))


@contextmanager
def blocks_of_csv(part: Part, limits: Limits) -> Iterator[Iterator[bytes]]:
    """The same in blocks as they are unpacked, of a mebibyte and less, each of them handed on as it
    is: whoever reads a stream copies it twice.
    """
    with closing(_beside(part, limits)) as unpacked:
        yield unpacked.blocks()


def _beside(part: Part, limits: Limits) -> _Beside:
    return _Beside(_within(limits, part, _unchanged(part)))


class _Unchanged:
    """The bytes of a part's file, hashed again as they are read."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.taken = 0
        self.digest = hashlib.sha256()

    def pieces(self, size: int) -> Iterator[bytes]:
        with self.part.path.open("rb", buffering=0) as file:
            while piece := file.read(size):
                self.taken += len(piece)
                self.digest.update(piece)
                yield piece
        if self.digest.hexdigest() != self.part.sha256:
            raise refused(self.part.name, "changed")


def _unchanged(part: Part) -> Iterator[tuple[bytes, int]]:
    """The text in blocks, each with how many bytes of the file were read for it."""
    file = _Unchanged(part)
    if part.form == "csv.gz":
        for block in _gunzipped(part, file.pieces(INPUT_BYTES)):
            yield block, file.taken
    else:
        for block in file.pieces(BLOCK_BYTES):
            yield block, file.taken


def _gunzipped(part: Part, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Member after member; whatever is no member, zeros too, is refused."""
    rest = next(pieces, b"")
    members = text = 0
    while members == 0 or rest:
        if len(rest) < len(GZIP):
            rest += next(pieces, b"")
        if not rest.startswith(GZIP):
            if GZIP.startswith(rest):
                raise refused(part.name, "truncated")
            raise refused(part.name, "trailing_garbage" if members else "not_gzip")
        members += 1
        member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            while not member.eof:
                if member.needs_input and not rest and not (rest := next(pieces, b"")):
                    raise refused(part.name, "truncated")
                block = member.decompress(rest, BLOCK_BYTES)
                rest = b""
                text += len(block)
                if block:
                    yield block
        except DAMAGED as error:
            damage = "bad_checksum" if f"Error {BAD_CHECKSUM} " in str(error) else "corrupt"
            raise refused(part.name, damage) from None
        rest = member.unused_data or next(pieces, b"")
        if members > MEMBERS_MAX and text < members * MEMBER_BYTES_MIN:
            raise refused(part.name, "corrupt")


def _within(limits: Limits, part: Part, blocks: Iterator[tuple[bytes, int]]) -> Iterator[bytes]:
    text = unended = 0
    for block, taken in blocks:
        if text == 0 and block.startswith(COMPRESSED):
            raise refused(part.name, "nested" if part.form == "csv.gz" else "compression")
        text += len(block)
        if text > limits.part_bytes_max:
            raise refused(part.name, "too_large", limits.part_bytes_max)
        if text > limits.bomb_bytes_min and text > taken * limits.bomb_ratio_max:
            raise refused(part.name, "bomb", f"more than {limits.bomb_ratio_max}")
        # no line within a block is too long, for blocks are shorter than lines may be
        first_end = block.find(b"\n")
        unended += len(block) if first_end < 0 else first_end
        if unended > limits.line_bytes_max:
            line = _line_at(part, text - len(block))
            raise refused(part.name, "line_too_long", limits.line_bytes_max, line=line)
        if first_end >= 0:
            unended = len(block) - block.rfind(b"\n") - 1
        yield block


def _line_at(part: Part, offset: int) -> int:
    """Read again up to there; only what is refused costs that."""
    line = 1
    for block, _ in _unchanged(part):
        line += block.count(b"\n", 0, min(len(block), offset))
        offset -= len(block)
        if offset <= 0:
            break
    return line


def small_text(name: str, path: Path, *, bytes_max: int) -> bytes:
    """A small file as a whole, gzipped or not."""
    with path.open("rb") as file:
        return small_content(name, file, bytes_max=bytes_max)


def small_content(name: str, file: BinaryIO, *, bytes_max: int) -> bytes:
    """What is read from there as a whole, gzipped or not."""
    content = file.read(bytes_max + 1)
    if content.startswith(GZIP):
        part = Part(name, Path(), "csv.gz", len(content), "")
        gathered = bytearray()
        for block in _gunzipped(part, iter([content])):
            gathered += block
            if len(gathered) > bytes_max:
                break
        content = bytes(gathered)
    if len(content) > bytes_max:
        raise refused(name, "too_large", bytes_max)
    return content


class _End(Exception):
    """The mark after the last block."""


class _Beside(io.RawIOBase):
    """Blocks made by a thread of its own, a few ahead of whoever reads them.

    The end is told by a mark in the queue and never guessed from the thread's being gone, so that
    no block can be lost between the two.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._queue: queue.Queue[bytes | BaseException] = queue.Queue(BLOCKS_AHEAD)
        self._stop = threading.Event()
        self._block = memoryview(b"")
        self._ended: BaseException | None = None
        # the thread knows nothing of the reader, so that a forgotten reader can end
        self._thread = threading.Thread(
            target=_fill, args=(self._queue, self._stop, blocks), daemon=True
        )
        self._thread.start()

    def readable(self) -> bool:
        return True

    def readinto(self, into: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self._block:
            self._block = memoryview(self._next())
        count = min(len(self._block), len(into))
        into[:count] = self._block[:count]
        self._block = self._block[count:]
        return count

    def blocks(self) -> Iterator[bytes]:
        while block := self._next():
            yield block

    def _next(self) -> bytes:
        """Nothing at the end, and no block is nothing."""
        if self._ended is None:
            met = self._queue.get()
            if isinstance(met, bytes):
                return met
            self._ended = met
        if not isinstance(self._ended, _End):
            raise self._ended
        return b""

    def close(self) -> None:
        if not self.closed:
            self._stop.set()
            with suppress(queue.Empty):
                while True:
                    self._queue.get_nowait()
            self._thread.join()
            self._block = memoryview(b"")
        super().close()


def _fill(
    filled: queue.Queue[bytes | BaseException], stop: threading.Event, blocks: Iterator[bytes]
) -> None:
    try:
        for block in blocks:
            if not _put(filled, stop, block):
                return
        _put(filled, stop, _End())
    except BaseException as error:  # noqa: BLE001 - raised again where the text is read
        _put(filled, stop, error)


def _put(
    filled: queue.Queue[bytes | BaseException], stop: threading.Event, met: bytes | BaseException
) -> bool:
    while not stop.is_set():
        with suppress(queue.Full):
            filled.put(met, timeout=0.05)
            return True
    return False
