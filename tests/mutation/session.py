"""Runs chosen tests for one mutant after the other in one session of pytest.

The service, its database and all imports are shared by the mutants, so a mutant costs no more than
its tests. A test that notices a fault is run again without it: if it fails then too, the session
is spoilt, and the mutant must be run in a process of its own (worker.py).
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import Phase, settings

from tests.fault_injection.replacements import write_replacements
from tests.fault_injection.startup.sitecustomize import VARIABLE
from tests.mutation.areas import SOURCE
from tests.mutation.swapped_code import NotSwappable, swapped_code

FOLDER = Path(os.environ.get(VARIABLE, "")).parent  # of the replacement and of temporary files
NOT_SWAPPABLE, SPOILT = "not swappable", "spoilt"


class MutantLoop:
    """Answers requests, one JSON text per line, instead of running all collected tests."""

    def __init__(self, requests: TextIO, results: TextIO) -> None:
        self._requests = requests
        self._results = results
        self._failed: list[str] = []

    def pytest_sessionstart(self) -> None:
        """A failing property need not be shrunk to its smallest example."""
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("any machine"), phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # a fault is put into functions that the garbage collector knows
        items = {item.nodeid: item for item in session.items}
        self._answer("ready")
        for line in self._requests:
            request = json.loads(line)
            tests = [items[test] for test in request["tests"] if test in items]
            self._answer(self._run(Path(request["file"]), request["source"], tests))
        return True

    def _answer(self, result: str | None) -> None:
        self._results.write(json.dumps(result) + "\n")
        self._results.flush()

    def _run(self, file: Path, mutated: str, tests: Sequence[pytest.Item]) -> str | None:
        """The test that notices the fault, or None; processes of tests start with it."""
        original = file.read_text()
        try:
            with swapped_code(str(file.resolve()), original, mutated):
                write_replacements([(str(file.relative_to(SOURCE)), original, mutated)], FOLDER)
                failed = self._first_failure(tests)
        except NotSwappable:
            return NOT_SWAPPABLE
        finally:
            write_replacements([], FOLDER)
        if failed is None:
            return None
        return SPOILT if self._first_failure([failed]) else failed.nodeid

    def _first_failure(self, tests: Sequence[pytest.Item]) -> pytest.Item | None:
        self._failed.clear()
        for number, test in enumerate(tests):
            following = tests[number + 1] if number + 1 < len(tests) else self._elsewhere(test)
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if self._failed:
                self._tear_down(test)
                return test
        return None

    def _elsewhere(self, test: pytest.Item) -> pytest.Item:
        """A test of another folder: fixtures of the file end before it, those of the run do not."""
        return next(
            item for item in test.session.items if item.path.parent not in test.path.parents
        )

    def _tear_down(self, test: pytest.Item) -> None:
        """End the fixtures of the file; they may fail because of the fault."""
        with contextlib.suppress(Exception):
            test.session._setupstate.teardown_exact(self._elsewhere(test))


def main(files: Sequence[str]) -> None:
    requests, results = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(null, descriptor)
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={FOLDER / 'temporary'}"]
    # The plugin of Hypothesis is imported already, so its assertions are not rewritten.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    pytest.main([*options, *files], plugins=[MutantLoop(requests, results)])


if __name__ == "__main__":
    main(sys.argv[1:])
