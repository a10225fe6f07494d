"""A failing seed step stops the demo, unless the demo is being stopped already."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from nimbill.demo import run
from nimbill.demo.api_client import DemoError
from nimbill.demo.monthly_data import last_months
from nimbill.demo.run import BackgroundSeeding

ADDRESS = "http://127.0.0.1:1"


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records the signals that the demo sends to itself instead of delivering them."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _pid, number: sent.append(number))
    return sent


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def start_seeding(*_: object) -> None:
        raise error

    monkeypatch.setattr(run, "DataSeeding", start_seeding)


def test_an_error_while_the_service_stops_is_ignored(
    tmp_path: Path, signals: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ConnectionRefusedError())
    seeding = BackgroundSeeding(tmp_path, {}, last_months(3))

    with seeding.stop_if_not_ready():
        thread = threading.Thread(target=seeding.run, args=[ADDRESS])
        thread.start()
    thread.join(timeout=60)

    assert not thread.is_alive()
    assert seeding.failure is None
    assert signals == []


@pytest.mark.parametrize("error", [ConnectionRefusedError("gone"), DemoError("gone")])
def test_an_error_while_the_service_runs_stops_the_demo(
    tmp_path: Path, signals: list[int], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    fail_with(monkeypatch, error)
    monkeypatch.setattr("nimbill.application.server.STOP_SECONDS", 0)
    seeding = BackgroundSeeding(tmp_path, {}, last_months(3))

    with seeding.stop_if_not_ready():
        seeding.run(ADDRESS)

    assert seeding.failure is not None
    assert "gone" in str(seeding.failure)
    assert signals == [signal.SIGTERM]
