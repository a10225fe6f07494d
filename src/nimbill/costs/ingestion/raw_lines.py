"""The lines of a part as its vendor wrote them: the columns we need, a bounded piece at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from nimbill.costs.formats.detection import Layout, layout_of
from nimbill.costs.formats.format import NULLS
from nimbill.costs.formats.line_rules import refusal
from nimbill.costs.ingestion.arrow_arrays import words_of
from nimbill.costs.ingestion.delivery import Limits, Part, blocks_of_csv

BLOCK_BYTES = 8 * 2**20
BATCH_LINES = 65_536
COUNTED_AT_ONCE = 2**18
NEWLINE, QUOTE = b'\n"'
NOTHING = pa.array(NULLS, pa.string())
WORDS = pa.dictionary(pa.int32(), pa.string())
# never the same twice, or nearly so: a dictionary of them would only cost
AS_TEXT = ("cost", "effective_cost", "plan_effective_cost")


@dataclass(frozen=True, slots=True)
class RawLines:
    """Some lines of a part: arrays by field, and tags by key."""

    file: str
    layout: Layout
    first_line: int
    fields: dict[str, pa.Array]
    tags: tuple[tuple[str, pa.Array], ...]

    def __len__(self) -> int:
        return len(self.fields["cost"])

    def line(self, row: int) -> int:
        return self.first_line + row

    def column(self, field: str) -> str:
        return self.layout.names.get(field, field)


# Pieces come as work yet to be done, so that several threads can do it.
Piece = Callable[[], RawLines]


def pieces_of(part: Part, limits: Limits) -> Iterator[Piece]:
    """All lines of a part, in order; Broken where it is not what it should be."""
    if part.form == "parquet":
        yield from _parquet_pieces(part)
    else:
        with blocks_of_csv(part, limits) as text:
            yield from _csv_pieces(part, text)


def header_of(part: Part, limits: Limits) -> Layout:
    if part.form == "parquet":
        return layout_of(part.name, pq.read_schema(part.path).names)
    with blocks_of_csv(part, limits) as text:
        layout, _ = _header(part, next(_blocks(part, text), b""))
        return layout


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────


def _csv_pieces(part: Part, text: Iterator[bytes]) -> Iterator[Piece]:
    blocks = _blocks(part, text)
    first = next(blocks, b"")
    layout, rest = _header(part, first)
    varied: set[int] = set()
    line = 2
    for block in _joined(rest, blocks):
        # the number of lines is known only once they are parsed; newlines are an upper bound, and
        # equal to it unless a quoted cell holds one
        yield lambda block=block, line=line: _parsed(part, layout, block, line, varied)  # type: ignore[misc]
        line += _count(block, NEWLINE)


def _joined(first: bytes, others: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks with something in them."""
    yield from (block for block in chain([first], others) if block and not block.isspace())


def _blocks(part: Part, text: Iterator[bytes]) -> Iterator[bytes]:
    """Cut where a line ends and no quote is open; a line that is longer than a block is waited for
    once.
    """
    held: list[bytes] = []
    size = quotes = 0
    enough = BLOCK_BYTES
    for piece in text:
        held.append(piece)
        size += len(piece)
        if size < enough:
            quotes += _count(piece, QUOTE)
            continue
        block, rest = _cut(held, quotes)
        if block:
            yield block
        elif enough > BLOCK_BYTES:
            raise refusal(part.name, "line_too_long")
        enough = BLOCK_BYTES if block else 2 * BLOCK_BYTES
        held, size, quotes = [rest], len(rest), _count(rest, QUOTE)
    if size:
        yield b"".join(held)


def _cut(held: Sequence[bytes], quotes_before: int) -> tuple[bytes, bytes]:
    """Whole lines, and the rest; as a rule the last piece has the end of one, outside quotes."""
    last = held[-1]
    cut = last.rfind(b"\n") + 1
    if cut and (quotes_before + _count(last, QUOTE, cut)) % 2 == 0:
        return b"".join([*held[:-1], memoryview(last)[:cut]]), last[cut:]
    block = b"".join(held)
    cut = _end_of_last_line(block)
    return block[:cut], block[cut:]


def _end_of_last_line(block: bytes) -> int:
    cut = block.rfind(b"\n") + 1
    quotes = _count(block, QUOTE, cut)
    while cut and quotes % 2:
        before = block.rfind(b"\n", 0, cut - 1) + 1
        quotes -= block.count(b'"', before, cut)
        cut = before
    return cut


def _count(block: bytes, byte: int, end: int | None = None) -> int:
    """Some six times quicker than `bytes.count`, which stops at every find; in steps that stay in
    the processor's own memory.
    """
    bytes_ = np.frombuffer(block, np.uint8)[:end]
    steps = range(0, len(bytes_), COUNTED_AT_ONCE)
    return sum(int(np.count_nonzero(bytes_[at : at + COUNTED_AT_ONCE] == byte)) for at in steps)


def _header(part: Part, block: bytes) -> tuple[Layout, bytes]:
    """The first line, read; and what follows it."""
    block = block.removeprefix(b"\xef\xbb\xbf")
    end = block.find(b"\n") + 1 or len(block)
    if block.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in block[:end]:
        raise refusal(part.name, "encoding" if block[:1] in b"\xff\xfe" else "nul", line=1)
    try:
        text = block[:end].decode()
    except UnicodeDecodeError:
        raise refusal(part.name, "encoding", line=1) from None
    try:
        header = next(csv.reader([text], strict=True), [])
    except csv.Error:
        raise refusal(part.name, "unreadable", line=1) from None
    return layout_of(part.name, [name.strip() for name in header]), block[end:]


