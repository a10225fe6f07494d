"""The corpus of bad cost files, with the error expected for each.

Every importer gets every fault. Files that look odd but are valid must give the same sums as the
plain file.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace

from nimbill.demo.vendor_files.dialects import Dialect
from tests.proof.bad_containers import bad_containers
from tests.proof.bad_file import IMPORTERS, BadFile, CostSheet, sheet
from tests.proof.bad_texts import bad_texts

__all__ = ["IMPORTERS", "BadFile", "bad_files", "odd_but_valid"]


def bad_files(dialect: Dialect) -> Iterator[BadFile]:
    """All except the bombs of bombs.py, which are few and large."""
    yield from bad_texts(dialect)
    yield from bad_containers(dialect)


def odd_but_valid(dialect: Dialect) -> Iterator[BadFile]:
    """Unusual files that break no rule; their sums equal those of the plain file."""
    valid = sheet(dialect)
    for file in _odd(valid):
        yield replace(file, vendor=valid.vendor)


def plain(dialect: Dialect) -> BadFile:
    valid = sheet(dialect)
    return BadFile("as it is", {"report.csv": valid.bytes()}, (), vendor=valid.vendor)


def _odd(valid: CostSheet) -> Iterator[BadFile]:
    text = valid.text()
    whole = text.encode()

    def odd(title: str, content: bytes, name: str = "report.csv") -> BadFile:
        return BadFile(title, {name: content}, ())

    yield odd("a byte order mark", b"\xef\xbb\xbf" + whole)
    yield odd("carriage return and line feed", valid.text(ends="\r\n").encode())
    yield odd("no line end at the end", whole.rstrip(b"\n"))
    yield odd("blank lines at the end", whole + b"\n\n")
    yield odd("everything in quotes", valid.text(quote_all=True).encode())
    yield odd("an unusual file name", whole, "Bericht für Müller (1)")
    halves = [whole[:1000], whole[1000:2001], whole[2001:]]
    members = b"".join(gzip.compress(half) for half in (b"", *halves))
    yield odd("several members", members, "report.csv.gz")
    yield odd("gzip by another name", gzip.compress(whole))
    reordered = valid.with_rows([valid.header, *reversed(valid.rows[1:])])
    yield odd("in another order", reordered.bytes())
    backwards = valid.with_rows([list(reversed(row)) for row in valid.rows])
    yield odd("columns in another order", backwards.bytes())
    upper_case = valid.with_rows([[_other_case(name) for name in valid.header], *valid.rows[1:]])
    yield odd("headers in another case", upper_case.bytes())
    more = valid.with_rows([[*row, "x"] for row in valid.rows])
    yield odd("an unknown column", more.bytes())
    at = valid.header.index(valid.column("cost"))
    costs = [row[at] for row in valid.rows[1:]]
    for title, cells in {
        "trailing zeros": [cost if "E" in cost else cost + "000" for cost in costs],
        "forty decimals": [cost if "E" in cost else cost + "0" * 30 for cost in costs],
        "a plus": [cost if cost.startswith("-") else "+" + cost for cost in costs],
        "an exponent": [cost if "E" in cost else cost + "e0" for cost in costs],
    }.items():
        rows = [[*r[:at], w, *r[at + 1 :]] for r, w in zip(valid.rows[1:], cells, strict=True)]
        yield odd(f"costs with {title}", valid.with_rows([valid.header, *rows]).bytes())
    half = len(valid.rows) // 2
    parts = {
        "a.csv": valid.with_rows(valid.rows[:half]).bytes(),
        "b.csv": valid.with_rows([valid.header, *valid.rows[half:]]).bytes(),
        "c.csv": valid.with_rows([valid.header]).bytes(),
    }
    yield BadFile("in parts, one without lines", parts, ())
    blobs = [{"blobName": "x/report.csv", "dataRowCount": len(valid.rows) - 1}]
    manifest = json.dumps({"blobs": blobs}).encode()
    yield BadFile("with rows counted", {"manifest.json": manifest, "report.csv": whole}, ())


def _other_case(name: str) -> str:
    """Tags keep their case, which is significant."""
    return name if name.lower().startswith("resourcetags") else name.upper()
