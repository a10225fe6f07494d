"""A service that may send webhooks to this machine, and a server that receives them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.foundation import clock
from tests.running_service import Service, running_service
from tests.temporary_database import temporary_database
from tests.webhooks.receiver import Receiver, running_receiver


@pytest.fixture(scope="session")
def running_sender(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    data: Path = tmp_path_factory.mktemp("webhooks")
    with (
        temporary_database(postgres, superuser) as address,
        running_service(address.url, data, NIMBILL_WEBHOOK_NETWORKS="127.0.0.0/8") as service,
    ):
        yield service


@pytest.fixture
def sender(running_sender: Service) -> Service:
    """The service with a new organisation."""
    running_sender.organisation = running_sender.new_organisation()
    return running_sender


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as receiver:
        yield receiver


class ShiftedClock:
    """A clock that runs, ahead of time."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self._now = clock.now

    def now(self) -> datetime:
        return self._now() + self.ahead

    def advance(self, by: timedelta) -> None:
        self.ahead += by


@pytest.fixture
def shifted_clock(monkeypatch: pytest.MonkeyPatch) -> ShiftedClock:
    shifted = ShiftedClock()
    monkeypatch.setattr(clock, "now", shifted.now)
    return shifted
