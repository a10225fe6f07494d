"""Parses the lines of a part into Arrow arrays of the needed columns, one block at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.formats.detection import FileLayout, detect_layout, refuse_separators
from nimbill.costs.formats.format import NULLS
from nimbill.costs.formats.line_rules import line_error
from nimbill.costs.ingestion.arrow_arrays import TEXT_DICTIONARY, encode_dictionary
from nimbill.costs.ingestion.decompression import open_csv_blocks
from nimbill.costs.ingestion.gcp_credits import sum_credit_texts
from nimbill.costs.ingestion.json_lines import (
    cut_json_blocks,
    detect_json_layout,
    is_json,
    parse_json_block,
)
from nimbill.costs.ingestion.nested_columns import flatten_batch, list_column_names
from nimbill.costs.ingestion.parquet_columns import (
    NUMBER_FIELDS,
    encode_as_text,
    refuse_invalid_texts,
    refuse_unsupported_type,
)
from nimbill.costs.ingestion.parts import Limits, Part
from nimbill.costs.ingestion.text_lengths import refuse_long_text, refuse_long_values
from nimbill.costs.ingestion.unpacked_size import UnpackedSize

BLOCK_BYTES = 8 * 2**20
BATCH_LINES = 65_536
COUNT_STEP_BYTES = 2**18
NEWLINE, QUOTE = b'\n"'
# almost every value is different, so that a dictionary would only cost time
PLAIN_FIELDS = NUMBER_FIELDS

INVALID_BYTE = re.compile("[\\udc80-\\udcff]")  # as decoding with surrogateescape represents it


@dataclass(frozen=True, slots=True)
class RawLines:
    """Consecutive lines of a part: arrays by field, and tags by key."""

    file: str
    layout: FileLayout
    first_line: int
    fields: dict[str, pa.Array]
    tags: tuple[tuple[str, pa.Array], ...]

    def __len__(self) -> int:
        return len(self.fields["cost"])

    def line_number(self, row: int) -> int:
        return self.first_line + row

    def column_name(self, field: str) -> str:
        return self.layout.names.get(field, field)


# a call parses one block, so that several threads can share the work
ParseTask = Callable[[], RawLines]


def split_into_parse_tasks(
    part: Part, limits: Limits, total: UnpackedSize | None = None
) -> Iterator[ParseTask]:
    """Yield tasks for all lines of a part, in order; count its text in the delivery's `total`."""
    if part.file_type == "parquet":
        yield from _split_parquet(part, limits)
    else:
        with open_csv_blocks(part, limits) as chunks:
            counted = chunks if total is None else _count_chunks(part, chunks, total)
            first = next(counted, b"")
            split = _split_json if is_json(first) else _split_csv
            yield from split(part, limits, chain([first], counted))


def _count_chunks(part: Part, chunks: Iterator[bytes], total: UnpackedSize) -> Iterator[bytes]:
    for chunk in chunks:
        total.add_content(part.name, len(chunk))
        yield chunk


def read_layout(part: Part, limits: Limits) -> FileLayout:
    if part.file_type == "parquet":
        return detect_layout(part.name, _read_parquet_header(part))
    with open_csv_blocks(part, limits) as chunks:
        first = next(chunks, b"")
        if is_json(first):
            blocks = cut_json_blocks(part, chain([first], chunks))
            return detect_json_layout(part, next(blocks, b""))
        layout, _ = _parse_header(part, next(_cut_blocks(part, chain([first], chunks)), b""))
        return layout


# ── JSON Lines ───────────────────────────────────────────────────────────────────────────────────


def _split_json(part: Part, limits: Limits, chunks: Iterator[bytes]) -> Iterator[ParseTask]:
    blocks = cut_json_blocks(part, chunks)
    first_block = next(blocks, b"")
    layout = detect_json_layout(part, first_block)
    line = 1
    for block in chain([first_block], blocks):
        yield lambda block=block, line=line: _convert_batch(  # type: ignore[misc]
            part, layout, parse_json_block(part, block, line), line, limits
        )
        line += _count(block, NEWLINE)


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────


def _split_csv(part: Part, limits: Limits, chunks: Iterator[bytes]) -> Iterator[ParseTask]:
    blocks = _cut_blocks(part, chunks)
    first_block = next(blocks, b"")
    layout, rest = _parse_header(part, first_block)
    varied_columns: set[int] = set()
    line = 2
    for block in chain([rest], blocks):
        if not block or block.isspace():
            continue
        # the number of lines is only known after parsing; the number of newlines is an upper bound
        # and equal to it unless a quoted value contains a newline
        yield lambda block=block, line=line: _refuse_long_values(  # type: ignore[misc]
            _sum_credits(_parse_block(part, layout, block, line, varied_columns)), limits
        )
        line += _count(block, NEWLINE)


def _sum_credits(lines: RawLines) -> RawLines:
    """A cell may contain all credits of a line."""
    if "credits" in lines.fields:
        column, texts = lines.column_name("credits"), lines.fields["credits"]
        lines.fields["credits"] = sum_credit_texts(lines.file, column, texts, lines.first_line)
    return lines


