"""Mails that a service has written to the outbox folder of an organisation."""

from __future__ import annotations

import re
import time
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

WAIT_SECONDS_MAX = 60


def read_outbox(
    data: Path, organisation_id: str, *, count: int = 1, to: str | None = None
) -> list[EmailMessage]:
    """Wait until there are this many mails, to this address or to all; the oldest comes first."""
    folder, end = data / "outbox" / organisation_id, time.monotonic() + WAIT_SECONDS_MAX
    while len(messages := _read_messages(folder, to)) < count:
        assert time.monotonic() < end, f"{len(messages)} of {count} mails"
        time.sleep(0.02)
    return messages


def _read_messages(folder: Path, to: str | None) -> list[EmailMessage]:
    files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns)
    messages = [message_from_bytes(file.read_bytes(), policy=default) for file in files]
    return [message for message in messages if to in (None, message["To"])]


def find_link(message: EmailMessage) -> str:
    """The link with which the reader chooses a password."""
    found = re.search(r"\S+/choose-password#\S+", message.get_content())
    assert found is not None, message.get_content()
    return found[0]


def read_link(message: EmailMessage) -> dict[str, str]:
    """Organisation and token of that link."""
    return dict(parse_qsl(urlsplit(find_link(message)).fragment))
