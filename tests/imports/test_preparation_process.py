"""The process of an import: what its parent makes of its messages, its output and its end."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from nimbill.foundation.settings import read_settings
from nimbill.imports.import_failure import PreparationFailed
from nimbill.imports.preparation import ImportRequest, PreparedImport
from nimbill.imports.preparation_process import (
    LOGGED_CHARACTERS_MAX,
    MESSAGE_BYTES_MAX,
    _communicate,
    _report_failure,
    run_preparation,
)

REQUEST = ImportRequest(
    organisation_id="org_1",
    import_id="imp_1",
    vendor="aws",
    month=None,
    sources=["a.csv"],
    roots=None,
    folder="",
    known_deliveries={},
)
PREPARED = {"prepared": asdict(PreparedImport(month="2026-09", lines=7))}


async def accept_input() -> None:
    pass


async def refuse_input() -> None:
    raise BrokenPipeError


def communicate(
    *messages: dict[str, Any],
    exit_code: int = 0,
    drain: Callable[[], Awaitable[None]] = accept_input,
) -> tuple[PreparedImport, list[Any]]:
    """With a process that writes these messages; returns the result and the reported progress."""
    reported: list[Any] = []

    async def lines() -> AsyncIterator[bytes]:
        for message in messages:
            yield json.dumps(message).encode() + b"\n"

    async def read() -> bytes:
        return b"warning\nlast words"

    async def done(*_: Any) -> int:
        return exit_code

    async def report(progress: Any) -> None:
        reported.append(progress)

    pipe = SimpleNamespace(write=lambda _: None, drain=drain, close=lambda: None)
    errors = SimpleNamespace(read=read)
    process = SimpleNamespace(stdin=pipe, stdout=lines(), stderr=errors, wait=done)
    return asyncio.run(_communicate(cast(Any, process), REQUEST, report)), reported


def test_progress_is_reported_and_the_result_returned() -> None:
    prepared, reported = communicate({"progress": {"step": "fetching"}}, PREPARED)

    assert (prepared.month, prepared.lines) == ("2026-09", 7)
    assert reported == [{"step": "fetching"}]


@pytest.mark.parametrize(
    ("messages", "exit_code"),
    [
        pytest.param([PREPARED], 1, id="failed after its result"),
        pytest.param([], 0, id="no result"),
        pytest.param([], -9, id="killed"),
    ],
)
def test_a_process_needs_a_result_and_a_good_end(
    messages: list[dict[str, Any]], exit_code: int
) -> None:
    with pytest.raises(PreparationFailed):
        communicate(*messages, exit_code=exit_code)


def test_a_process_that_ended_before_it_read_the_request_is_reported_with_its_signal() -> None:
    with pytest.raises(PreparationFailed) as failed:
        communicate(exit_code=-9, drain=refuse_input)

    assert "SIGKILL" in str(failed.value.cause)


def test_a_request_that_its_process_did_not_read_leaves_no_error_to_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logged: list[Any] = []
    program = tmp_path / "ends-at-once"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    settings = read_settings({"NIMBILL_DATA": str(tmp_path)})
    request = replace(REQUEST, sources=["a" * 10_000_000])

    async def ignore_progress(_: Any) -> None: ...

    async def fail() -> None:
        with pytest.raises(PreparationFailed):
            await run_preparation(settings, request, ignore_progress)

    async def prepare() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))
        await fail()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(prepare())

    assert logged == []


def test_the_end_of_the_last_line_of_its_errors_is_logged() -> None:
    output = "Traceback\n" + "x" * 50 + "y" * 300 + "\n"

    with capture_logs() as logged:
        failure = _report_failure(1, None, output)

    assert failure.cause is None
    assert [line["error_output"] for line in logged if "error_output" in line] == ["y" * 300]
    assert LOGGED_CHARACTERS_MAX == 300


def test_a_message_may_have_64_mebibytes() -> None:
    assert MESSAGE_BYTES_MAX == 64 * 1024 * 1024
