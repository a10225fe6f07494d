"""What tests of letters share."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from nimbill.access import passwords
from nimbill.database.embedded_postgres import Address
from tests.mail.post_office import PostOffice
from tests.own_database import own_database
from tests.running_service import Service, running_service


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a hash must cost is tested where it is made."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)


@pytest.fixture(scope="module")
def posting(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, PostOffice]]:
    """A service that was told of a mail server, which is closed at first."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with (
        own_database(postgres, superuser) as address,
        running_service(
            address.url,
            tmp_path_factory.mktemp("posting"),
            NIMBILL_SMTP_URL=f"smtp://127.0.0.1:{port}",
            NIMBILL_MAIL_FROM="請求 Nimbill <billing@mail.example.com>",
        ) as service,
    ):
        yield service, PostOffice(port, replace(superuser, database=address.database))


@pytest.fixture
def mailing(posting: tuple[Service, PostOffice]) -> Service:
    """The same, with an organisation of the test's own."""
    service, _ = posting
    service.organisation = service.new_organisation()
    return service


@pytest.fixture
def post_office(posting: tuple[Service, PostOffice]) -> PostOffice:
    _, office = posting
    office.letters.clear()
    office.refusals.clear()
    return office
