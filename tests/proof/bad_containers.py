"""Files whose text may be valid, in a broken container: gzip, zip, Parquet, manifests."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.demo.vendor_files.dialects import Dialect
from tests.proof.bad_file import IMPORTERS, BadFile, CostSheet, sheet

OFFSETS = 50
OFFSETS_OF_OTHERS = 10  # decompression does not depend on the content


def bad_containers(dialect: Dialect) -> Iterator[BadFile]:
    valid = sheet(dialect)
    files = (*_gzip(valid), *_zip(valid), *_parquet(valid), *_manifests(valid))
    yield from (replace(bad, vendor=valid.vendor) for bad in files)


def _gzip(valid: CostSheet) -> Iterator[BadFile]:
    compressed = gzip.compress(valid.bytes(), mtime=0)

    def packed(title: str, content: bytes, *rules: str) -> BadFile:
        return BadFile(f"gzip: {title}", {"report.csv.gz": content}, rules)

    offsets = OFFSETS if valid.dialect is IMPORTERS[0] else OFFSETS_OF_OTHERS
    for at in range(offsets):
        cut = at * len(compressed) // offsets
        yield packed(f"cut after {cut} bytes", compressed[:cut], "truncated")
    yield packed("the last byte missing", compressed[:-1], "truncated")
    two_members = compressed + compressed[: len(compressed) // 2]
    yield packed("the second member cut", two_members, "truncated")
    yield packed("a wrong checksum", _flipped(compressed, -8), "bad_checksum")
    yield packed("a wrong length", _flipped(compressed, -4), "bad_checksum")
    yield packed(
        "a flipped bit", _flipped(compressed, len(compressed) // 2), "bad_checksum", "corrupt"
    )
    yield packed("text after the end", compressed + b"the end", "trailing_garbage")
    yield packed("zeros after the end", compressed + bytes(1024), "trailing_garbage")
    yield packed("gzip in gzip", gzip.compress(compressed), "nested")
    yield packed("zip in gzip", gzip.compress(_zipped(("a.csv", valid.bytes()))), "nested")
    yield packed("not gzip", valid.bytes(), "not_gzip")
    yield packed("bzip2 by that name", bz2.compress(valid.bytes()), "not_gzip", "compression")
    yield BadFile("plain: bzip2", {"report.csv": bz2.compress(valid.bytes())}, ("compression",))
    yield BadFile("plain: xz", {"report.csv": lzma.compress(valid.bytes())}, ("compression",))


def _flipped(content: bytes, at: int) -> bytes:
    changed = bytearray(content)
    changed[at] ^= 0x10
    return bytes(changed)


def _zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


def _zip(valid: CostSheet) -> Iterator[BadFile]:
    text = valid.bytes()
    archive = _zipped(("report.csv", text))

    def packed(title: str, content: bytes, *rules: str) -> BadFile:
        return BadFile(f"zip: {title}", {"report.csv.zip": content}, rules)

    yield packed("cut in the middle", archive[: len(archive) // 2], "truncated")
    yield packed("cut at the end", archive[:-5], "truncated")
    yield packed("nothing in it", _zipped(), "no_parts")
    yield packed("no CSV in it", _zipped(("readme.txt", text)), "no_parts")
    yield packed("gzip in it", _zipped(("report.csv.gz", gzip.compress(text))), "nested")
    yield packed("zip in it", _zipped(("report.zip", archive)), "nested")
    yield packed("bzip2 in it", _zipped(("a.csv", text), method=zipfile.ZIP_BZIP2), "compression")
    yield packed("a flipped bit", _flipped(archive, len(archive) // 2), "bad_checksum", "corrupt")
    stored = _zipped(("report.csv", text), method=zipfile.ZIP_STORED)
    yield packed("stored, a flipped bit", _flipped(stored, len(stored) // 2), "bad_checksum")
    locked = bytearray(archive)
    locked[6] |= 1
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    yield packed("encrypted", bytes(locked), "encrypted")
    yield packed("not zip", text, "not_zip")
    twice = _zipped(("a.csv", text), ("b.csv", text))
    yield packed("the same file twice", twice, "same_part_twice")


def _parquet(valid: CostSheet) -> Iterator[BadFile]:
    header, *rows = valid.rows
    columns = {name: [row[at] for row in rows] for at, name in enumerate(header)}
    cost = valid.column("cost")

    def write_table(table: pa.Table) -> bytes:
        out = io.BytesIO()
        pq.write_table(table, out)
        return out.getvalue()

    def packed(title: str, content: bytes, *rules: str, **place: object) -> BadFile:
        return BadFile(f"parquet: {title}", {"report.parquet": content}, rules, **place)  # type: ignore[arg-type]

    whole = write_table(pa.table(columns))
    yield packed("cut", whole[: len(whole) // 2], "truncated")
    yield packed("nothing", b"", "truncated")
    yield packed("not Parquet", valid.bytes(), "not_parquet")
    yield packed("another footer", whole[:-8] + b"\xff\xff\xff\x7fPAR1", "unreadable")
    yield packed("pages overwritten", b"PAR1" + bytes(len(whole) // 2) + whole[-len(whole) // 3 :],
                 "unreadable", "corrupt")  # fmt: skip
    yield packed("no cost", write_table(pa.table({k: v for k, v in columns.items() if k != cost})),
                 "column_missing", "unknown_format")  # fmt: skip
    for word in ("nan", "inf", "-inf"):
        doubles = [1.5] * len(rows)
        doubles[4] = float(word)
        table = pa.table({**columns, cost: pa.array(doubles, pa.float64())})
        yield packed(f"a cost of {word}", write_table(table), "number", line=5, column=cost)
    huge = pa.table({**columns, cost: pa.array([1e300] * len(rows), pa.float64())})
    yield packed("a huge cost", write_table(huge), "number_range", "number", line=1, column=cost)
    customer = valid.column("customer")
    for title, value, rule in (("not UTF-8", b"\xff\xfe", "encoding"), ("NUL", b"a\0b", "nul")):
        texts = [text.encode() for text in columns[customer]]
        texts[4] = value
        table = pa.table({**columns, customer: pa.array(texts, pa.binary())})
        yield packed(f"a text: {title}", write_table(table), rule, line=5, column=customer)
    lists = pa.table({**columns, customer: pa.array([["a"]] * len(rows))})
    yield packed("a list as text", write_table(lists), "column_type", column=customer)
    none = pa.table({**columns, cost: pa.array([None] * len(rows), pa.float64())})
    yield packed("no cost in a line", write_table(none), "empty", line=1, column=cost)


def _manifests(valid: CostSheet) -> Iterator[BadFile]:
    text = valid.bytes()

    def with_manifest(title: str, manifest: object, *rules: str) -> BadFile:
        files = {"manifest.json": json.dumps(manifest).encode(), "part-1.csv": text}
        return BadFile(f"manifest: {title}", files, rules, reported_file="manifest.json")

    part = {"blobName": "x/part-1.csv", "byteCount": len(text)}
    missing = {"blobName": "x/part-2.csv", "byteCount": 10}
    yield with_manifest("a part is missing", {"blobs": [part, missing]}, "part_missing")
    yield replace(
        with_manifest(
            "a part is too small", {"blobs": [{**part, "byteCount": 10**6}]}, "part_size"
        ),
        reported_file="part-1.csv",
    )
    rows = {"blobs": [{**part, "dataRowCount": len(valid.rows)}]}  # counts the header too
    yield replace(
        with_manifest("a part has a row less", rows, "part_rows"), reported_file="part-1.csv"
    )
    yield with_manifest("no parts", {"blobs": []}, "no_parts")
    yield with_manifest("not a manifest", {"parts": [part]}, "manifest")
    yield with_manifest(
        "keys with parent folders", {"reportKeys": ["../../etc/passwd.csv"]}, "part_missing"
    )
    config = {"type": "AmortizedCost"}
    amortised = {"blobs": [part], "exportConfig": config}
    yield with_manifest("amortised", amortised, "amortised")
