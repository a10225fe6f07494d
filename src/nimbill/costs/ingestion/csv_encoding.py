"""Refuses CSV text that is not UTF-8, with the line and the column of the first invalid byte."""

from __future__ import annotations

import csv
import io
import re
from contextlib import suppress

import pyarrow as pa

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.formats.detection import FileLayout
from nimbill.costs.formats.line_rules import line_error

INVALID_BYTE = re.compile("[\\udc80-\\udcff]")  # as decoding with surrogateescape represents it


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
