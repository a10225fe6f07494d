"""The hash chain: each hash covers the previous one, so that every edit is detected."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple


class ChainedEntry(NamedTuple):
    seq: int
    entry: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first row that differs from what was written, and how."""

    seq: int
    reason: str


def genesis_hash(organisation_id: str) -> bytes:
    """Return the hash that precedes the first row."""
    return sha256(organisation_id.encode()).digest()


def next_hash(previous: bytes, *, seq: int, entry: str) -> bytes:
    """Compute the hash as the database function `append_audit_entry` does."""
    return sha256(previous + seq.to_bytes(8, "big", signed=True) + entry.encode()).digest()


def find_first_break(
    organisation_id: str,
    entries: Iterable[ChainedEntry],
    *,
    head: tuple[int, bytes] | None,
    checkpoints: Iterable[tuple[int, bytes]] = (),
) -> ChainBreak | None:
    """Check the chain from its first row to the end that head and checkpoints attest."""
    previous, seq = genesis_hash(organisation_id), 0
    expected = dict(checkpoints)
    for entry in entries:
        if entry.seq != seq + 1:
            return ChainBreak(seq + 1, "missing" if entry.seq > seq + 1 else "out of order")
        seq, previous = entry.seq, next_hash(previous, seq=entry.seq, entry=entry.entry)
        if previous != entry.hash:
            return ChainBreak(seq, "changed")
        if seq in expected and expected[seq] != previous:
            return ChainBreak(seq, "rewritten since its checkpoint")
    last_attested = max([head[0] if head else 0, *expected])
    if last_attested > seq:
        return ChainBreak(seq + 1, "missing")
    if head is not None and (head[0] < seq or head[1] != previous):
        return ChainBreak(head[0] + 1 if head[0] < seq else seq, "the head does not match")
    if head is None and seq:
        return ChainBreak(seq, "the head is missing")
    return None
