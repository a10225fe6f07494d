"""An operation whose worker is killed has its effect exactly once when the client repeats it.

Each operation runs in two organisations: undisturbed in one, and in the other with the worker
killed by SIGKILL before or after one of its statements, at one of its file changes, or at a
random moment. The client repeats its request with the same key until it is answered. Readers see
the old or the new state. At the end both organisations are equal.
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

from tests.legacy.broken_variants import X1_VARIANTS  # version 3
from tests.proof.broken_variants import BrokenVariant
from tests.proof.counting_proxy import AtStatement
from tests.proof.killed_operations import OPERATIONS
from tests.proof.killed_operations.operation import KeyedRequest, Operation
from tests.proof.killed_service import KilledService, StateWatcher, killed_service
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress

TARGET = (
    "1,000 kills at random moments and named points of imports, RI moves, "
    "apply-recalculation, invoices, credit notes, replaced invoices, approvals, mails, payments "
    "and stack changes: 0 acknowledged and lost, 0 doubled, 0 read in part; byte for byte "
    "the result of an undisturbed run"
)
# One for each operation, and a second import: only that one replaces a month.
SHORT = 3  # the first operations
QUICK = len(OPERATIONS) + 1
FULL = 1_000
SECONDS_MAX = 400

# one round in this many is killed at a random moment, the others at points in order
RANDOM_EVERY = 3
TIMES_MAX = 2  # only the first occurrences of a repeated statement are points
MISSES_MAX = 5
PROGRESS_EVERY = 50


@dataclass(frozen=True, slots=True)
class AtFile:
    """The n-th change to a file."""

    number: int

    def __str__(self) -> str:
        return f"at file change {self.number}"


@dataclass(frozen=True, slots=True)
class AtMoment:
    """A random moment: a fraction of the duration of an undisturbed run."""

    fraction: float

    def __str__(self) -> str:
        return "at a random moment"


Point = AtStatement | AtFile | AtMoment


@dataclass
class UndisturbedRun:
    """What an undisturbed run did."""

    statements: list[str]
    changes: list[str]
    seconds: float
    wrong: str | None


@dataclass
class OperationRounds:
    """The rounds of one operation: their number, the next kill points and the kills so far."""

    operation: Operation
    number: int = 0
    points: list[Point] = field(default_factory=list)
    kills_by_kind: Counter[str] = field(default_factory=Counter)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random = environment.random("X1")
    misses: list[str] = []
    with killed_service(environment.new_folder("x1")) as killed:
        all_rounds = [OperationRounds(operation()) for operation in OPERATIONS[:size]]
        for rounds in all_rounds:
            for organisation in (killed.undisturbed, killed.disturbed):
                rounds.operation.prepare(organisation)
        for rounds in _in_order(all_rounds):
            if killed.kills >= size or len(misses) >= MISSES_MAX:
                break
            misses += [
                f"{rounds.operation.name} {wrong}" for wrong in _run_round(killed, rounds, random)
            ]
            if killed.kills % PROGRESS_EVERY == 0:
                print_progress(f"X1: {killed.kills} kills, {len(misses)} wrong")
        misses += _check_acknowledged(killed)
        acknowledged, broken_connections = (
            len(killed.disturbed.journal),
            killed.disturbed.broken_connections,
        )
    kills = "; ".join(
        f"{rounds.operation.name}: {_format_counts(rounds.kills_by_kind)}" for rounds in all_rounds
    )
    figures = (
        f"{killed.kills} kills ({kills}), {broken_connections} broken connections, "
        f"{acknowledged} acknowledged"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _in_order(all_rounds: list[OperationRounds]) -> Iterator[OperationRounds]:
    """All operations in turn; slow ones are left out of every other pair of rounds."""
    for round_ in count():
        yield from (rounds for rounds in all_rounds if not rounds.operation.slow or round_ % 4 < 2)


def _format_counts(kills_by_kind: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(kills_by_kind.items()))


def _run_round(killed: KilledService, rounds: OperationRounds, random: Random) -> list[str]:
    """Run once undisturbed and once disturbed; return the faults."""
    operation, queries = rounds.operation, rounds.operation.visible_state
    rounds.number += 1
    before = killed.read_state(killed.undisturbed, queries)
    undisturbed = _run_undisturbed(killed, operation, rounds.number)
    if undisturbed.wrong is not None:
        return [f"undisturbed: {undisturbed.wrong}"]
    after = killed.read_state(killed.undisturbed, queries)
    if before == after:
        return [f"{rounds.number} changed nothing in the undisturbed run"]
    point = _next_point(rounds, undisturbed, random)
    kills = killed.kills
    request = operation.build_request(killed.disturbed, rounds.number)
    with StateWatcher(killed, queries, before, after) as watcher:
        wrong = _run_disturbed(killed, operation, request, point, undisturbed.seconds)
    where = f"killed {point}" if killed.kills > kills else f"not killed {point}"
    rounds.kills_by_kind[_kind(point)] += killed.kills > kills
    misses = [f"{where}: {fault}" for fault in [wrong, *watcher.misses] if fault]
    found = killed.read_state(killed.disturbed, queries)
    if found != after:
        misses.append(f"{where}: at the end {killed.difference(queries, found, after)}")
    return misses


def _run_undisturbed(killed: KilledService, operation: Operation, number: int) -> UndisturbedRun:
    request = operation.build_request(killed.undisturbed, number)
    killed.proxy.arm(None, lambda: None)
    killed.files.arm(None, lambda: None)
    began = time.monotonic()
    wrong = operation.finish(killed.undisturbed, killed.undisturbed.send(request))
    seconds = time.monotonic() - began
    statements, changes = list(killed.proxy.disarm()), list(killed.files.disarm())
    return UndisturbedRun(statements, changes, seconds, wrong)


def _run_disturbed(
    killed: KilledService,
    operation: Operation,
    request: KeyedRequest,
    point: Point,
    seconds: float,
) -> str | None:
    """Repeat the request until it is answered and done; return the faults."""
    killed.proxy.arm(point if isinstance(point, AtStatement) else None, killed.kill)
    killed.files.arm(point.number if isinstance(point, AtFile) else None, killed.kill)
    fraction = point.fraction * seconds if isinstance(point, AtMoment) else None
    timer = threading.Timer(fraction or 0, killed.kill)
    finished = threading.Event()
    lease_thread = threading.Thread(target=_expire_leases, args=(killed, finished), daemon=True)
    lease_thread.start()
    if fraction is not None:
        timer.start()
    try:
        return operation.finish(killed.disturbed, killed.disturbed.send(request))
    finally:
        timer.cancel()
        killed.proxy.disarm()
        killed.files.disarm()
        finished.set()
        lease_thread.join()


def _expire_leases(killed: KilledService, finished: threading.Event) -> None:
    """Expire the dead worker's leases at once instead of after a minute."""
    kills = killed.kills
    while not finished.wait(0.2):
        if killed.kills > kills:
            kills = killed.kills
            killed.expire_leases()


