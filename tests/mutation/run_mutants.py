"""Runs the chosen tests of one mutant after the other, in a few processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from queue import SimpleQueue

from tests.fault_injection.replacements import ROOT
from tests.mutation.areas import Area
from tests.mutation.choose_tests import ChosenTests
from tests.mutation.mutants import Mutant
from tests.mutation.processes import MutantProcesses, mutant_processes
from tests.mutation.session import NOT_SWAPPABLE, SPOILT
from tests.mutation.swapped_code import NotSwappable, differing_functions
from tests.mutation.worker import NO_END


@dataclass(frozen=True, slots=True)
class MutantResult:
    mutant: Mutant
    area: Area
    tests: ChosenTests
    noticed_by: str | None  # the first test that failed; None if all passed


def run_mutants(
    mutants: Sequence[tuple[Area, Mutant, ChosenTests]], processes: int
) -> Iterator[MutantResult]:
    """Results in the order of the sample."""
    files = sorted({file for _, _, tests in mutants for file in tests.files})
    with ExitStack() as stack, ThreadPoolExecutor(processes) as pool:
        idle: SimpleQueue[MutantProcesses] = SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(mutant_processes(files)))

        def run(work: tuple[Area, Mutant, ChosenTests]) -> MutantResult:
            area, mutant, tests = work
            own = idle.get()
            try:
                return MutantResult(mutant, area, tests, _run_mutant(own, mutant, tests))
            finally:
                idle.put(own)

        yield from pool.map(run, mutants)


def _run_mutant(own: MutantProcesses, mutant: Mutant, tests: ChosenTests) -> str | None:
    """A mutant that survives a session is run once more from the start of a process.

    A session does not see faults of values that were computed before, for example of caches.
    """
    if not _is_swappable(mutant):
        return _run_anew(own, mutant, tests, tests.rounds)
    for chosen in tests.rounds:
        noticed_by = own.run_in_session(mutant, chosen, tests.seconds)
        if noticed_by in (NOT_SWAPPABLE, SPOILT, NO_END):
            return _run_anew(own, mutant, tests, tests.rounds)
        if noticed_by:
            return noticed_by
    return _run_anew(own, mutant, tests, tests.rounds[:1])


def _is_swappable(mutant: Mutant) -> bool:
    """Ask without a session, because starting one takes longer than most mutants."""
    try:
        differing_functions("", (ROOT / mutant.file).read_text(), mutant.source)
    except NotSwappable:
        return False
    return True


def _run_anew(
    own: MutantProcesses, mutant: Mutant, tests: ChosenTests, rounds: Sequence[tuple[str, ...]]
) -> str | None:
    for chosen in rounds:
        if noticed_by := own.run_in_fork(mutant, chosen, tests.seconds):
            return noticed_by
    return None
