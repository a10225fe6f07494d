"""Small files that grow to a GiB or to millions of lines when they are read, for every importer."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.demo.vendor_files.dialects import Dialect
from tests.costs.cost_columns import PARTNER_CENTER
from tests.costs.formats import gcp_files
from tests.proof.bad_file import BadFile, sheet

GIB_OF_MIB = 1024
ROWS = 1_200_000  # more than the bytes of the file
COLUMNS = 5  # of it: writing all of them takes seconds
KINDS = (
    ("a GiB of zeros", bytes(2**20), ("line_too_long", "nul", "bomb")),
    ("a GiB of line feeds", b"\n" * 2**20, ("bomb",)),
    ("a GiB of short lines", b"1,2\n" * 2**18, ("bomb", "columns", "json")),
)


@dataclass(frozen=True)
class BombImporter:
    """What reads one kind of file; the bombs begin like a valid file."""

    name: str
    vendor: str
    head: bytes
    suffix: str = "csv"


def _of_dialect(dialect: Dialect) -> BombImporter:
    return BombImporter(dialect.value, dialect.vendors[0], sheet(dialect).bytes())


def _of_columns(columns: Mapping[str, str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([list(columns), list(columns.values())])
    return text.getvalue().encode()


BOMB_IMPORTERS = (
    *(_of_dialect(dialect) for dialect in Dialect),
    BombImporter("azure_partner_center", "azure", _of_columns(PARTNER_CENTER)),
    BombImporter("gcp", "gcp", gcp_files.write_csv([gcp_files.build_line()])),
    BombImporter("gcp as JSON", "gcp", gcp_files.write_json([gcp_files.build_line()]), "jsonl"),
)


def bombs(importer: BombImporter) -> Iterator[BadFile]:
    """Three contents, each in gzip and zip, and a Parquet file of equal lines."""

    def bomb(title: str, name: str, write: partial[bytes], *rules: str) -> BadFile:
        return BadFile(
            f"{importer.name}, bomb: {title}", {name: write}, rules, vendor=importer.vendor
        )

    name = f"report.{importer.suffix}"
    for title, block, rules in KINDS:
        packed = partial(_gzip_bomb, importer.head, block)
        yield bomb(f"{title}, gzip", f"{name}.gz", packed, *rules)
        packed = partial(_zip_bomb, importer.head, block, name.encode())
        yield bomb(f"{title}, zip", f"{name}.zip", packed, *rules)
    if importer.suffix == "csv":
        write = partial(_parquet_bomb, importer.head)
        yield bomb("millions of equal lines, Parquet", "report.parquet", write, "bomb")


def _deflated(head: bytes, block: bytes) -> tuple[bytes, int, int]:
    """The head and then the block repeatedly; checksum and size belong to the head only."""
    packer = zlib.compressobj(9, wbits=-15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.flush(zlib.Z_FINISH)
    size = len(head) + GIB_OF_MIB * len(block)
    return first + packed * GIB_OF_MIB + last, zlib.crc32(head), size


def _gzip_bomb(head: bytes, block: bytes) -> bytes:
    content, checksum, size = _deflated(head, block)
    tail = checksum.to_bytes(4, "little") + (size & 0xFFFF_FFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + content + tail


def _zip_bomb(head: bytes, block: bytes, name: bytes) -> bytes:
    """It declares a wrong size, so that only decompression detects it."""
    content, checksum, _ = _deflated(head, block)
    sizes = len(content).to_bytes(4, "little") + (1000).to_bytes(4, "little")
    common = b"\x14\0\0\0\x08\0\0\0\0\0" + checksum.to_bytes(4, "little") + sizes
    common += len(name).to_bytes(2, "little") + b"\0\0"
    local = b"PK\x03\x04" + common + name + content
    entry = b"PK\x01\x02\x14\0" + common + bytes(14) + name
    end = b"PK\x05\x06" + bytes(4) + b"\x01\0\x01\0" + len(entry).to_bytes(4, "little")
    return local + entry + end + len(local).to_bytes(4, "little") + b"\0\0"


def _parquet_bomb(head: bytes) -> bytes:
    """Equal values take almost no space."""
    header, first, *_ = csv.reader(io.StringIO(head.decode()))
    numbers = pa.Array.from_buffers(pa.int8(), ROWS, [None, pa.py_buffer(bytes(ROWS))])
    columns = [pa.DictionaryArray.from_arrays(numbers, [value]) for value in first[:COLUMNS]]
    out = io.BytesIO()
    pq.write_table(pa.table(columns, names=header[:COLUMNS]), out, store_schema=False)
    return out.getvalue()
