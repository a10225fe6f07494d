"""Structured logs: one JSON object per line, without values that callers sent."""

import json
import logging
import sys
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _strip_exception_message(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Log only the type and location of an exception: its message may contain caller data."""
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        event["where"] = [
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(error.__traceback__)[-8:]
        ]
        cause = error.__cause__ or error.__context__
        if cause is not None:
            event["cause"] = type(cause).__name__
    return event


class JsonLineFormatter(logging.Formatter):
    """Formats the HTTP server's log records like our own log lines."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "event": record.getMessage(),
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
