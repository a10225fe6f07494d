"""Ways in which a database superuser can falsify an audit log.

Each function takes the log as written and returns the falsified one with the first row at which a
check must stop. If the attacker also recomputes hashes, that is the first row whose hash still
covers the original, or the first checkpoint that contradicts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from random import Random
from typing import NamedTuple


class StoredLog(NamedTuple):
    seq: int
    entry: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class FalsifiableLog:
    organisation_id: str
    rows: tuple[StoredLog, ...]
    head: tuple[int, bytes] | None
    checkpoints: tuple[int, ...]

    @property
    def last(self) -> int:
        return len(self.rows)


class Falsified(NamedTuple):
    log: FalsifiableLog
    first_bad: int


def documented_hash(previous: bytes, seq: int, entry: str) -> bytes:
    """As documented: previous hash, number in eight bytes, entry."""
    return sha256(previous + seq.to_bytes(8, "big") + entry.encode()).digest()


def hash_before(log: FalsifiableLog, seq: int) -> bytes:
    return log.rows[seq - 2].hash if seq > 1 else sha256(log.organisation_id.encode()).digest()


def edit(log: FalsifiableLog, random: Random) -> Falsified:
    row = random.choice(log.rows)
    return Falsified(_with(log, row._replace(entry=_reworded(row, random))), row.seq)


def edit_the_hash(log: FalsifiableLog, random: Random) -> Falsified:
    row = random.choice(log.rows)
    return Falsified(_with(log, row._replace(hash=random.randbytes(32))), row.seq)


def edit_and_recompute_its_hash(log: FalsifiableLog, random: Random) -> Falsified:
    row = random.choice(log.rows)
    entry = _reworded(row, random)
    forged = StoredLog(row.seq, entry, documented_hash(hash_before(log, row.seq), row.seq, entry))
    known = row.seq in log.checkpoints or row.seq == log.last
    return Falsified(_with(log, forged), row.seq if known else row.seq + 1)


def rewrite_everything_after_an_edit(log: FalsifiableLog, random: Random) -> Falsified:
    """All hashes and the head agree; only a checkpoint outside the database contradicts."""
    first = random.randint(1, max(log.checkpoints))
    rows = list(log.rows[: first - 1])
    previous = hash_before(log, first)
    for row in log.rows[first - 1 :]:
        entry = _reworded(row, random) if row.seq == first else row.entry
        previous = documented_hash(previous, row.seq, entry)
        rows.append(StoredLog(row.seq, entry, previous))
    log = replace(log, rows=tuple(rows), head=(log.last, previous))
    return Falsified(log, min(seq for seq in log.checkpoints if seq >= first))


def delete(log: FalsifiableLog, random: Random) -> Falsified:
    row = random.choice(log.rows)
    return Falsified(replace(log, rows=tuple(kept for kept in log.rows if kept != row)), row.seq)


def delete_and_close_the_gap(log: FalsifiableLog, random: Random) -> Falsified:
    gone = random.randint(1, log.last - 1)
    later = [row._replace(seq=row.seq - 1) for row in log.rows[gone:]]
    head = (later[-1].seq, later[-1].hash)
    return Falsified(replace(log, rows=(*log.rows[: gone - 1], *later), head=head), gone)


def insert(log: FalsifiableLog, random: Random) -> Falsified:
    return _inserted(log, random, random.randbytes(32))


def insert_and_recompute_its_hash(log: FalsifiableLog, random: Random) -> Falsified:
    return _inserted(log, random, None)


def _inserted(log: FalsifiableLog, random: Random, hash_: bytes | None) -> Falsified:
    at = random.randint(1, log.last)
    entry = _reworded(random.choice(log.rows), random)
    right = documented_hash(hash_before(log, at), at, entry)
    forged = StoredLog(at, entry, hash_ or right)
    later = [row._replace(seq=row.seq + 1) for row in log.rows[at - 1 :]]
    rows = (*log.rows[: at - 1], forged, *later)
    first_bad = at + 1 if hash_ is None and at not in log.checkpoints else at
    return Falsified(replace(log, rows=rows, head=(log.last + 1, later[-1].hash)), first_bad)


def append_after_the_head(log: FalsifiableLog, random: Random) -> Falsified:
    entry = _reworded(log.rows[-1], random)
    seq = log.last + 1
    forged = StoredLog(seq, entry, documented_hash(log.rows[-1].hash, seq, entry))
    return Falsified(replace(log, rows=(*log.rows, forged)), seq)


def reorder(log: FalsifiableLog, random: Random) -> Falsified:
    first, second = sorted(random.sample(log.rows, 2))
    swapped = _with(log, StoredLog(first.seq, second.entry, second.hash))
    return Falsified(_with(swapped, StoredLog(second.seq, first.entry, first.hash)), first.seq)


def cut_the_tail(log: FalsifiableLog, random: Random) -> Falsified:
    """Rows and head as if nothing had followed; detected back to the last checkpoint."""
    left = random.randrange(max(log.checkpoints))
    rows = log.rows[:left]
    head = (left, rows[-1].hash) if rows and random.random() < 0.8 else None
    return Falsified(replace(log, rows=rows, head=head), left + 1)


def cut_the_tail_and_leave_the_head(log: FalsifiableLog, random: Random) -> Falsified:
    left = random.randrange(log.last)
    return Falsified(replace(log, rows=log.rows[:left]), left + 1)


def falsify_the_head(log: FalsifiableLog, random: Random) -> Falsified:
    earlier = random.choice(log.rows[:-1])
    head, first_bad = random.choice(
        [
            ((log.last, random.randbytes(32)), log.last),
            ((earlier.seq, earlier.hash), earlier.seq + 1),
            ((log.last + 3, random.randbytes(32)), log.last + 1),
            (None, log.last),
        ]
    )
    return Falsified(replace(log, head=head), first_bad)


def transplant(log: FalsifiableLog, random: Random) -> Falsified:
    """Another organisation's complete and valid log."""
    previous, rows = sha256(b"org_somebody_else").digest(), []
    for row in log.rows:
        entry = _reworded(row, random)
        previous = documented_hash(previous, row.seq, entry)
        rows.append(StoredLog(row.seq, entry, previous))
    return Falsified(replace(log, rows=tuple(rows), head=(log.last, previous)), 1)


Tampering = Callable[[FalsifiableLog, Random], Falsified]

TAMPERINGS: tuple[Tampering, ...] = (
    edit,
    edit_the_hash,
    edit_and_recompute_its_hash,
    rewrite_everything_after_an_edit,
    delete,
    delete_and_close_the_gap,
    insert,
    insert_and_recompute_its_hash,
    append_after_the_head,
    reorder,
    cut_the_tail,
    cut_the_tail_and_leave_the_head,
    falsify_the_head,
    transplant,
)


def _with(log: FalsifiableLog, row: StoredLog) -> FalsifiableLog:
    return replace(log, rows=(*log.rows[: row.seq - 1], row, *log.rows[row.seq :]))


def _reworded(row: StoredLog, random: Random) -> str:
    """Another entry that the database accepts."""
    fields = json.loads(row.entry)
    fields[random.choice(["actor", "action", "resource", "at"])] = f"forged {random.random()}"
    return json.dumps(fields, ensure_ascii=False)