def _parsed(
    part: Part, layout: Layout, block: bytes, first_line: int, varied: set[int]
) -> RawLines:
    """`varied` are the columns that held several words in an earlier block: read as words at once.
    Of one word, text first and words after is quicker.
    """
    if b"\0" in block:
        at = block.index(b"\0")
        raise refusal(part.name, "nul", line=first_line + block.count(b"\n", 0, at))
    _refuse_unless_utf8(part, block, first_line)
    names = [str(position) for position in range(layout.width)]
    at_once = frozenset(varied)  # other threads add to it
    wanted = {names[at]: WORDS if at in at_once else pa.string() for at in _positions(layout)}
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(
                column_names=names, use_threads=False, block_size=max(len(block), 1) + 1
            ),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(wanted),
                column_types=wanted,
                null_values=list(NULLS),
                strings_can_be_null=True,
                check_utf8=False,  # all of the block has been, and quicker
            ),
        ).combine_chunks()
    except pa.ArrowInvalid:
        raise _what_is_wrong(part, layout, block, first_line) from None
    as_text = {layout.at[field] for field in AS_TEXT if field in layout.at}
    columns = {}
    for at, column in zip(_positions(layout), table.columns, strict=True):
        columns[at] = _whole(column)
        if at not in as_text and at not in at_once:
            columns[at] = words_of(columns[at])
            if len(columns[at].dictionary) > 1 or columns[at].null_count:
                varied.add(at)
    return RawLines(
        part.name,
        layout,
        first_line,
        {field: columns[at] for field, at in layout.at.items()},
        tuple((key, columns[at]) for at, key in layout.tags),
    )


def _positions(layout: Layout) -> list[int]:
    """Of the columns that are read, in their order."""
    return sorted({*layout.at.values(), *(at for at, _ in layout.tags)})


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _refuse_unless_utf8(part: Part, block: bytes, first_line: int) -> None:
    """All of it, also the columns that nobody reads."""
    if block.isascii():
        return
    whole = [None, pa.array([0, len(block)], pa.int32()).buffers()[1], pa.py_buffer(block)]
    try:
        # some ten times quicker than `bytes.decode`, which makes a text of it
        pa.Array.from_buffers(pa.string(), 1, whole).validate(full=True)
    except pa.ArrowInvalid:
        line = first_line + _count(block[: _first_not_utf8(block)], NEWLINE)
        raise refusal(part.name, "encoding", line=line) from None


def _first_not_utf8(block: bytes) -> int:
    try:
        block.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _what_is_wrong(part: Part, layout: Layout, block: bytes, first_line: int) -> Exception:
    """The slow way, taken once something is: which line has not as many columns as the header."""
    reader = csv.reader(io.StringIO(block.decode(), newline=""), strict=True)
    try:
        for row in reader:
            if row and len(row) != layout.width:
                return refusal(part.name, "columns", line=first_line + reader.line_num - 1)
    except csv.Error:
        return refusal(part.name, "unreadable", line=first_line + max(reader.line_num - 1, 0))
    return refusal(part.name, "unreadable", line=first_line)


# ── Parquet ──────────────────────────────────────────────────────────────────────────────────────


def _parquet_pieces(part: Part) -> Iterator[Piece]:
    try:
        header, texts = _parquet_header(part)
        layout = layout_of(part.name, header)
        names = [header[at] for at in _positions(layout)]
        as_text = {layout.names[field] for field in AS_TEXT if field in layout.names}
        repeated = [name for name in names if name in texts and name not in as_text]
        # read ahead, it would keep the whole file in memory until its end
        file = pq.ParquetFile(part.path, read_dictionary=repeated, pre_buffer=False)
        line = 1
        for batch in file.iter_batches(BATCH_LINES, columns=names, use_threads=False):
            yield lambda batch=batch, line=line: _of_batch(part, layout, header, batch, line)  # type: ignore[misc]
            line += len(batch)
    except (pa.ArrowException, OSError):
        raise refusal(part.name, "unreadable") from None


def _parquet_header(part: Part) -> tuple[list[str], set[str]]:
    """All columns, and those that are text."""
    schema = pq.read_schema(part.path)
    texts = {field.name for field in schema if pa.types.is_string(field.type)}
    return schema.names, texts


def _of_batch(
    part: Part, layout: Layout, header: Sequence[str], batch: pa.RecordBatch, first_line: int
) -> RawLines:
    def column(at: int, field: str) -> pa.Array:
        array = batch.column(header[at])
        if field in AS_TEXT or pa.types.is_map(array.type):
            return array
        return _as_words(array)

    return RawLines(
        part.name,
        layout,
        first_line,
        {field: column(at, field) for field, at in layout.at.items()},
        tuple((key, column(at, key)) for at, key in layout.tags),
    )


def _as_words(array: pa.Array) -> pa.DictionaryArray:
    """As if it had been read from text: what is empty is null."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("s"), safe=False)
    values = values.cast(pa.string())
    if not _has_empty_or_twice(values):
        return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), values)
    words = [None if word in NULLS else word for word in values.to_pylist()]
    taken = pa.array(words, pa.string()).take(array.indices)
    return taken.dictionary_encode()


def _has_empty_or_twice(words: pa.Array) -> bool:
    """A word that is none, or that stands there twice: a dictionary must not be written so."""
    if words.null_count or len(words.unique()) < len(words):
        return True
    return pc.any(pc.is_in(words, NOTHING)).as_py() is True
