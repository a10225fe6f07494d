"""Records which tests execute which lines of the mutated files, as a plugin of pytest.

A test file is recorded as soon as its last test has ended, so an interrupted recording continues
where it stopped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

from tests.mutation.executed_lines import (
    Lines,
    RecordedFile,
    RecordedTest,
    append_record,
    digest_of,
)

RECORD_VARIABLE = "MUTANTS_RECORD"  # the file to which the plugin appends
SOURCES_VARIABLE = "MUTANTS_SOURCES"  # the mutated files, separated by colons
SET_UP = " (set-up)"  # ends the context of what the fixtures of one test execute
SERVICE_FIXTURES = {"running", "postgres"}


def pytest_configure(config: pytest.Config) -> None:
    record, sources = os.environ[RECORD_VARIABLE], os.environ[SOURCES_VARIABLE]
    config.pluginmanager.register(Recorder(config.rootpath, Path(record), sources.split(":")))


class Recorder:
    def __init__(self, root: Path, record: Path, sources: list[str]) -> None:
        self._root = root
        self._record = record
        self._sources = sources
        self._tests: dict[str, dict[str, RecordedTest]] = {}  # by file
        # The service runs in a thread of its own, and database calls in greenlets.
        self._coverage = coverage.Coverage(
            data_file=None,
            config_file=False,
            include=[str(root / source) for source in sources],
            concurrency=["thread", "greenlet"],
        )
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])

    def pytest_sessionstart(self) -> None:
        self._coverage.start()

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Iterator[None]:
        try:
            return (yield)
        finally:
            self._coverage.switch_context("")
            if nextitem is None or _file_of(nextitem.nodeid) != _file_of(item.nodeid):
                self._write(_file_of(item.nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid + SET_UP)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """What a shared fixture executes belongs to all tests of the file, or to none."""
        if fixturedef.scope == "function":
            return (yield)
        is_of_file = fixturedef.scope in ("module", "class")
        self._coverage.switch_context(_file_of(request.node.nodeid) if is_of_file else "")
        try:
            return (yield)
        finally:
            test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]
            self._coverage.switch_context(test + SET_UP)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        fixtures = set(getattr(item, "fixturenames", ()))
        self._tests.setdefault(_file_of(item.nodeid), {})[item.nodeid] = RecordedTest(
            seconds=0, passed=False, needs_service=bool(fixtures & SERVICE_FIXTURES)
        )
        self._coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            test = self._tests[_file_of(report.nodeid)][report.nodeid]
            test.seconds = round(report.duration, 3)
            test.passed = report.outcome == "passed"

    def _write(self, file: str) -> None:
        """A file whose tests are run in two parts is written twice; the second is complete."""
        data = self._coverage.get_data()
        data.set_query_contexts([f"^{re.escape(file)}(::|$)"])
        tests, shared, executed = self._tests.get(file, {}), Lines(), {file}
        for test in tests.values():
            test.lines, test.set_up_lines = {}, {}
        for source in self._sources:
            for line, contexts in data.contexts_by_lineno(str(self._root / source)).items():
                for context in filter(None, contexts):
                    executed.add(source)
                    _lines_of(context, tests, shared).setdefault(source, []).append(line)
        digests = {path: digest_of(self._root / path) for path in sorted(executed)}
        append_record(self._record, RecordedFile(file, digests, tests, shared))


def _lines_of(context: str, tests: dict[str, RecordedTest], shared: Lines) -> Lines:
    """Tests that were skipped have no entry."""
    test = context.removesuffix(SET_UP)
    if "::" not in context:
        return shared
    if test not in tests:
        return Lines()
    return tests[test].set_up_lines if context.endswith(SET_UP) else tests[test].lines


def _file_of(node: str) -> str:
    return node.partition("::")[0]
