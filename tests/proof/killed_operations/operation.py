"""What an operation must tell so that workers can be killed under it, and what it is sent with."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, create_app_engine, transaction
from tests.legacy.provisioning.cloud_server import Cloud
from tests.proof.database_faults import rows

SECONDS_MAX = 120
# answers that say neither yes nor no
COME_BACK = ("idempotency_key_in_use", "database_away")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request; sent again with the same key until it is answered."""

    path: str
    body: dict[str, Any] | None
    key: str
    method: str = "POST"
    headers: dict[str, str] | None = None  # else those of billing administration


@dataclass
class Organisation:
    """One of the two that everything is done in: one is disturbed, the other is not."""

    organisation_id: str
    url: str
    headers: dict[str, str]
    legacy: dict[str, str]  # headers of the master account of the legacy API
    cloud: Cloud  # where its instances are launched
    inbox: Path  # of the service, for files to import
    superuser: Address  # of its database, past whoever counts
    cut_off: int = 0  # requests whose connection broke before the answer
    journal: list[tuple[Sent, int, bytes]] = field(default_factory=list)  # what was acknowledged

    def inside(self, do: Callable[[AsyncConnection, TenantScope], Awaitable[None]]) -> None:
        """Done in a transaction of its own, past the service."""

        async def run() -> None:
            engine = create_app_engine(self.superuser.url)
            async with transaction(engine, self.organisation_id) as db:
                await do(db, TenantScope(self.organisation_id))
            await engine.dispose()

        asyncio.run(run())

    def ask(self, question: str) -> list[Any]:
        """The answer to a question of `stored`."""
        return rows(self.superuser, question, self.organisation_id)

    def get(self, path: str) -> Any:
        answer = self.answered("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, sent: Sent) -> httpx.Response:
        """Never gives up; what it is told is noted."""
        answer = self.sent_again(sent)
        self.journal.append((sent, answer.status_code, answer.content))
        return answer

    def sent_again(self, sent: Sent) -> httpx.Response:
        headers = (sent.headers or self.headers) | {"Idempotency-Key": sent.key}
        body = {} if sent.body is None else {"json": sent.body}
        return self.answered(sent.method, sent.path, headers=headers, **body)

    def answered(self, method: str, path: str, **what: Any) -> httpx.Response:
        """Asked until somebody answers."""
        what = {"headers": self.headers, "timeout": 20, **what}
        until = time.monotonic() + SECONDS_MAX
        while time.monotonic() < until:
            try:
                answer = httpx.request(method, self.url + path, **what)
            except httpx.TransportError:
                self.cut_off += 1
                time.sleep(0.02)
                continue
            if answer.is_error and answer.json().get("code") in COME_BACK:
                time.sleep(0.05)
                continue
            return answer
        raise TimeoutError(f"{method} {path} was not answered in {SECONDS_MAX} s")


def stored(table: str, columns: str, where: str = "true") -> str:
    """A question to the rows of an organisation, which stands for $1."""
    return f"SELECT {columns} FROM {table} WHERE organisation_id = $1 AND {where}"


def audited(action: str) -> str:
    """How often it is told to have been done."""
    return stored("audit_log", "count(*)", f"entry::json ->> 'action' = '{action}'")


class Operation(ABC):
    """Made once for a run; each time it is asked for, it does the same in both organisations."""

    name: str
    answer: int  # the status that acknowledges it
    struck_first = ""  # a pattern: before the first statement like it, if there is one
    slow = False  # it takes its turn half as often, and is killed at its changes to files too
    # what anybody may ever see of it, old or new and nothing else; without ids and moments, which
    # differ between two runs
    seen: tuple[str, ...]

    def furnish(self, organisation: Organisation) -> None:  # noqa: B027  # often nothing
        """What there must be before the first time."""

    @abstractmethod
    def sent(self, organisation: Organisation, number: int) -> Sent:
        """The n-th request."""

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        """Waits until what was acknowledged is done; what is wrong with it, if anything is."""
        return None if answer.status_code == self.answer else f"answered {answer.text[:200]}"