def _next_point(rounds: OperationRounds, undisturbed: UndisturbedRun, random: Random) -> Point:
    """Named points in their own order, with random moments in between."""
    if rounds.number % RANDOM_EVERY == 0:
        return AtMoment(random.random())
    if not rounds.points:
        rounds.points = _points(undisturbed, random, rounds.operation)
    return rounds.points.pop()


def _points(undisturbed: UndisturbedRun, random: Random, operation: Operation) -> list[Point]:
    """Each statement and each file change; the commit of audited changes comes early."""
    others: list[Point] = [
        AtStatement(text, number, after)
        for text, times in Counter(undisturbed.statements).items()
        for number in range(1, min(times, TIMES_MAX) + 1)
        for after in (False, True)
    ]
    if operation.slow:
        others += [AtFile(number) for number in range(1, len(undisturbed.changes) + 1)]
    commit = _commit(undisturbed.statements)
    first: list[Point] = [AtStatement(commit, 1, after) for after in (True, False)]
    if operation.first_after_commit:
        first.reverse()
    pattern = re.compile(operation.kill_first_at or "(?!)")
    first += [
        AtStatement(text, 1, False) for text in undisturbed.statements if pattern.search(text)
    ][:1]
    others = [point for point in others if point not in first]
    random.shuffle(others)
    return [*others, *first]


