"""Structured logs: one JSON object per line, without values that callers sent."""

import json
import logging
import sys
import traceback
from collections.abc import MutableMapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TextIO

import structlog

from nimbill.foundation import clock


def configure_logs() -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            _strip_exception_message,
            structlog.processors.JSONRenderer(ensure_ascii=True),
        ],
        logger_factory=partial(_build_logger, sys.stderr),
        cache_logger_on_first_use=False,
    )


class LineLogger(structlog.PrintLogger):
    """Drops a line that cannot be written, as on a full disk: what is logged must go on."""

    def msg(self, message: str) -> None:
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = msg
    fatal = failure = err = error = critical = exception = msg


def _build_logger(stream: TextIO, *_: object) -> LineLogger:
    return LineLogger(stream)


def configure_library_logs() -> None:
    """Log warnings of libraries in the same format, unless the process has handlers already.

    Without a handler Python prints them with tracebacks.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLineFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def describe_exception(error: BaseException) -> dict[str, Any]:
    """The type, location and cause of an exception, without its message and its variables."""
    event: dict[str, Any] = {
        "error": type(error).__name__,
        "where": [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)[-8:]
        ],
    }
    cause = error.__cause__ or error.__context__
    if cause is not None:
        event["cause"] = type(cause).__name__
    return event


def _strip_exception_message(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Log only the type and location of an exception: its message may contain caller data."""
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        event.update(describe_exception(error))
    return event


class JsonLineFormatter(logging.Formatter):
    """Formats log records of the HTTP server and of libraries like our own log lines."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        event: dict[str, Any] = {
            # asyncio describes the failed task, with the message of its error, in further lines
            "event": message.partition("\n")[0] if record.exc_info else message,
            "level": record.levelname.lower(),
            "at": clock.format_timestamp(datetime.fromtimestamp(record.created, UTC)),
            "exc_info": record.exc_info[1] if record.exc_info else None,
        }
        return json.dumps(_strip_exception_message(None, "", event))


# Logging configuration of the HTTP server.
SERVER_LOG_CONFIG: dict[str, Any] = {
    "formatters": {"one_line": {"()": JsonLineFormatter}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "one_line",
            "stream": "ext://sys.stderr",
        }
    },
    "loggers": {"_granian": {"handlers": ["console"], "propagate": False}},
}
