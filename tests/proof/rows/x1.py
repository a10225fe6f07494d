"""An operation whose worker is killed happens once, or not at all and then once when repeated.

Each operation runs in two organisations: undisturbed in one, and in the other with the worker
killed by SIGKILL before or after one of its statements, at one of its file changes, or at a
random moment. The client repeats its request with the same key until it is answered. Readers see
the old or the new state. In the end both organisations are equal.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random

from tests.proof.counting_proxy import At
from tests.proof.killed_operations import OPERATIONS
from tests.proof.killed_operations.operation import KeyedRequest, Operation
from tests.proof.killed_service import KilledService, StateWatcher, killed_service
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress

TARGET = (
    "1,000 kills at random moments and named points of imports, RI moves, "
    "apply-recalculation, invoices and stack changes: 0 acknowledged and lost, 0 doubled, 0 "
    "seen in part; byte for byte the result of an undisturbed run"
)
QUICK = 7
FULL = 1_000
SECONDS_MAX = 400

# every this many turns one is a random moment, the others are points in order
RANDOM_EVERY = 3
TIMES_MAX = 2  # of a repeated statement only the first occurrences are points
MISSES_MAX = 5
SAY_EVERY = 50


@dataclass(frozen=True, slots=True)
class AtFile:
    """The n-th change to a file."""

    number: int

    def __str__(self) -> str:
        return f"at file change {self.number}"


@dataclass(frozen=True, slots=True)
class AtMoment:
    """A random moment: a fraction of the duration of an undisturbed run."""

    part: float

    def __str__(self) -> str:
        return "at a random moment"


Point = At | AtFile | AtMoment


@dataclass
class Undisturbed:
    """The course of an undisturbed run."""

    statements: list[str]
    changes: list[str]
    seconds: float
    wrong: str | None


@dataclass
class Turns:
    """An operation and its next kill points."""

    operation: Operation
    number: int = 0
    points: list[Point] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random = environment.random("X1")
    misses: list[str] = []
    with killed_service(environment.new_folder("x1")) as killed:
        turns = [Turns(operation()) for operation in OPERATIONS]
        for one in turns:
            for organisation in (killed.undisturbed, killed.disturbed):
                one.operation.prepare(organisation)
        for one in _in_order(turns):
            if killed.kills >= size or len(misses) >= MISSES_MAX:
                break
            misses += [f"{one.operation.name} {wrong}" for wrong in _turn(killed, one, random)]
            if killed.kills % SAY_EVERY == 0:
                print_progress(f"X1: {killed.kills} kills, {len(misses)} wrong")
        misses += _forgotten(killed)
        acknowledged, cut_off = len(killed.disturbed.journal), killed.disturbed.cut_off
    struck = "; ".join(f"{one.operation.name}: {_counted(one.struck)}" for one in turns)
    said = (
        f"{killed.kills} kills ({struck}), {cut_off} connections cut, {acknowledged} acknowledged"
    )
    return Measurement(f"{said}; {len(misses)} wrong", misses)


def _in_order(turns: list[Turns]) -> Iterator[Turns]:
    """Round after round; slow operations pause in every other pair of rounds."""
    for round_ in count():
        yield from (one for one in turns if not one.operation.slow or round_ % 4 < 2)


def _counted(struck: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(struck.items()))


def _turn(killed: KilledService, turns: Turns, random: Random) -> list[str]:
    """Run once undisturbed and once disturbed; return the faults."""
    operation, questions = turns.operation, turns.operation.seen
    turns.number += 1
    before = killed.seen(killed.undisturbed, questions)
    kept = _done_undisturbed(killed, operation, turns.number)
    if kept.wrong is not None:
        return [f"undisturbed: {kept.wrong}"]
    after = killed.seen(killed.undisturbed, questions)
    if before == after:
        return [f"{turns.number} changed nothing where nobody disturbed it"]
    point = _next_point(turns, kept, random)
    kills = killed.kills
    sent = operation.sent(killed.disturbed, turns.number)
    with StateWatcher(killed, questions, before, after) as watcher:
        wrong = _done_disturbed(killed, operation, sent, point, kept.seconds)
    where = f"killed {point}" if killed.kills > kills else f"not killed {point}"
    turns.struck[_kind(point)] += killed.kills > kills
    misses = [f"{where}: {one}" for one in [wrong, *watcher.misses] if one]
    found = killed.seen(killed.disturbed, questions)
    if found != after:
        misses.append(f"{where}: in the end {killed.difference(questions, found, after)}")
    return misses


def _done_undisturbed(killed: KilledService, operation: Operation, number: int) -> Undisturbed:
    sent = operation.sent(killed.undisturbed, number)
    killed.proxy.arm(None, lambda: None)
    killed.files.arm(None, lambda: None)
    began = time.monotonic()
    wrong = operation.finish(killed.undisturbed, killed.undisturbed.send(sent))
    seconds = time.monotonic() - began
    statements, changes = list(killed.proxy.disarm()), list(killed.files.disarm())
    return Undisturbed(statements, changes, seconds, wrong)


def _done_disturbed(
    killed: KilledService,
    operation: Operation,
    sent: KeyedRequest,
    point: Point,
    seconds: float,
) -> str | None:
    """Repeat the request until it is answered and done; return the faults."""
    killed.proxy.arm(point if isinstance(point, At) else None, killed.kill)
    killed.files.arm(point.number if isinstance(point, AtFile) else None, killed.kill)
    part = point.part * seconds if isinstance(point, AtMoment) else None
    timer = threading.Timer(part or 0, killed.kill)
    over = threading.Event()
    passing = threading.Thread(target=_let_time_pass, args=(killed, over), daemon=True)
    passing.start()
    if part is not None:
        timer.start()
    try:
        return operation.finish(killed.disturbed, killed.disturbed.send(sent))
    finally:
        timer.cancel()
        killed.proxy.disarm()
        killed.files.disarm()
        over.set()
        passing.join()


def _let_time_pass(killed: KilledService, over: threading.Event) -> None:
    """Expire the dead worker's leases at once instead of after a minute."""
    kills = killed.kills
    while not over.wait(0.2):
        if killed.kills > kills:
            kills = killed.kills
            killed.let_leases_end()


