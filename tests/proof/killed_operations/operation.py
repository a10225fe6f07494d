"""An operation during which workers can be killed, and the request it sends."""

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
# responses that are neither success nor failure
COME_BACK = ("idempotency_key_in_use", "database_away")


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request; repeated with the same key until it is answered."""

    path: str
    body: dict[str, Any] | None
    key: str
    method: str = "POST"
    headers: dict[str, str] | None = None  # default: those of billing administration


@dataclass
class Organisation:
    """One of two organisations: one is disturbed, the other is not."""

    organisation_id: str
    url: str
    headers: dict[str, str]
    legacy: dict[str, str]  # headers of the root user for the legacy API
    cloud: Cloud  # endpoint where its instances are launched
    inbox: Path  # its folder in the data folder of the service, for files to import
    superuser: Address  # address of its database, bypassing the proxy
    cut_off: int = 0  # requests whose connection broke before the response
    journal: list[tuple[KeyedRequest, int, bytes]] = field(
        default_factory=list
    )  # acknowledged requests

    def inside(self, do: Callable[[AsyncConnection, TenantScope], Awaitable[None]]) -> None:
        """Run in a transaction of its own, bypassing the service."""

        async def run() -> None:
            engine = create_app_engine(self.superuser.url)
            async with transaction(engine, self.organisation_id) as db:
                await do(db, TenantScope(self.organisation_id))
            await engine.dispose()

        asyncio.run(run())

    def ask(self, question: str) -> list[Any]:
        """Run a query of `stored`."""
        return rows(self.superuser, question, self.organisation_id)

    def get(self, path: str) -> Any:
        answer = self.answered("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, sent: KeyedRequest) -> httpx.Response:
        """Send repeatedly until it is answered; record the result."""
        answer = self.sent_again(sent)
        self.journal.append((sent, answer.status_code, answer.content))
        return answer

    def sent_again(self, sent: KeyedRequest) -> httpx.Response:
        headers = (sent.headers or self.headers) | {"Idempotency-Key": sent.key}
        body = {} if sent.body is None else {"json": sent.body}
        return self.answered(sent.method, sent.path, headers=headers, **body)

    def answered(self, method: str, path: str, **what: Any) -> httpx.Response:
        """Get repeatedly until it is answered."""
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
    """A query for the rows of an organisation, which is $1."""
    return f"SELECT {columns} FROM {table} WHERE organisation_id = $1 AND {where}"


def audited(action: str) -> str:
    """How often the audit log contains the operation."""
    return stored("audit_log", "count(*)", f"entry::json ->> 'action' = '{action}'")


class Operation(ABC):
    """Created once per run; each call does the same in both organisations."""

    name: str
    answer: int  # the status that acknowledges it
    struck_first = ""  # a pattern: kill before the first statement that matches
    slow = False  # it runs half as often and is also killed at file changes
    # what anybody may ever see of it, old or new and nothing else; without ids and moments, which
    # differ between two runs
    seen: tuple[str, ...]

    def prepare(self, organisation: Organisation) -> None:  # noqa: B027  # often nothing
        """Create what the operation needs."""

    @abstractmethod
    def sent(self, organisation: Organisation, number: int) -> KeyedRequest:
        """The n-th request."""

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        """Wait until the acknowledged work is done; return its faults."""
        return None if answer.status_code == self.answer else f"answered {answer.text[:200]}"
