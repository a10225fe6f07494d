"""Runs chosen tests in forks of a process that has imported the libraries, but not the project.

A fork reads the sources with the replacement of that moment. Importing the libraries takes longer
than most of the tests; this process does it once. It reads requests and writes results, one JSON
text per line.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import pytest

from tests.fault_injection.startup.sitecustomize import VARIABLE
from tests.mutation.tests_of_lines import function_of

OWN_PACKAGES = ("nimbill", "tests")
FOLDER = Path(os.environ.get(VARIABLE, "")).parent  # of the replacement
TEMPORARY, RESULT = FOLDER / "temporary", FOLDER / "result.json"
SECONDS_TO_STOP = 20
# Outcomes without the name of a test; all of them mean that the fault was noticed.
NO_END, PROCESS_ENDED, AT_IMPORT = "tests that did not end", "a process that ended", "an import"


class ChosenOnly:
    """Runs these tests in this order and stops at the first that fails."""

    def __init__(self, tests: list[str]) -> None:
        self._order = {test: number for number, test in enumerate(tests)}
        self.failed: str | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A fault may change parameters, and with them the names of tests."""
        missing = self._order.keys() - {item.nodeid for item in items}
        renamed = {function_of(test): self._order[test] for test in missing}
        order = {
            item: self._order.get(item.nodeid, renamed.get(function_of(item.nodeid)))
            for item in items
        }
        chosen = {item: number for item, number in order.items() if number is not None}
        items[:] = sorted(chosen, key=lambda item: chosen[item])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid


def main() -> None:
    _import_libraries()
    for line in sys.stdin:
        request = json.loads(line)
        failed = run_in_fork(request["tests"], request["seconds_max"])
        print(json.dumps(failed), flush=True)


def run_in_fork(tests: list[str], seconds_max: float) -> str | None:
    """The first test that fails, if one does."""
    RESULT.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        _run_tests(tests)
    if not _wait(process, seconds_max):
        _stop(process)
        return NO_END
    return json.loads(RESULT.read_text())["failed"] if RESULT.exists() else PROCESS_ENDED


def _run_tests(tests: list[str]) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    try:
        RESULT.write_text(json.dumps({"failed": find_failing_test(tests)}))
    finally:
        os._exit(0)


def find_failing_test(tests: list[str]) -> str | None:
    chosen = ChosenOnly(tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={TEMPORARY}"]
    # Plugins of libraries are imported already, so their assertions are not rewritten.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-x"]
    code = pytest.main([*options, *files], plugins=[chosen])
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return None
    return chosen.failed or AT_IMPORT


def _wait(process: int, seconds_max: float) -> bool:
    """Whether the process has ended in time."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        if os.waitpid(process, os.WNOHANG) != (0, 0):
            return True
        time.sleep(0.05)
    return False


def _stop(process: int) -> None:
    """Let the tests end their servers; then end what is left."""
    os.kill(process, signal.SIGINT)
    if not _wait(process, SECONDS_TO_STOP):
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
    stop_database_servers(TEMPORARY)


def stop_database_servers(folder: Path) -> None:
    """Those of tests that were killed."""
    for file in folder.rglob("postmaster.pid"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(file.read_text().split()[0]), signal.SIGQUIT)


def _import_libraries() -> None:
    """Import what a fork imports with the fixtures of all tests, except the project itself."""
    process = os.fork()
    if process == 0:
        import_module("tests.conftest")
        RESULT.write_text(json.dumps(list(sys.modules)))
        os._exit(0)
    os.waitpid(process, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in json.loads(RESULT.read_text()):
            if name.partition(".")[0] not in OWN_PACKAGES:
                with contextlib.suppress(ImportError):
                    import_module(name)


if __name__ == "__main__":
    main()
