"""An SMTP server on loopback, and the message jobs of a service."""

from __future__ import annotations

import asyncio
import email
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from functools import partial
from typing import Any

import sqlalchemy as sa
from aiosmtpd.smtp import SMTP

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import transaction
from nimbill.jobs.records import jobs
from nimbill.mail.delivery import SEND_MESSAGE
from tests.running_service import Service
from tests.temporary_database import execute_sql

WAIT_SECONDS_MAX = 60


@dataclass(frozen=True)
class ReceivedMessage:
    sender: str
    recipients: tuple[str, ...]
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        return parse_message(self.raw)


def parse_message(raw: bytes) -> EmailMessage:
    message = email.message_from_bytes(raw, policy=default)
    assert isinstance(message, EmailMessage)
    return message


@dataclass
class SmtpServer:
    port: int
    database: Address  # as superuser, to see every row
    messages: list[ReceivedMessage] = field(default_factory=list)
    refusals: list[str] = field(
        default_factory=list
    )  # replies that it gives before it accepts a message

    @contextmanager
    def open(self, service: Service, **options: Any) -> Iterator[None]:
        """Listen in the event loop of the service, so that connections close before it ends."""

        async def start() -> asyncio.Server:
            loop = asyncio.get_running_loop()
            protocol = partial(SMTP, self, loop=loop, hostname="localhost", **options)
            return await loop.create_server(protocol, "127.0.0.1", self.port)

        async def stop() -> None:
            server.close()
            await server.wait_closed()

        server = service.run(start)
        try:
            yield
        finally:
            service.run(stop)

    def delete_message_jobs(self) -> None:
        """Delete the message jobs of all organisations; wait for those that are running."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while execute_sql(self.database, f"SELECT 1 FROM {jobs.name} WHERE state = 'running'"):
            assert time.monotonic() < deadline, "a message job is still running"
            time.sleep(0.02)
        execute_sql(self.database, f"DELETE FROM {jobs.name} WHERE kind = $1", SEND_MESSAGE)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Accept a message; aiosmtpd prescribes the name."""
        if self.refusals:
            return self.refusals.pop(0)
        received = ReceivedMessage(envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content)
        self.messages.append(received)
        return "250 accepted"


def list_message_jobs(service: Service) -> list[Any]:
    """Return the message jobs of the organisation, oldest first."""
    organisation_id = service.organisation.organisation_id

    async def list_rows() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(jobs).where(jobs.c.kind == SEND_MESSAGE).order_by(jobs.c.create_time)
            return list((await db.execute(stmt)).all())

    return service.run(list_rows)


def wait_for_jobs(service: Service, condition: Callable[[list[Any]], bool]) -> list[Any]:
    """Return the message jobs as soon as they meet the condition."""
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition(rows := list_message_jobs(service)):
        assert time.monotonic() < deadline, [(row.state, row.attempts, row.reason) for row in rows]
        time.sleep(0.02)
    return rows


def all_sent(rows: list[Any]) -> bool:
    return bool(rows) and all(row.state == "done" for row in rows)


def retry_now(service: Service) -> None:
    """Make waiting message jobs due at once."""
    organisation_id = service.organisation.organisation_id

    async def set_due() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.update(jobs).where(jobs.c.kind == SEND_MESSAGE, jobs.c.state == "waiting")
            await db.execute(stmt.values(due=sa.func.now()))

    service.run(set_due)
