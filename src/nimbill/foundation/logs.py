"""Structured logs, one JSON object a line, without what callers sent."""

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
            _where_not_what,
            structlog.processors.JSONRenderer(ensure_ascii=True),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _where_not_what(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """An exception by its type and place: its message may hold a value somebody sent."""
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


class OneLine(logging.Formatter):
    """What the HTTP server has to say, in the shape of our own lines."""

    def format(self, record: logging.LogRecord) -> str:
        event: dict[str, Any] = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "at": clock.written(datetime.fromtimestamp(record.created, UTC)),
            "exc_info": record.exc_info[1] if record.exc_info else None,
        }
        return json.dumps(_where_not_what(None, "", event))


# For the HTTP server: its words on standard error, beside ours.
SERVER_LOGS: dict[str, Any] = {
    "formatters": {"one_line": {"()": OneLine}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "one_line",
            "stream": "ext://sys.stderr",
        }
    },
    "loggers": {"_granian": {"handlers": ["console"], "propagate": False}},
}
