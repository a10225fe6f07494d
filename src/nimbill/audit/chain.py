"""The hash chain: each row's hash covers the row before it, so that no edit stays unseen."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple


class Link(NamedTuple):
    seq: int
    entry: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class Break:
    """The first row that is not as it was written."""

    seq: int
    reason: str


def first_hash(organisation_id: str) -> bytes:
    """What stands before the first row."""
    return sha256(organisation_id.encode()).digest()


def next_hash(previous: bytes, *, seq: int, entry: str) -> bytes:
    """The same sum the database makes when it appends."""
    return sha256(previous + seq.to_bytes(8, "big", signed=True) + entry.encode()).digest()


def first_break(
    organisation_id: str,
    links: Iterable[Link],
    *,
    head: tuple[int, bytes] | None,
    checkpoints: Iterable[tuple[int, bytes]] = (),
) -> Break | None:
    """Walk the chain from its start; head and checkpoints say how far it once reached."""
    previous, seq = first_hash(organisation_id), 0
    hashes = {0: previous}
    expected = dict(checkpoints)
    for link in links:
        if link.seq != seq + 1:
            return Break(seq + 1, "missing" if link.seq > seq + 1 else "out of order")
        seq, previous = link.seq, next_hash(previous, seq=link.seq, entry=link.entry)
        if previous != link.hash:
            return Break(seq, "changed")
        if seq in expected and expected[seq] != previous:
            return Break(seq, "rewritten since its checkpoint")
        hashes[seq] = previous
    reached = max([head[0] if head else 0, *expected])
    if reached > seq:
        return Break(seq + 1, "missing")
    if head is not None and (head[0] < seq or head[1] != previous):
        return Break(head[0] + 1 if head[0] < seq else seq, "the head does not match")
    if head is None and seq:
        return Break(seq, "the head is missing")
    return None
