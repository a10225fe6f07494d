"""A story that breaks off: a failure, unless the demo was being stopped at that moment."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from nimbill.demo import running
from nimbill.demo.calling import DemoError
from nimbill.demo.running import Story
from nimbill.demo.story_months import last_months

ADDRESS = "http://127.0.0.1:1"


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Those sent to ourselves, which are not."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _pid, number: sent.append(number))
    return sent


def broken_by(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def telling(*_: object) -> None:
        raise error

    monkeypatch.setattr(running, "Telling", telling)


def test_a_service_that_is_gone_because_it_was_stopped_is_no_failure(
    tmp_path: Path, signals: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_by(monkeypatch, ConnectionRefusedError())
    story = Story(tmp_path, {}, last_months(3))

    with story.told_in_time():
        thread = threading.Thread(target=story.tell, args=[ADDRESS])
        thread.start()
    thread.join(timeout=10)

    assert not thread.is_alive()
    assert story.failure is None
    assert signals == []


@pytest.mark.parametrize("error", [ConnectionRefusedError("gone"), DemoError("gone")])
def test_a_story_that_breaks_off_by_itself_ends_the_demo(
    tmp_path: Path, signals: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    broken_by(monkeypatch, error)
    monkeypatch.setattr("nimbill.application.server.STOP_SECONDS", 0)
    story = Story(tmp_path, {}, last_months(3))

    with story.told_in_time():
        story.tell(ADDRESS)

    assert story.failure is not None
    assert "gone" in str(story.failure)
    assert signals == [signal.SIGTERM]
