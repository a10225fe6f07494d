"""Runs the tests of an area against one mutant after the other, in copies of the project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutation.areas import Area
from tests.mutation.mutants import Mutant
from tests.proof.broken_variants import copy_project

SECONDS_PER_FOLDER_MAX = 900  # a mutant that makes tests wait for ever counts as noticed


@dataclass(frozen=True, slots=True)
class MutantResult:
    mutant: Mutant
    area: Area
    noticed_by: str | None  # the tests that failed; None if all passed


def run_mutants(mutants: Sequence[tuple[Area, Mutant]], processes: int) -> Iterator[MutantResult]:
    """Results in the order in which they are ready within the sample."""
    with ExitStack() as stack, ThreadPoolExecutor(processes) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for _ in range(processes):
            copies.put(stack.enter_context(copy_project()))

        def run(work: tuple[Area, Mutant]) -> MutantResult:
            copy = copies.get()
            try:
                return _run_mutant(copy, *work)
            finally:
                copies.put(copy)

        yield from pool.map(run, mutants)


def _run_mutant(copy: Path, area: Area, mutant: Mutant) -> MutantResult:
    file = copy / mutant.file
    original = file.read_text()
    file.write_text(mutant.source)
    try:
        for tests in area.tests:
            if _fails(copy, tests):
                return MutantResult(mutant, area, tests)
        return MutantResult(mutant, area, None)
    finally:
        file.write_text(original)


def _fails(copy: Path, tests: str) -> bool:
    """Anything but passed tests counts: a failed test, an error at import, or no end."""
    try:
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS_PER_FOLDER_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return result.returncode != 0
