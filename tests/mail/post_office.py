"""A mail server on this machine, and what stands in the work table of those who write to it."""

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
from tests.running_service import Service

WAITED_SECONDS_MAX = 60  # a watchdog, not a measure of speed


@dataclass(frozen=True)
class Received:
    sender: str
    recipients: tuple[str, ...]
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        return read(self.raw)


def read(raw: bytes) -> EmailMessage:
    message = email.message_from_bytes(raw, policy=default)
    assert isinstance(message, EmailMessage)
    return message


@dataclass
class PostOffice:
    port: int
    database: Address  # as one who sees every row
    letters: list[Received] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)  # answers given before it takes a letter

    @contextmanager
    def open(self, service: Service, **facts: Any) -> Iterator[None]:
        """In the loop of the service, so that whatever is closed has the time to be."""

        async def start() -> asyncio.Server:
            loop = asyncio.get_running_loop()
            protocol = partial(SMTP, self, loop=loop, hostname="localhost", **facts)
            return await loop.create_server(protocol, "127.0.0.1", self.port)

        async def stop() -> None:
            server.close()
            await server.wait_closed()

        server = service.run(start)
        try:
            yield
        finally:
            service.run(stop)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """The name is the library's."""
        if self.refusals:
            return self.refusals.pop(0)
        received = Received(envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content)
        self.letters.append(received)
        return "250 taken"


def letters_of(service: Service) -> list[Any]:
    """The rows of the work table that are letters of this organisation, oldest first."""
    organisation_id = service.organisation.organisation_id

    async def ask() -> list[Any]:
        async with transaction(service.resources.engine, organisation_id) as db:
            question = sa.select(jobs).where(jobs.c.kind == "send_letter")
            return list((await db.execute(question.order_by(jobs.c.create_time))).all())

    return service.run(ask)


def until(service: Service, holds: Callable[[list[Any]], bool]) -> list[Any]:
    """The letters as soon as this holds of them."""
    give_up = time.monotonic() + WAITED_SECONDS_MAX
    while not holds(found := letters_of(service)):
        assert time.monotonic() < give_up, [(row.state, row.attempts, row.reason) for row in found]
        time.sleep(0.05)
    return found


def all_sent(rows: list[Any]) -> bool:
    return bool(rows) and all(row.state == "done" for row in rows)


def try_now(service: Service) -> None:
    """What was put off is due at once."""
    organisation_id = service.organisation.organisation_id

    async def change() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            due = sa.update(jobs).where(jobs.c.kind == "send_letter", jobs.c.state == "waiting")
            await db.execute(due.values(due=sa.func.now()))

    service.run(change)
