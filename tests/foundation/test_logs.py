"""Log lines are JSON and say where a thing went wrong, never with which value."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
import structlog

from nimbill.foundation.logs import OneLine, configure_logs


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    before, written = structlog.get_config(), StringIO()
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "stderr", written)
        configure_logs()
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    structlog.configure(**before)


def fail_with(canary: str) -> None:
    raise ValueError(f"cannot read {canary}")


def fail_because_of(canary: str) -> None:
    try:
        fail_with(canary)
    except ValueError as error:
        raise RuntimeError(f"no way with {canary}") from error


def test_a_line_is_one_json_object_with_level_and_time(lines: Any) -> None:
    structlog.get_logger().info("request", status=200, name="名\nfake line")

    (line,) = lines()

    assert line["event"] == "request"
    assert line["level"] == "info"
    assert line["name"] == "名\nfake line"
    assert line["at"].endswith("Z")


def test_an_exception_is_logged_by_type_and_place_without_its_message(lines: Any) -> None:
    try:
        fail_because_of("canary-value")
    except RuntimeError as error:
        structlog.get_logger().error("unexpected", exc_info=error)

    (line,) = lines()

    assert line["error"] == "RuntimeError"
    assert line["cause"] == "ValueError"
    assert any("fail_because_of" in place for place in line["where"])
    assert "canary" not in json.dumps(line)


def test_an_exception_without_a_cause_names_none(lines: Any) -> None:
    structlog.get_logger().error("unexpected", exc_info=ValueError("canary"))

    (line,) = lines()

    assert line["error"] == "ValueError"
    assert "cause" not in line
    assert "canary" not in json.dumps(line)


def test_a_long_way_down_is_cut_to_its_last_steps(lines: Any) -> None:
    def down(steps: int) -> None:
        if steps == 0:
            fail_with("canary")
        down(steps - 1)

    try:
        down(50)
    except ValueError as error:
        structlog.get_logger().error("unexpected", exc_info=error)

    (line,) = lines()

    assert len(line["where"]) == 8
    assert "fail_with" in line["where"][-1]


def test_text_that_is_no_unicode_breaks_no_line(lines: Any) -> None:
    structlog.get_logger().info("odd", text="\ud800\0")

    (line,) = lines()

    assert line["event"] == "odd"


def test_what_the_http_server_says_has_the_same_shape() -> None:
    try:
        fail_with("canary-value")
    except ValueError:
        record = logging.LogRecord(
            "_granian", logging.ERROR, __file__, 1, "worker %s failed", ("1",), sys.exc_info()
        )

    line = json.loads(OneLine().format(record))

    assert (line["event"], line["level"], line["error"]) == (
        "worker 1 failed",
        "error",
        "ValueError",
    )
    assert line["at"].endswith("Z")
    assert "canary" not in json.dumps(line)
