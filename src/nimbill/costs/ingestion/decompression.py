"""Decompresses the text of CSV parts in a background thread, within the limits of a delivery."""

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

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import Limits, Part

BLOCK_BYTES = 2**20
INPUT_BYTES = 2**18
BLOCKS_AHEAD = 4
THREAD_NAME = "decompression"

GZIP = b"\x1f\x8b"
# first bytes of gzip, zip, Parquet, bzip2, xz, zstd and 7z files
COMPRESSED = (GZIP, b"PK\x03\x04", b"PAR1", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf")

# a gzip file with very many almost empty members only takes time
MEMBERS_MAX = 10_000
MEMBER_BYTES_MIN = 512

GzipError = cast("type[Exception]", isal_zlib.error)  # its type stub declares an instance
BAD_CHECKSUM = -6


def open_csv(part: Part, limits: Limits) -> BinaryIO:
    """Reading raises CostFileError if the part is damaged, too large, or changed since hashing.

    All checksums have been verified when the end of the stream is reached.
    """
    return cast("BinaryIO", io.BufferedReader(_start_reader(part, limits), BLOCK_BYTES))


@contextmanager
def open_csv_blocks(part: Part, limits: Limits) -> Iterator[Iterator[bytes]]:
    """Like `open_csv`, in blocks of at most 1 MiB; a stream would copy the text twice."""
    with closing(_start_reader(part, limits)) as reader:
        yield reader.blocks()


def _start_reader(part: Part, limits: Limits) -> _ThreadedReader:
    return _ThreadedReader(_enforce_limits(limits, part, _read_blocks(part)))


class _HashedFile:
    """Reads a part's file and verifies that it still has the digest of the delivery."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.bytes_read = 0
        self.digest = hashlib.sha256()

    def chunks(self, size: int) -> Iterator[bytes]:
        with self.part.path.open("rb", buffering=0) as file:
            while chunk := file.read(size):
                self.bytes_read += len(chunk)
                self.digest.update(chunk)
                yield chunk
        if self.digest.hexdigest() != self.part.sha256:
            raise delivery_error(self.part.name, "changed")


def _read_blocks(part: Part) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of text, each with the number of file bytes read so far."""
    file = _HashedFile(part)
    if part.file_type == "csv.gz":
        for block in _gunzip(part, file.chunks(INPUT_BYTES)):
            yield block, file.bytes_read
    else:
        for block in file.chunks(BLOCK_BYTES):
            yield block, file.bytes_read


def _gunzip(part: Part, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Decompress all members; refuse any other data after a member, also zero bytes."""
    rest = next(chunks, b"")
    members = text_bytes = 0
    while members == 0 or rest:
        if len(rest) < len(GZIP):
            rest += next(chunks, b"")
        if not rest.startswith(GZIP):
            if GZIP.startswith(rest):
                raise delivery_error(part.name, "truncated")
            raise delivery_error(part.name, "trailing_garbage" if members else "not_gzip")
        members += 1
        member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            while not member.eof:
                if member.needs_input and not rest and not (rest := next(chunks, b"")):
                    raise delivery_error(part.name, "truncated")
                block = member.decompress(rest, BLOCK_BYTES)
                rest = b""
                text_bytes += len(block)
                if block:
                    yield block
        except GzipError as error:
            rule = "bad_checksum" if f"Error {BAD_CHECKSUM} " in str(error) else "corrupt"
            raise delivery_error(part.name, rule) from None
        rest = member.unused_data or next(chunks, b"")
        if members > MEMBERS_MAX and text_bytes < members * MEMBER_BYTES_MIN:
            raise delivery_error(part.name, "corrupt")


def _enforce_limits(
    limits: Limits, part: Part, blocks: Iterator[tuple[bytes, int]]
) -> Iterator[bytes]:
    text_bytes = line_bytes = 0
    for block, bytes_read in blocks:
        if text_bytes == 0 and block.startswith(COMPRESSED):
            rule = "nested" if part.file_type == "csv.gz" else "compression"
            raise delivery_error(part.name, rule)
        text_bytes += len(block)
        if text_bytes > limits.part_bytes_max:
            raise delivery_error(part.name, "too_large", limits.part_bytes_max)
        is_large = text_bytes > limits.bomb_bytes_min
        if is_large and text_bytes > bytes_read * limits.bomb_ratio_max:
            raise delivery_error(part.name, "bomb", f"more than {limits.bomb_ratio_max}")
        # a line within one block is never too long: blocks are shorter than the limit
        first_newline = block.find(b"\n")
        line_bytes += len(block) if first_newline < 0 else first_newline
        if line_bytes > limits.line_bytes_max:
            line = _find_line_number(part, text_bytes - len(block))
            raise delivery_error(part.name, "line_too_long", limits.line_bytes_max, line=line)
        if first_newline >= 0:
            line_bytes = len(block) - block.rfind(b"\n") - 1
        yield block


def _find_line_number(part: Part, offset: int) -> int:
    """Read the part again up to the offset; only refused files pay for it."""
    line = 1
    for block, _ in _read_blocks(part):
        line += block.count(b"\n", 0, min(len(block), offset))
        offset -= len(block)
        if offset <= 0:
            break
    return line


def read_small_file(name: str, file: BinaryIO, *, bytes_max: int) -> bytes:
    """Read a plain or gzip file as a whole; `bytes_max` limits the decompressed size."""
    content = file.read(bytes_max + 1)
    if content.startswith(GZIP):
        part = Part(name, Path(), "csv.gz", len(content), "")
        decompressed = bytearray()
        for block in _gunzip(part, iter([content])):
            decompressed += block
            if len(decompressed) > bytes_max:
                break
        content = bytes(decompressed)
    if len(content) > bytes_max:
        raise delivery_error(name, "too_large", bytes_max)
    return content


class _EndOfBlocks(Exception):
    """Marks the end in the queue of blocks."""


class _ThreadedReader(io.RawIOBase):
    """Reads blocks that a background thread produces a few ahead.

    An explicit mark in the queue signals the end. If the end were inferred from the end of the
    thread, a block could be lost between the two.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._queue: queue.Queue[bytes | BaseException] = queue.Queue(BLOCKS_AHEAD)
        self._stop = threading.Event()
        self._block = memoryview(b"")
        self._end: BaseException | None = None
        # the thread has no reference to the reader, so that an abandoned reader is collected
        self._thread = threading.Thread(
            target=_produce,
            args=(self._queue, self._stop, blocks),
            name=THREAD_NAME,
            daemon=True,
        )
        self._thread.start()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self._block:
            self._block = memoryview(self._next())
        count = min(len(self._block), len(buffer))
        buffer[:count] = self._block[:count]
        self._block = self._block[count:]
        return count

    def blocks(self) -> Iterator[bytes]:
        while block := self._next():
            yield block

    def _next(self) -> bytes:
        """Return b"" at the end; blocks are never empty."""
        if self._end is None:
            item = self._queue.get()
            if isinstance(item, bytes):
                return item
            self._end = item
        if not isinstance(self._end, _EndOfBlocks):
            raise self._end
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


def _produce(
    items: queue.Queue[bytes | BaseException], stop: threading.Event, blocks: Iterator[bytes]
) -> None:
    try:
        for block in blocks:
            if not _put(items, stop, block):
                return
        _put(items, stop, _EndOfBlocks())
    except BaseException as error:  # noqa: BLE001 - raised again by the reader
        _put(items, stop, error)


def _put(
    items: queue.Queue[bytes | BaseException], stop: threading.Event, item: bytes | BaseException
) -> bool:
    while not stop.is_set():
        with suppress(queue.Full):
            items.put(item, timeout=0.05)
            return True
    return False
