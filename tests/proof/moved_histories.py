"""Checks whether an observed history of moved instances could have happened sequentially.

Every move adds a unique record and removing it ends it. A history is valid if every operation can
be assigned a moment between its call and its response such that each read shows exactly the records
of that moment.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate

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
    result: str = DONE
    reservation: str = ""
    record: str = ""  # added by a completed move, or to be removed
    number: int = 0
    shown: Mapping[str, ShownReservation] = field(default_factory=dict)


@dataclass
class _Order:
    """Pairs of operations in a known order, and alternatives of which one must be true."""

    before: dict[ObservedOperation, set[ObservedOperation]] = field(
        default_factory=lambda: defaultdict(set)
    )
    either: list[
        tuple[
            tuple[ObservedOperation, ObservedOperation], tuple[ObservedOperation, ObservedOperation]
        ]
    ] = field(default_factory=list)

    def add(self, first: ObservedOperation, then: ObservedOperation) -> None:
        self.before[then].add(first)


def find_anomalies(operations: Sequence[ObservedOperation], totals: Mapping[str, int]) -> list[str]:
    """What cannot have happened, one readable line each; empty for a valid history."""
    added, anomalies = _completed_by_record(operations, "move")
    removals, more_anomalies = _completed_by_record(operations, "remove")
    anomalies += more_anomalies
    reads = sorted(
        (o for o in operations if o.kind == "read"), key=lambda operation: operation.began
    )
    for read in reads:
        anomalies += _find_count_errors(read, added, totals)
    order = _Order()
    for record, removal in removals.items():
        if record in added:
            order.add(added[record], removal)
        else:
            anomalies.append(f"{record} was returned but never moved")
    for gone in (o for o in operations if o.result == GONE):
        if gone.record in removals:
            order.add(removals[gone.record], gone)
        else:
            anomalies.append(f"{gone.record} was reported as gone but never returned")
    anomalies += _find_wrong_refusals(operations, added, removals, totals)
    anomalies += _order_by_reads(reads, added, removals, order)
    return anomalies or _find_contradictions(order)


def _completed_by_record(
    operations: Sequence[ObservedOperation], kind: str
) -> tuple[dict[str, ObservedOperation], list[str]]:
    found: dict[str, ObservedOperation] = {}
    anomalies = []
    for operation in operations:
        if operation.kind == kind and operation.result == DONE:
            if operation.record in found:
                anomalies.append(f"two calls completed the {kind} of {operation.record}")
            found[operation.record] = operation
    return found, anomalies


def _find_count_errors(
    read: ObservedOperation, added: Mapping[str, ObservedOperation], totals: Mapping[str, int]
) -> list[str]:
    """Instances lost, invented or reduced within one read."""
    anomalies = []
    for reservation, total in totals.items():
        shown = read.shown[reservation]
        if shown.remaining < 0 or shown.remaining + sum(shown.moved.values()) != total:
            anomalies.append(f"{shown} are not the {total} instances of {reservation}")
        for record, number in shown.moved.items():
            if record not in added:
                anomalies.append(f"{record} was shown, but no call reported moving it")
            elif number != added[record].number:
                anomalies.append(f"{record} moved {added[record].number} and is shown as {number}")
    return anomalies


def _find_wrong_refusals(
    operations: Sequence[ObservedOperation],
    added: Mapping[str, ObservedOperation],
    removals: Mapping[str, ObservedOperation],
    totals: Mapping[str, int],
) -> list[str]:
    """Refused for too few instances although there were enough in every possible order."""
    begins: dict[str, list[tuple[float, int]]] = defaultdict(list)
    ends: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for record, move in added.items():
        begins[move.reservation].append((move.began, move.number))
        if record in removals:
            ends[move.reservation].append((removals[record].ended, move.number))
    moved = {reservation: _RunningTotal(changes) for reservation, changes in begins.items()}
    returned = {reservation: _RunningTotal(changes) for reservation, changes in ends.items()}
    none = _RunningTotal([])
    anomalies = []
    for operation in operations:
        if operation.result == TOO_FEW:
            most = moved.get(operation.reservation, none).until(operation.ended)
            most -= returned.get(operation.reservation, none).before(operation.began)
            if totals[operation.reservation] - most >= operation.number:
                anomalies.append(
                    f"{operation.number} of {operation.reservation} were refused for no reason"
                )
    return anomalies


class _RunningTotal:
    """The sum of the numbers of a reservation up to a moment."""

    def __init__(self, changes: Sequence[tuple[float, int]]) -> None:
        ordered = sorted(changes)
        self._moments = [moment for moment, _ in ordered]
        self._sums = list(accumulate((number for _, number in ordered), initial=0))

    def until(self, moment: float) -> int:
        return self._sums[bisect_right(self._moments, moment)]

    def before(self, moment: float) -> int:
        return self._sums[bisect_left(self._moments, moment)]


def _order_by_reads(
    reads: Sequence[ObservedOperation],
    added: Mapping[str, ObservedOperation],
    removals: Mapping[str, ObservedOperation],
    order: _Order,
) -> list[str]:
    """A read comes after what it shows and before what it does not show yet."""
    not_yet_visible = sorted(added, key=lambda record: added[record].began, reverse=True)
    visible: list[str] = []  # records that a later read can show
    anomalies = []
    for read in reads:
        while not_yet_visible and added[not_yet_visible[-1]].began <= read.ended:
            visible.append(not_yet_visible.pop())
        visible = [
            record
            for record in visible
            if record not in removals or removals[record].ended >= read.began
        ]
        shown = {record for reservation in read.shown.values() for record in reservation.moved}
        for record in shown - set(visible):
            if record in added:
                anomalies.append(f"{record} was shown before it was moved or after it was gone")
        for record in visible:
            move, removal = added[record], removals.get(record)
            if record in shown:
                order.add(move, read)
                if removal is not None:
                    order.add(read, removal)
            elif removal is None:
                order.add(read, move)
            else:
                order.either.append(((removal, read), (read, move)))
    return anomalies


def _find_contradictions(order: _Order) -> list[str]:
    """Assign each operation its earliest possible moment; one that is too late is an anomaly."""
    while True:
        moments: dict[ObservedOperation, float] = {}
        try:
            for operation in TopologicalSorter(order.before).static_order():
                earliest = [moments[first] for first in order.before.get(operation, ())]
                moments[operation] = max([operation.began, *earliest])
                if moments[operation] > operation.ended:
                    which = f"{operation.kind} of {operation.record or 'all'}"
                    return [f"a {which} shows a state that did not exist then"]
        except CycleError as cycle:
            members = ", ".join(
                f"{operation.kind} {operation.record}" for operation in cycle.args[1]
            )
            return [f"each of these must come before the next: {members}"]
        undecided = []
        for pair in order.either:
            possible = [moments.get(first, first.began) <= then.ended for first, then in pair]
            if possible == [False, False]:
                return [
                    f"{pair[0][0].record} was not shown, but neither removed before nor moved later"
                ]
            if possible == [True, True]:
                undecided.append(pair)
            else:
                order.add(*pair[possible.index(True)])
        if len(undecided) == len(order.either):
            return []
        order.either = undecided
