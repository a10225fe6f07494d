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
from tests.legacy.provisioning.cloud_server import Cloud  # version 3
from tests.plain_http import NO_TLS
from tests.temporary_database import execute_sql

SECONDS_MAX = 120
# responses that are neither success nor failure
RETRY_CODES = ("idempotency_key_in_use", "database_away")


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
    # headers of the root user for version 3, and where instances are launched  # version 3
    legacy: dict[str, str]  # version 3
    cloud: Cloud  # version 3
    inbox: Path  # its folder in the data folder of the service, for files to import
    superuser: Address  # address of its database, bypassing the proxy
    client: dict[str, str] = field(default_factory=dict)  # id and secret of its API client
    broken_connections: int = 0  # requests whose connection broke before the response
    journal: list[tuple[KeyedRequest, int, bytes]] = field(
        default_factory=list
    )  # acknowledged requests

    def run_in_transaction(
        self, change: Callable[[AsyncConnection, TenantScope], Awaitable[None]]
    ) -> None:
        """Run in a transaction of its own, bypassing the service."""

        async def run() -> None:
            engine = create_app_engine(self.superuser.url)
            async with transaction(engine, self.organisation_id) as db:
                await change(db, TenantScope(self.organisation_id))
            await engine.dispose()

        asyncio.run(run())

    def fetch(self, query: str) -> list[Any]:
        """Run a query of `stored`."""
        return execute_sql(self.superuser, query, self.organisation_id)

    def get(self, path: str) -> Any:
        answer = self.request_until_answered("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, request: KeyedRequest) -> httpx.Response:
        """Send repeatedly until it is answered; record the result."""
        answer = self.send_with_key(request)
        self.journal.append((request, answer.status_code, answer.content))
        return answer

    def send_with_key(self, request: KeyedRequest) -> httpx.Response:
        """Send repeatedly until it is answered, without recording the result."""
        headers = (request.headers or self.headers) | {"Idempotency-Key": request.key}
        body = {} if request.body is None else {"json": request.body}
        return self.request_until_answered(request.method, request.path, headers=headers, **body)

    def request_until_answered(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """Send repeatedly until it is answered."""
        arguments = {"headers": self.headers, "timeout": 20, "verify": NO_TLS, **arguments}
        until = time.monotonic() + SECONDS_MAX
        while time.monotonic() < until:
            try:
                answer = httpx.request(method, self.url + path, **arguments)
            except httpx.TransportError:
                self.broken_connections += 1
                time.sleep(0.02)
                continue
            if answer.is_error and answer.json().get("code") in RETRY_CODES:
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
    kill_first_at = ""  # a pattern: kill before the first statement that matches
    first_after_commit = False  # the first kill is after the commit instead of before it
    slow = False  # it runs half as often and is also killed at file changes
    # queries for what readers may see, which is either the old or the new state; without ids and
    # times, which differ between two runs
    visible_state: tuple[str, ...]

    def prepare(self, organisation: Organisation) -> None:  # noqa: B027  # often nothing
        """Create what the operation needs."""

    @abstractmethod
    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        """The n-th request."""

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        """Wait until the acknowledged work is done; return its faults."""
        return None if answer.status_code == self.answer else f"answered {answer.text[:200]}"