def _refuse_long_values(lines: RawLines, limits: Limits) -> RawLines:
    for field, array in chain(lines.fields.items(), lines.tags):
        if field in PLAIN_FIELDS:
            continue  # the rule for numbers refuses it and is more helpful
        column = lines.column_name(field)
        refuse_long_values(lines.file, column, array, first_line=lines.first_line, limits=limits)
    return lines


def _cut_blocks(part: Part, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut the text at line ends outside quotes; one block may grow to twice the size for it."""
    pending: list[bytes] = []
    size = quotes = 0
    target_size = BLOCK_BYTES
    for chunk in chunks:
        pending.append(chunk)
        size += len(chunk)
        if size < target_size:
            quotes += _count(chunk, QUOTE)
            continue
        block, rest = _split_at_line_end(pending, quotes)
        if block:
            yield block
        elif target_size > BLOCK_BYTES:
            raise line_error(part.name, "line_too_long")
        target_size = BLOCK_BYTES if block else 2 * BLOCK_BYTES
        pending, size, quotes = [rest], len(rest), _count(rest, QUOTE)
    if size:
        yield b"".join(pending)


def _split_at_line_end(chunks: Sequence[bytes], quotes_before: int) -> tuple[bytes, bytes]:
    """Return complete lines and the rest; usually the last chunk contains a line end."""
    last = chunks[-1]
    cut = last.rfind(b"\n") + 1
    if cut and (quotes_before + _count(last, QUOTE, cut)) % 2 == 0:
        return b"".join([*chunks[:-1], memoryview(last)[:cut]]), last[cut:]
    block = b"".join(chunks)
    cut = _find_last_line_end(block)
    return block[:cut], block[cut:]


def _find_last_line_end(block: bytes) -> int:
    cut = block.rfind(b"\n") + 1
    quotes = _count(block, QUOTE, cut)
    while cut and quotes % 2:
        before = block.rfind(b"\n", 0, cut - 1) + 1
        quotes -= block.count(b'"', before, cut)
        cut = before
    return cut


def _count(block: bytes, byte: int, end: int | None = None) -> int:
    """About six times faster than `bytes.count`; each step fits into the processor's cache."""
    bytes_ = np.frombuffer(block, np.uint8)[:end]
    steps = range(0, len(bytes_), COUNT_STEP_BYTES)
    return sum(
        int(np.count_nonzero(bytes_[start : start + COUNT_STEP_BYTES] == byte)) for start in steps
    )


def _parse_header(part: Part, block: bytes) -> tuple[FileLayout, bytes]:
    """Return the layout and the text after the header."""
    block = block.removeprefix(b"\xef\xbb\xbf")
    end = block.find(b"\n") + 1 or len(block)
    if block.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in block[:end]:
        raise line_error(part.name, "encoding" if block[:1] in b"\xff\xfe" else "nul", line=1)
    try:
        text = block[:end].decode()
    except UnicodeDecodeError:
        raise line_error(part.name, "encoding", line=1) from None
    try:
        header = next(csv.reader([text], strict=True), [])
    except csv.Error:
        refuse_separators(part.name, text)
        raise line_error(part.name, "unreadable", line=1) from None
    return detect_layout(part.name, [name.strip() for name in header]), block[end:]


def _parse_block(
    part: Part, layout: FileLayout, block: bytes, first_line: int, varied_columns: set[int]
) -> RawLines:
    """`varied_columns` had several values in an earlier block and are read as dictionaries at once.

    For columns with a single value it is faster to read text and encode it afterwards.
    """
    if b"\0" in block:
        line = first_line + block.count(b"\n", 0, block.index(b"\0"))
        raise line_error(part.name, "nul", line=line)
    refuse_invalid_utf8(part.name, layout, block, first_line=first_line)
    names = [str(position) for position in range(layout.width)]
    encoded = frozenset(varied_columns)  # other threads add to the set
    types = {
        names[position]: TEXT_DICTIONARY if position in encoded else pa.string()
        for position in _positions(layout)
    }
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(
                column_names=names, use_threads=False, block_size=max(len(block), 1) + 1
            ),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=list(NULLS),
                strings_can_be_null=True,
                check_utf8=False,  # the whole block was checked above, which is faster
            ),
        ).combine_chunks()
    except pa.ArrowInvalid:
        raise _locate_error(part, layout, block, first_line) from None
    plain = {layout.positions[field] for field in PLAIN_FIELDS if field in layout.positions}
    columns = {}
    for position, column in zip(_positions(layout), table.columns, strict=True):
        columns[position] = _single_chunk(column)
        if position not in plain and position not in encoded:
            columns[position] = encode_dictionary(columns[position])
            if len(columns[position].dictionary) > 1 or columns[position].null_count:
                varied_columns.add(position)
    return RawLines(
        part.name,
        layout,
        first_line,
        {field: columns[position] for field, position in layout.positions.items()},
        tuple((key, columns[position]) for position, key in layout.tags),
    )


def _positions(layout: FileLayout) -> list[int]:
    """Return the positions of the columns to read, in ascending order."""
    return sorted({*layout.positions.values(), *(position for position, _ in layout.tags)})


