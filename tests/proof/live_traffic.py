"""Clients that read and write all the time, and the longest wait for a lock meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from nimbill.database.embedded_postgres import Address
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.problem_responses import HttpResponse
from tests.temporary_database import connected

GROUPS = "/m/core/billinggroup"
SECONDS_BETWEEN_LOOKS = 0.05
SECONDS_BETWEEN_REQUESTS = 0.05  # leaves time for the migration on a machine with few cores
MISSES_MAX = 20
LONGEST_WAIT = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE NOT l.granted AND a.datname = current_database() AND a.application_name = 'nimbill'
"""


class HttpClient(Protocol):
    def get(self, url: str, *, headers: Any) -> HttpResponse: ...

    def post(self, url: str, *, json: Any, headers: Any) -> HttpResponse: ...


@dataclass
class LiveTraffic:
    """What was answered; `created` are the acknowledged billing groups."""

    headers: Mapping[str, str]
    paths: tuple[str, ...]
    find_log: Callable[[str], str]  # the log lines of a request id
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    created: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    step: str = ""
    _stopped: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self, version: str, http: HttpClient, clients: int) -> Iterator[None]:
        """Send requests to this version in as many threads until the block ends."""
        self._stopped.clear()
        threads = [
            threading.Thread(target=self._send_all, args=(version, http, number))
            for number in range(clients)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _send_all(self, version: str, http: HttpClient, client: int) -> None:
        number = 0
        while not self._stopped.is_set():
            number += 1
            self.create(version, http, f"{version}-{client}-{number}")
            for path in self.paths:
                self.read(version, http, path)
                self._stopped.wait(SECONDS_BETWEEN_REQUESTS)

    def create(self, version: str, http: HttpClient, name: str) -> None:
        body = REQUIRED_FIELDS | {"billinggroup_id": name}
        send = http.post
        if self._check(version, GROUPS, lambda: send(GROUPS, json=body, headers=self.headers)):
            self.created.append(name)

    def read(self, version: str, http: HttpClient, path: str) -> bool:
        return self._check(version, path, lambda: http.get(path, headers=self.headers))

    def _check(self, version: str, path: str, send: Callable[[], HttpResponse]) -> bool:
        step = self.step
        try:
            answer = send()
        except Exception as error:  # noqa: BLE001  # every failure is a miss
            status, text = 599, repr(error)
        else:
            status, text = answer.status_code, answer.text
            if status != 200:
                text += self.find_log(answer.headers.get("x-request-id", ""))
        self.statuses[version, status] += 1
        if status != 200 and len(self.misses) < MISSES_MAX:
            self.misses.append(f"{step}: the {version} version answered {status} {path}: {text}")
        return status == 200

    def describe(self) -> str:
        return ", ".join(
            f"{count} answered {status} by the {version} version"
            for (version, status), count in sorted(self.statuses.items())
        )


@contextmanager
def measured_lock_waits(superuser: Address) -> Iterator[list[float]]:
    """Yield a list whose only element is the longest wait of a request for a lock so far."""
    longest, stopped = [0.0], threading.Event()

    async def look() -> None:
        async with connected(superuser) as db:
            while not stopped.is_set():
                longest[0] = max(longest[0], await db.fetchval(LONGEST_WAIT))
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    thread = threading.Thread(target=asyncio.run, args=(look(),))
    thread.start()
    try:
        yield longest
    finally:
        stopped.set()
        thread.join()
