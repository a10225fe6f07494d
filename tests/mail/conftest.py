"""A service with its own mail server for the tests of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nimbill.database.embedded_postgres import Address
from tests.mail.smtp_server import SmtpServer
from tests.proof.real_server import free_port
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service, running_service
from tests.temporary_database import temporary_database

__all__ = ["use_quick_hashes"]  # autouse fixtures


@pytest.fixture(scope="module")
def mail_service_and_server(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, SmtpServer]]:
    """A service configured with an SMTP server that does not listen yet."""
    port = free_port()
    with (
        temporary_database(postgres, superuser) as address,
        running_service(
            address.url,
            tmp_path_factory.mktemp("mail"),
            NIMBILL_SMTP_URL=f"smtp://127.0.0.1:{port}",
            NIMBILL_MAIL_FROM="請求 Nimbill <billing@mail.example.com>",
        ) as service,
    ):
        yield service, SmtpServer(port, replace(superuser, database=address.database))


@pytest.fixture
def mail_service(mail_service_and_server: tuple[Service, SmtpServer]) -> Service:
    """The service with a new organisation."""
    service, _ = mail_service_and_server
    service.organisation = service.new_organisation()
    return service


@pytest.fixture
def smtp_server(mail_service_and_server: tuple[Service, SmtpServer]) -> SmtpServer:
    """The SMTP server, without messages of earlier tests."""
    _, server = mail_service_and_server
    server.delete_message_jobs()
    server.messages.clear()
    server.refusals.clear()
    return server