def _next_point(turns: Turns, kept: Undisturbed, random: Random) -> Point:
    """Named points in their own order, with random moments in between."""
    if turns.number % RANDOM_EVERY == 0:
        return AtMoment(random.random())
    if not turns.points:
        turns.points = _points(kept, random, turns.operation)
    return turns.points.pop()


def _points(kept: Undisturbed, random: Random, operation: Operation) -> list[Point]:
    """Each statement and each file change; the commit of audited changes comes early."""
    others: list[Point] = [
        At(text, number, answered)
        for text, times in Counter(kept.statements).items()
        for number in range(1, min(times, TIMES_MAX) + 1)
        for answered in (False, True)
    ]
    if operation.slow:
        others += [AtFile(number) for number in range(1, len(kept.changes) + 1)]
    commit = _commit(kept.statements)
    first: list[Point] = [At(commit, 1, answered) for answered in (True, False)]
    like = re.compile(operation.struck_first or "(?!)")
    first += [At(text, 1, False) for text in kept.statements if like.search(text)][:1]
    others = [point for point in others if point not in first]
    random.shuffle(others)
    return [*others, *first]


def _commit(statements: list[str]) -> str:
    audited = max(at for at, text in enumerate(statements) if "append_audit_entry" in text)
    return next(text for text in statements[audited:] if text.startswith("COMMIT"))


def _kind(point: Point) -> str:
    return {At: "at statements", AtFile: "at files", AtMoment: "at random"}[type(point)]


def _forgotten(killed: KilledService) -> list[str]:
    """An acknowledged request is answered the same when repeated and changes nothing."""
    wrong = []
    for sent, status, content in killed.disturbed.journal:
        again = killed.disturbed.sent_again(sent)
        if (again.status_code, again.content) != (status, content):
            wrong.append(f"{sent.key}: acknowledged {content!r}, then {again.content!r}")
    questions = [question for operation in OPERATIONS for question in operation.seen]
    found, expected = (
        killed.seen(organisation, questions)
        for organisation in (killed.disturbed, killed.undisturbed)
    )
    if found != expected:
        wrong.append(f"after all: {killed.difference(questions, found, expected)}")
    return wrong
