"""The watch over the embedded PostgreSQL: restart it, or stop the server with a reason."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from nimbill.application import database_watch
from nimbill.application.database_watch import RESTARTS_MAX, DatabaseWatch
from nimbill.database.embedded_postgres import EmbeddedPostgresError


@pytest.fixture
def stops() -> list[str]:
    return []


def test_a_living_database_is_left_alone(stops: list[str]) -> None:
    watch = DatabaseWatch(lambda: False, lambda: stops.append("stopped"))

    for _ in range(100):
        watch.check()

    assert (watch.failure, stops) == (None, [])


def test_a_failed_restart_stops_the_server_with_the_reason(stops: list[str]) -> None:
    def restart() -> bool:
        raise EmbeddedPostgresError("The disk is full.")

    watch = DatabaseWatch(restart, lambda: stops.append("stopped"))
    watch.check()

    assert "cannot be started again: The disk is full." in str(watch.failure)
    assert stops == ["stopped"]


def test_a_database_that_dies_again_and_again_stops_the_server(stops: list[str]) -> None:
    watch = DatabaseWatch(lambda: True, lambda: stops.append("stopped"))

    for _ in range(RESTARTS_MAX):
        watch.check()
    assert watch.failure is None
    watch.check()

    assert "died more than 5 times within 10 minutes" in str(watch.failure)
    assert stops == ["stopped"]


def test_rare_restarts_do_not_stop_the_server(
    stops: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(0, 100_000, database_watch.RESTART_WINDOW_SECONDS // RESTARTS_MAX + 1))
    monkeypatch.setattr(database_watch, "time", SimpleNamespace(monotonic=lambda: next(times)))
    watch = DatabaseWatch(lambda: True, lambda: stops.append("stopped"))

    for _ in range(4 * RESTARTS_MAX):
        watch.check()

    assert (watch.failure, stops) == (None, [])
