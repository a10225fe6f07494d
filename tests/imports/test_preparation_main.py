"""What the process of an import does before, during and after the preparation."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from nimbill.imports import preparation
from nimbill.imports.preparation import ImportRequest, OnProgress, PreparedImport
from tests.imports.test_preparation_process import REQUEST

Prepare = Callable[[ImportRequest, OnProgress, Any], PreparedImport]


class Process:
    """Runs `main` in the test process, without its effects on the whole process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ignored: set[int] = set()
        self.pandas_blocked = False
        self.now = 100.0
        self.output = io.StringIO()
        self._patch = monkeypatch
        monkeypatch.setattr(preparation, "watch_parent", lambda _: None)
        monkeypatch.setattr(preparation, "make_files_private", lambda: None)
        monkeypatch.setattr(preparation, "_start_watch", preparation._no_watch)
        monkeypatch.setattr(preparation, "block_pandas", self._block_pandas)
        monkeypatch.setattr(preparation, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(os, "nice", lambda _: 0)
        monkeypatch.setattr(signal, "signal", self._set_signal)

    def _block_pandas(self) -> None:
        self.pandas_blocked = True

    def _set_signal(self, number: int, handler: Any) -> None:
        assert handler == signal.SIG_IGN
        self.ignored.add(number)

    def run(self, prepare: Prepare, engine: str = "duckdb") -> list[dict[str, Any]]:
        self._patch.setattr(preparation, "prepare_import", prepare)
        self._patch.setattr(preparation, "read_settings", lambda: SimpleNamespace(engine=engine))
        self._patch.setattr(sys, "stdin", io.StringIO(json.dumps(asdict(REQUEST)) + "\n"))
        self._patch.setattr(sys, "stdout", self.output)
        preparation.main()
        return self.messages

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.output.getvalue().splitlines()]


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    return Process(monkeypatch)


def prepare(request: ImportRequest, _on_progress: OnProgress, _watch: Any) -> PreparedImport:
    assert request == REQUEST
    return PreparedImport(month="2026-09", lines=7)


def test_the_result_is_written_and_signals_to_all_processes_are_ignored(process: Process) -> None:
    assert process.run(prepare) == [{"prepared": asdict(PreparedImport(month="2026-09", lines=7))}]
    assert process.ignored == {signal.SIGINT, signal.SIGTERM}


@pytest.mark.parametrize(("engine", "blocked"), [("duckdb", True), ("spark", False)])
def test_only_duckdb_does_without_pandas(process: Process, engine: str, *, blocked: bool) -> None:
    process.run(prepare, engine)

    assert process.pandas_blocked is blocked


def test_progress_is_written_at_most_four_times_a_second(process: Process) -> None:
    def prepare_slowly(
        _request: ImportRequest, on_progress: OnProgress, _watch: Any
    ) -> PreparedImport:
        for process.now in (100.0, 100.125, 100.25, 100.375, 100.75):
            on_progress({"at": process.now})
        return PreparedImport()

    messages = process.run(prepare_slowly)

    assert [each["progress"]["at"] for each in messages[:-1]] == [100.0, 100.375, 100.75]


def test_an_error_is_written_and_ends_the_process_with_1(process: Process) -> None:
    def fail(*_: Any) -> PreparedImport:
        raise OSError(28, "No space left on device")

    with pytest.raises(SystemExit) as ended:
        process.run(fail)

    assert ended.value.code == 1
    (message,) = process.messages
    assert "location" in message["failed"]
    assert "prepared" not in message
