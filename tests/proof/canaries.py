"""Canaries: random words that are sent and then searched for in every encoding."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

READ_AT_ONCE = 2**24
START = 2  # characters that distinguish canaries from other text


@dataclass
class Canaries:
    """Secrets may appear nowhere; words may be in records, but in no log and no error response."""

    random: Random
    secrets: dict[str, str] = field(default_factory=dict)  # the word and where it was sent
    words: dict[str, str] = field(default_factory=dict)

    def secret(self, kind: str) -> str:
        """At most 18 characters, so that it can be a password."""
        canary = f"kn{self.random.getrandbits(64):016x}"
        self.secrets[canary] = kind
        return canary

    def word(self, kind: str) -> str:
        canary = f"kw{self.random.getrandbits(64):016x}"
        self.words[canary] = kind
        return canary

    def keep(self, kind: str, issued: str) -> str:
        """Remember a secret that the service generated and showed once."""
        self.secrets[issued] = kind
        return issued


def find_canaries(hay: bytes, needles: Iterable[str]) -> set[str]:
    """Those contained in the data, plain, in hexadecimal or in base64."""
    by_start: dict[bytes, dict[bytes, str]] = {}
    for needle in needles:
        for spelling in spellings(needle):
            by_start.setdefault(spelling[:START], {})[spelling] = needle
    found = set()
    # few prefixes and many needles: one pass per prefix is fastest
    for start, spelled in by_start.items():
        lengths = {len(spelling) for spelling in spelled}
        at = hay.find(start)
        while at >= 0:
            candidates = (spelled.get(hay[at : at + length]) for length in lengths)
            found |= {needle for needle in candidates if needle is not None}
            at = hay.find(start, at + 1)
    return found


def spellings(needle: str) -> Iterator[bytes]:
    raw = needle.encode()
    yield raw
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for shift in range(3):  # base64 differs at each of its three alignments
        encoded = base64.b64encode(b"\0" * shift + raw)
        inside = encoded[(0, 2, 3)[shift] : len(encoded) // 4 * 4 - 4]
        yield inside
        yield inside.translate(bytes.maketrans(b"+/", b"-_"))


def find_canaries_in_folder(folder: Path, needles: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Search every file below a folder, also across read boundaries."""
    wanted = list(needles)
    overlap = 2 * max((len(needle) for needle in wanted), default=0)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            for needle in sorted(_found_in_file(file, wanted, overlap)):
                yield file.relative_to(folder), needle


def _found_in_file(file: Path, wanted: list[str], overlap: int) -> set[str]:
    found: set[str] = set()
    try:
        with file.open("rb") as opened:
            before = b""
            while piece := opened.read(READ_AT_ONCE):
                found |= find_canaries(before + piece, wanted)
                before = piece[-overlap:]
    except FileNotFoundError:
        return found  # the server removed the file meanwhile
    return found
