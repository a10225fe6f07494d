"""The processes that run tests with a mutant: a session, and forks of a worker."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fault_injection.replacements import ROOT, environment_with, write_replacements
from tests.mutation.areas import SOURCE
from tests.mutation.mutants import Mutant
from tests.mutation.session import SPOILT
from tests.mutation.worker import NO_END, stop_database_servers

# A mutant that makes tests wait for ever counts as noticed. The machine may be slower than it was.
SECONDS_MIN, SLOWER_MAX = 120, 6
SECONDS_TO_COLLECT = 900
ELSEWHERE = "tests/mutation/test_mutants.py"  # a session needs tests of two folders


class NoAnswer(Exception):
    """The process has ended, or answers too late."""


@dataclass(slots=True)
class JsonProcess:
    """A process that answers each line with one line."""

    module: str
    folder: Path  # for temporary files and the mutant
    arguments: Sequence[str] = ()
    process: subprocess.Popen[str] | None = None
    _environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self._environment = environment_with((), self.folder)

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module, *self.arguments],
            cwd=ROOT,
            env={**os.environ, **self._environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any], seconds_max: float) -> Any:
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
        except BrokenPipeError as error:
            raise NoAnswer(self.module) from error
        return self.read(seconds_max)

    def read(self, seconds_max: float) -> Any:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds_max)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            raise NoAnswer(self.module)
        return json.loads(line)

    def end(self) -> None:
        """Let it end its servers. A process that waits for ever is killed."""
        if self.process is None:
            return
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process = None


@dataclass(slots=True)
class MutantProcesses:
    """Run one mutant at a time. The sources must not be changed meanwhile."""

    folder: Path
    files: Sequence[str]  # all test files of the sample
    _session: JsonProcess = field(init=False)
    _worker: JsonProcess = field(init=False)
    _reliable: set[str] = field(default_factory=set)  # tests that pass in a fork without a mutant

    def __post_init__(self) -> None:
        self._session = JsonProcess(
            "tests.mutation.session", self.folder / "session", [*self.files, ELSEWHERE]
        )
        self._worker = JsonProcess("tests.mutation.worker", self.folder / "worker")

    def run_in_session(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> str | None:
        """The test that notices the mutant, None, NOT_SWAPPABLE or SPOILT."""
        if self._session.process is None:
            self._session.start()
            self._session.read(SECONDS_TO_COLLECT)
        request = {"file": str(mutant.file), "source": mutant.source, "tests": list(tests)}
        try:
            result: str | None = self._session.ask(request, SECONDS_MIN + SLOWER_MAX * seconds)
        except NoAnswer:
            result = NO_END
        if result in (SPOILT, NO_END):
            self.end_session()
        return result

    def run_in_fork(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> str | None:
        """The test that notices the mutant in a process that starts with it, or None.

        A test that fails without the mutant too has noticed nothing and is left out.
        """
        remaining = list(tests)
        while remaining:
            with self._mutated(mutant):
                failed = self._ask_worker(remaining, seconds)
            if failed not in remaining or self._passes_alone(failed, seconds):
                return failed
            remaining.remove(failed)
        return None

    def _passes_alone(self, test: str, seconds: float) -> bool:
        if test not in self._reliable and self._ask_worker([test], seconds) is None:
            self._reliable.add(test)
        return test in self._reliable

    @contextmanager
    def _mutated(self, mutant: Mutant) -> Iterator[None]:
        file = mutant.file
        replacement = (str(file.relative_to(SOURCE)), (ROOT / file).read_text(), mutant.source)
        write_replacements([replacement], self._worker.folder)
        try:
            yield
        finally:
            write_replacements([], self._worker.folder)

    def _ask_worker(self, tests: Sequence[str], seconds: float) -> str | None:
        if self._worker.process is None:
            self._worker.start()
        seconds_max = SECONDS_MIN + SLOWER_MAX * seconds
        request = {"tests": list(tests), "seconds_max": seconds_max}
        failed: str | None = self._worker.ask(request, SECONDS_TO_COLLECT + seconds_max)
        return failed

    def end_session(self) -> None:
        self._session.end()
        stop_database_servers(self._session.folder)

    def end(self) -> None:
        self.end_session()
        self._worker.end()


@contextmanager
def mutant_processes(files: Sequence[str]) -> Iterator[MutantProcesses]:
    with tempfile.TemporaryDirectory(prefix="nimbill-mutants-") as folder:
        processes = MutantProcesses(Path(folder), files)
        try:
            yield processes
        finally:
            processes.end()
