"""Checks whether an observed history of moved instances could have happened sequentially.

Every move adds a unique record and removing it ends it. A history is valid if every operation can
be assigned a moment between its call and its response such that each read shows exactly the records
of that moment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from math import inf

DONE, TOO_FEW, GONE = "done", "too few remain", "gone"


@dataclass(frozen=True, slots=True)
class ShownReservation:
    """A reservation in a read: the number left with its owner, and the moved records."""

    remaining: int
    moved: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class ObservedOperation:
    kind: str  # move, remove or read
    began: float
    ended: float
    said: str = DONE
    reservation: str = ""
    record: str = ""  # added by a completed move, or to be removed
    number: int = 0
    shown: Mapping[str, ShownReservation] = field(default_factory=dict)


@dataclass
class _Order:
    """Which operation must come before which, and pairs of which one must."""

    before: dict[ObservedOperation, set[ObservedOperation]] = field(
        default_factory=lambda: defaultdict(set)
    )
    either: list[
        tuple[
            tuple[ObservedOperation, ObservedOperation], tuple[ObservedOperation, ObservedOperation]
        ]
    ] = field(default_factory=list)

    def put(self, first: ObservedOperation, then: ObservedOperation) -> None:
        self.before[then].add(first)


def find_anomalies(operations: Sequence[ObservedOperation], totals: Mapping[str, int]) -> list[str]:
    """What cannot have happened, one readable line each; empty for a valid history."""
    added, complaints = _writers(operations, "move")
    taken, twice = _writers(operations, "remove")
    complaints += twice
    reads = sorted((o for o in operations if o.kind == "read"), key=lambda one: one.began)
    for read in reads:
        complaints += _uneven(read, added, totals)
    order = _Order()
    for record, taking in taken.items():
        if record in added:
            order.put(added[record], taking)
        else:
            complaints.append(f"{record} was given back and never moved")
    for gone in (o for o in operations if o.said == GONE):
        if gone.record in taken:
            order.put(taken[gone.record], gone)
        else:
            complaints.append(f"{gone.record} was said to be gone and never given back")
    complaints += _unjust_refusals(operations, added, taken, totals)
    complaints += _ordered_by_reads(reads, added, taken, order)
    return complaints or _impossible(order)


def _writers(
    operations: Sequence[ObservedOperation], kind: str
) -> tuple[dict[str, ObservedOperation], list[str]]:
    found: dict[str, ObservedOperation] = {}
    complaints = []
    for one in operations:
        if one.kind == kind and one.said == DONE:
            if one.record in found:
                complaints.append(f"two calls were told that their {kind} of {one.record} was done")
            found[one.record] = one
    return found, complaints


def _uneven(
    read: ObservedOperation, added: Mapping[str, ObservedOperation], totals: Mapping[str, int]
) -> list[str]:
    """Instances lost, invented or reduced within one read."""
    complaints = []
    for reservation, total in totals.items():
        shown = read.shown[reservation]
        if shown.remaining < 0 or shown.remaining + sum(shown.moved.values()) != total:
            complaints.append(f"{shown} are not the {total} instances of {reservation}")
        for record, number in shown.moved.items():
            if record not in added:
                complaints.append(f"{record} was shown and nobody was told that it was moved")
            elif number != added[record].number:
                complaints.append(f"{record} moved {added[record].number} and is shown as {number}")
    return complaints


def _unjust_refusals(
    operations: Sequence[ObservedOperation],
    added: Mapping[str, ObservedOperation],
    taken: Mapping[str, ObservedOperation],
    totals: Mapping[str, int],
) -> list[str]:
    """Refused for too few instances although there were enough in every possible order."""
    by_reservation: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for record, adding in added.items():
        ended = taken[record].ended if record in taken else inf
        by_reservation[adding.reservation].append((adding.began, ended, adding.number))
    complaints = []
    for one in operations:
        if one.said == TOO_FEW:
            lives = by_reservation[one.reservation]
            most = sum(n for began, ended, n in lives if began <= one.ended and ended >= one.began)
            if totals[one.reservation] - most >= one.number:
                complaints.append(f"{one.number} of {one.reservation} were refused for no reason")
    return complaints


def _ordered_by_reads(
    reads: Sequence[ObservedOperation],
    added: Mapping[str, ObservedOperation],
    taken: Mapping[str, ObservedOperation],
    order: _Order,
) -> list[str]:
    """A read comes after what it shows and before what it does not show yet."""
    waiting = sorted(added, key=lambda record: added[record].began, reverse=True)
    near: list[str] = []  # records that a later read can show
    complaints = []
    for read in reads:
        while waiting and added[waiting[-1]].began <= read.ended:
            near.append(waiting.pop())
        near = [one for one in near if one not in taken or taken[one].ended >= read.began]
        shown = {record for one in read.shown.values() for record in one.moved}
        for record in shown - set(near):
            if record in added:
                complaints.append(f"{record} was shown before it was moved or after it was gone")
        for record in near:
            adding, taking = added[record], taken.get(record)
            if record in shown:
                order.put(adding, read)
                if taking is not None:
                    order.put(read, taking)
            elif taking is None:
                order.put(read, adding)
            else:
                order.either.append(((taking, read), (read, adding)))
    return complaints


def _impossible(order: _Order) -> list[str]:
    """Assign each operation its earliest possible moment; one that is too late is an anomaly."""
    while True:
        moments: dict[ObservedOperation, float] = {}
        try:
            for one in TopologicalSorter(order.before).static_order():
                earliest = [moments[first] for first in order.before.get(one, ())]
                moments[one] = max([one.began, *earliest])
                if moments[one] > one.ended:
                    return [f"a {one.kind} of {one.record or 'all'} shows what was not so by then"]
        except CycleError as circle:
            around = ", ".join(f"{one.kind} {one.record}" for one in circle.args[1])
            return [f"each of these must stand before the next: {around}"]
        open_still = []
        for pair in order.either:
            can = [moments.get(first, first.began) <= then.ended for first, then in pair]
            if can == [False, False]:
                return [f"{pair[0][0].record} was neither gone nor still to come, and not shown"]
            if can == [True, True]:
                open_still.append(pair)
            else:
                order.put(*pair[can.index(True)])
        if len(open_still) == len(order.either):
            return []
        order.either = open_still