def _single_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _locate_error(part: Part, layout: FileLayout, block: bytes, first_line: int) -> Exception:
    """Parse again, slowly, to find the line whose number of columns differs from the header."""
    reader = csv.reader(io.StringIO(block.decode(), newline=""), strict=True)
    try:
        for row in reader:
            if row and len(row) != layout.width:
                return line_error(part.name, "columns", line=first_line + reader.line_num - 1)
    except csv.Error:
        return line_error(part.name, "unreadable", line=first_line + max(reader.line_num - 1, 0))
    return line_error(part.name, "unreadable", line=first_line)


# ── Parquet ──────────────────────────────────────────────────────────────────────────────────────


def _split_parquet(part: Part, limits: Limits) -> Iterator[ParseTask]:
    try:
        header = _read_parquet_header(part)
        layout = detect_layout(part.name, header)
        names = [header[position] for position in _positions(layout)]
        # pre_buffer would keep the whole file in memory until its end
        file = pq.ParquetFile(
            part.path, read_dictionary=_list_text_columns(part, names), pre_buffer=False
        )
        line = 1
        for batch in file.iter_batches(BATCH_LINES, columns=names, use_threads=False):
            yield lambda batch=batch, line=line: _convert_batch(  # type: ignore[misc]
                part, layout, flatten_batch(part.name, batch, names, line), line, limits
            )
            line += len(batch)
    except MemoryError:
        raise  # Arrow's own class is an ArrowException as well
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # the disk failed; the file may be complete
        raise line_error(part.name, "unreadable") from None


def _read_parquet_header(part: Part) -> list[str]:
    try:
        # Arrow reports a failed close without its errno
        with part.path.open("rb") as file:
            return list_column_names(pq.read_schema(file))
    except UnicodeDecodeError:
        raise line_error(part.name, "encoding") from None


def _list_text_columns(part: Part, names: Sequence[str]) -> list[str]:
    """Return the paths of all texts in these columns, including keys and values of maps.

    They are read as dictionaries: otherwise a long value that the file stores once would be
    repeated in memory for every line.
    """
    schema = pq.ParquetFile(part.path).schema
    leaves = [schema.column(position) for position in range(len(schema))]
    return [
        leaf.path
        for leaf in leaves
        if leaf.physical_type == "BYTE_ARRAY"
        and leaf.logical_type.type != "DECIMAL"
        and (leaf.path in names or leaf.path.partition(".")[0] in names)
    ]


def _convert_batch(
    part: Part, layout: FileLayout, batch: pa.RecordBatch, first_line: int, limits: Limits
) -> RawLines:
    _refuse_unsupported_types(part, layout, batch)
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        refuse_invalid_texts(part.name, name, array, first_line=first_line)
        refuse_long_values(part.name, name, array, first_line=first_line, limits=limits)
    refuse_long_text(part.name, batch.columns, lines=len(batch), limits=limits)
    columns = dict(zip(_positions(layout), batch.columns, strict=True))

    def column(position: int, field: str) -> pa.Array:
        array = columns[position]
        if pa.types.is_map(array.type):
            return array
        if field in PLAIN_FIELDS:
            is_text = pa.types.is_dictionary(array.type)
            return array.dictionary_decode().cast(pa.string()) if is_text else array
        return encode_as_text(array)

    return RawLines(
        part.name,
        layout,
        first_line,
        {field: column(position, field) for field, position in layout.positions.items()},
        tuple((key, column(position, key)) for position, key in layout.tags),
    )


def _refuse_unsupported_types(part: Part, layout: FileLayout, batch: pa.RecordBatch) -> None:
    columns = dict(zip(_positions(layout), batch.schema, strict=True))
    tags = ((key, position) for position, key in layout.tags)
    for field, position in chain(layout.positions.items(), tags):
        column = columns[position]
        refuse_unsupported_type(part.name, column.name, field, column.type)


def refuse_invalid_utf8(file: str, layout: FileLayout, block: bytes, *, first_line: int) -> None:
    """Check the whole block, including columns that are not read."""
    if block.isascii():
        return
    buffers = [None, pa.array([0, len(block)], pa.int32()).buffers()[1], pa.py_buffer(block)]
    try:
        # about ten times faster than `bytes.decode`, which creates a string
        pa.Array.from_buffers(pa.string(), 1, buffers).validate(full=True)
    except pa.ArrowInvalid:
        raise _locate_invalid_utf8(file, layout, block, first_line) from None


def _locate_invalid_utf8(
    file: str, layout: FileLayout, block: bytes, first_line: int
) -> CostFileError:
    """Name the line, and the column unless it is one that is not read."""
    text = block.decode(errors="surrogateescape")
    fault = INVALID_BYTE.search(text)
    assert fault is not None, "the block is not UTF-8"
    line = first_line + text.count("\n", 0, fault.start())
    names = {position: layout.names[field] for field, position in layout.positions.items()}
    column = None
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(text, newline="")):
            positions = [at for at, value in enumerate(row) if INVALID_BYTE.search(value)]
            if positions:
                column = names.get(positions[0])
                break
    return line_error(file, "encoding", line=line, column=column)