def _commit(statements: list[str]) -> str:
    audited = max(at for at, text in enumerate(statements) if "append_audit_entry" in text)
    return next(text for text in statements[audited:] if text.startswith("COMMIT"))


def _kind(point: Point) -> str:
    return {AtStatement: "at statements", AtFile: "at files", AtMoment: "at random"}[type(point)]


def _check_acknowledged(killed: KilledService) -> list[str]:
    """An acknowledged request is answered the same when repeated and changes nothing."""
    wrong = []
    for request, status, content in killed.disturbed.journal:
        repeated = killed.disturbed.send_with_key(request)
        if (repeated.status_code, repeated.content) != (status, content):
            wrong.append(f"{request.key}: acknowledged {content!r}, then {repeated.content!r}")
    queries = [query for operation in OPERATIONS for query in operation.visible_state]
    found, expected = (
        killed.read_state(organisation, queries)
        for organisation in (killed.disturbed, killed.undisturbed)
    )
    if found != expected:
        wrong.append(f"at the end: {killed.difference(queries, found, expected)}")
    return wrong


VARIANTS = [
    BrokenVariant(
        "first-entry-applied-alone",
        "The first entry is applied in a separate transaction.",
        "a partial state was read",
        "adjustments/recalculation/operations.py",
        "[entry.entry_id for entry in entries if entry.applied_month is None],",
        """[entry.entry_id for entry in entries[:1] if entry.applied_month is None],
        month=body.month,
        exchange_rate=body.exchange_rate,
        tax_free=body.tax_free,
    )
    await db.exec_driver_sql("COMMIT")
    await db.exec_driver_sql("BEGIN")
    await db.exec_driver_sql(f"SET LOCAL nimbill.organisation = '{scope.organisation_id}'")
    await records.put_applied(
        db,
        scope,
        [entry.entry_id for entry in entries[1:] if entry.applied_month is None],""",
    ),
    BrokenVariant(
        "move-before-idempotency-key",
        "A move is committed before its idempotency key, so a repeated request moves again.",
        "RI move killed before",
        "adjustments/reserved_instances/operations.py",
        """\
        closing_count=closing_count,
    )
""",
        """\
        closing_count=closing_count,
    )
    await db.exec_driver_sql("COMMIT")
    await db.exec_driver_sql("BEGIN")
    await db.exec_driver_sql(f"SET LOCAL nimbill.organisation = '{scope.organisation_id}'")
""",
    ),
    BrokenVariant(
        "old-sums-kept",
        "The earlier sums of a month are kept beside the new ones.",
        "ended parked",
        "costs/lake/records.py",
        "sa.delete(table).where(",
        "sa.delete(table).where(table.c.lines < 0,",
    ),
    BrokenVariant(
        "operation-before-its-approval",
        "An approved operation is committed before its request is decided, so a repeated "
        "approval executes it again.",
        "approval killed before",
        "approvals/operations.py",
        "raise ReviewChanged",
        """raise ReviewChanged
    await db.exec_driver_sql("COMMIT")
    await db.exec_driver_sql("BEGIN")
    await db.exec_driver_sql(f"SET LOCAL nimbill.organisation = '{scope.organisation_id}'")""",
    ),
    BrokenVariant(
        "replacement-before-idempotency-key",
        "A replaced invoice is committed before its idempotency key, so a repeated request "
        "is refused.",
        "replacement killed after",
        "corrections/replacements/operations.py",
        "return invoice_no",
        """await db.exec_driver_sql("COMMIT;")
    await db.exec_driver_sql("BEGIN")
    await db.exec_driver_sql(f"SET LOCAL nimbill.organisation = '{scope.organisation_id}'")
    return invoice_no""",
    ),
    *X1_VARIANTS,  # version 3
]
