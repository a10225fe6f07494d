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
from tests.proof.bad_containers import bad_containers, bombs
from tests.proof.bad_file import IMPORTERS, BadFile, CostSheet, sheet
from tests.proof.bad_texts import bad_texts

__all__ = ["IMPORTERS", "BadFile", "bad_files", "bombs", "odd_but_valid"]


def bad_files(dialect: Dialect) -> Iterator[BadFile]:
    """All except the bombs, which are few and large."""
    yield from bad_texts(dialect)
    yield from bad_containers(dialect)


def odd_but_valid(dialect: Dialect) -> Iterator[BadFile]:
    """Unusual files that break no rule; their sums equal those of the plain file."""
    sound = sheet(dialect)
    for one in _odd(sound):
        yield replace(one, vendor=sound.vendor)


def plain(dialect: Dialect) -> BadFile:
    sound = sheet(dialect)
    return BadFile("as it is", {"report.csv": sound.bytes()}, (), vendor=sound.vendor)


def _odd(sound: CostSheet) -> Iterator[BadFile]:
    text = sound.text()
    whole = text.encode()

    def odd(title: str, content: bytes, name: str = "report.csv") -> BadFile:
        return BadFile(title, {name: content}, ())

    yield odd("a byte order mark", b"\xef\xbb\xbf" + whole)
    yield odd("carriage return and line feed", sound.text(ends="\r\n").encode())
    yield odd("no line end at the end", whole.rstrip(b"\n"))
    yield odd("blank lines at the end", whole + b"\n\n")
    yield odd("everything in quotes", sound.text(quote_all=True).encode())
    yield odd("called as it likes", whole, "Bericht für Müller (1)")
    halves = [whole[:1000], whole[1000:2001], whole[2001:]]
    members = b"".join(gzip.compress(half) for half in (b"", *halves))
    yield odd("several members", members, "report.csv.gz")
    yield odd("gzip by another name", gzip.compress(whole))
    reordered = sound.with_rows([sound.header, *reversed(sound.rows[1:])])
    yield odd("in another order", reordered.bytes())
    backwards = sound.with_rows([list(reversed(row)) for row in sound.rows])
    yield odd("columns in another order", backwards.bytes())
    shouted = sound.with_rows([[_other_case(name) for name in sound.header], *sound.rows[1:]])
    yield odd("headers in another case", shouted.bytes())
    more = sound.with_rows([[*row, "x"] for row in sound.rows])
    yield odd("a column nobody knows", more.bytes())
    at = sound.header.index(sound.column("cost"))
    costs = [row[at] for row in sound.rows[1:]]
    for title, written in {
        "trailing zeros": [cost if "E" in cost else cost + "000" for cost in costs],
        "forty decimals": [cost if "E" in cost else cost + "0" * 30 for cost in costs],
        "a plus": [cost if cost.startswith("-") else "+" + cost for cost in costs],
        "an exponent": [cost if "E" in cost else cost + "e0" for cost in costs],
    }.items():
        rows = [[*r[:at], w, *r[at + 1 :]] for r, w in zip(sound.rows[1:], written, strict=True)]
        yield odd(f"costs with {title}", sound.with_rows([sound.header, *rows]).bytes())
    half = len(sound.rows) // 2
    parts = {
        "a.csv": sound.with_rows(sound.rows[:half]).bytes(),
        "b.csv": sound.with_rows([sound.header, *sound.rows[half:]]).bytes(),
        "c.csv": sound.with_rows([sound.header]).bytes(),
    }
    yield BadFile("in parts, one without lines", parts, ())
    blobs = [{"blobName": "x/report.csv", "dataRowCount": len(sound.rows) - 1}]
    manifest = json.dumps({"blobs": blobs}).encode()
    yield BadFile("with rows counted", {"manifest.json": manifest, "report.csv": whole}, ())


def _other_case(name: str) -> str:
    """Tags keep their case, which is significant."""
    return name if name.lower().startswith("resourcetags") else name.upper()
