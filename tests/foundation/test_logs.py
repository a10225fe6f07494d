"""Log lines: JSON with the location of an error, without values that callers sent."""

from __future__ import annotations

import errno
import json
import logging
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog

from nimbill.foundation.logs import JsonLineFormatter, configure_logs


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    config, output = structlog.get_config(), StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", output)
        configure_logs()
    yield lambda: [json.loads(line) for line in output.getvalue().splitlines()]
    structlog.configure(**config)


def fail_with(canary: str) -> None:
    raise ValueError(f"cannot read {canary}")


def fail_with_cause(canary: str) -> None:
    try:
        fail_with(canary)
    except ValueError as error:
        raise RuntimeError(f"failed because of {canary}") from error


def test_a_line_is_one_json_object_with_level_and_time(lines: Any) -> None:
    structlog.get_logger().info("request", status=200, name="名\nfake line")

    (line,) = lines()

    assert line["event"] == "request"
    assert line["level"] == "info"
    assert line["name"] == "名\nfake line"
    assert line["at"].endswith("Z")


def test_an_exception_is_logged_by_type_and_location_without_its_message(lines: Any) -> None:
    try:
        fail_with_cause("canary-value")
    except RuntimeError as error:
        structlog.get_logger().error("unexpected", exc_info=error)

    (line,) = lines()

    assert line["error"] == "RuntimeError"
    assert line["cause"] == "ValueError"
    assert any("fail_with_cause" in location for location in line["where"])
    assert "canary" not in json.dumps(line)


def test_an_exception_without_a_cause_has_no_cause_field(lines: Any) -> None:
    structlog.get_logger().error("unexpected", exc_info=ValueError("canary"))

    (line,) = lines()

    assert line["error"] == "ValueError"
    assert "cause" not in line
    assert "canary" not in json.dumps(line)


def test_a_deep_traceback_is_cut_to_its_last_frames(lines: Any) -> None:
    def recurse(depth: int) -> None:
        if depth == 0:
            fail_with("canary")
        recurse(depth - 1)

    try:
        recurse(50)
    except ValueError as error:
        structlog.get_logger().error("unexpected", exc_info=error)

    (line,) = lines()

    assert len(line["where"]) == 8
    assert "fail_with" in line["where"][-1]


def test_lone_surrogates_and_nul_do_not_break_a_line(lines: Any) -> None:
    structlog.get_logger().info("odd", text="\ud800\0")

    (line,) = lines()

    assert line["event"] == "odd"


def test_log_records_of_the_http_server_have_the_same_format() -> None:
    try:
        fail_with("canary-value")
    except ValueError:
        record = logging.LogRecord(
            "_granian", logging.ERROR, __file__, 1, "worker %s failed", ("1",), sys.exc_info()
        )

    line = json.loads(JsonLineFormatter().format(record))

    assert (line["event"], line["level"], line["error"]) == (
        "worker 1 failed",
        "error",
        "ValueError",
    )
    assert line["at"].endswith("Z")
    assert "canary" not in json.dumps(line)


def test_a_line_that_cannot_be_written_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    class FullDisk(StringIO):
        def write(self, _text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    config = structlog.get_config()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", FullDisk())
        configure_logs()
    try:
        structlog.get_logger().error("event")
    finally:
        structlog.configure(**config)
