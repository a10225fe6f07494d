"""Clients that create billing groups while the database is disturbed, and their journal.

Each request has a key and is repeated until it is acknowledged. A request that is carried out a
second time would be answered 409, because its record exists already.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from nimbill.database.embedded_postgres import Address
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.temporary_database import execute_sql

PATH = "/m/core/billinggroup"
SECONDS_BETWEEN_TRIES = 0.05
MISSES_MAX = 20

_STORED = """
SELECT billinggroup_name AS name, company_id,
    (SELECT count(*) FROM invoice_settings AS s WHERE s.organisation_id = g.organisation_id
        AND s.company_id = g.company_id) AS settings,
    (SELECT count(*) FROM idempotency_keys AS k WHERE k.organisation_id = g.organisation_id
        AND k.key = g.billinggroup_name) AS keys
FROM billing_groups AS g WHERE g.organisation_id = $1
"""
_NAMES = (
    "SELECT billinggroup_name AS name, company_id FROM billing_groups WHERE organisation_id = $1"
)
_AUDITED = "SELECT entry FROM audit_log WHERE organisation_id = $1"


@dataclass
class WriteJournal:
    """What the clients sent and were told."""

    acknowledged: dict[str, str] = field(default_factory=dict)  # the name to the company_id
    statuses: Counter[int] = field(default_factory=Counter)
    broken_connections: int = 0
    slowest_answer: float = 0.0  # in seconds
    last_success: dict[int, float] = field(default_factory=dict)  # of each client
    misses: list[str] = field(default_factory=list)

    def miss(self, text: str) -> None:
        if len(self.misses) < MISSES_MAX:
            self.misses.append(text)


class WritingClients:
    """Starts the clients on entry; at the exit every request has been acknowledged."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        clients: int,
        *,
        answer_seconds_max: float,
        service_restarts: bool = False,
    ) -> None:
        """If the service restarts, a broken connection is no miss."""
        self.journal = WriteJournal()
        self._url, self._headers, self._seconds_max = url, headers, answer_seconds_max
        self._service_restarts = service_restarts
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(number,), daemon=True)
            for number in range(clients)
        ]

    def __enter__(self) -> WritingClients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(4 * self._seconds_max)
            if thread.is_alive():
                self.journal.miss("a client was not answered until the end")

    @property
    def alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    def wait_for_success(self, since: float, seconds_max: float) -> float | None:
        """Seconds until each client had a success after this moment; None if that is too long."""
        while time.monotonic() < since + seconds_max:
            last = [
                self.journal.last_success.get(number, 0.0) for number in range(len(self._threads))
            ]
            if min(last) > since:
                return max(last) - since
            if not self.alive:
                return None
            time.sleep(0.01)
        return None

    def _write(self, client: int) -> None:
        number = 0
        timeout = httpx.Timeout(self._seconds_max)
        with httpx.Client(base_url=self._url, headers=self._headers, timeout=timeout) as http:
            while not self._stopped.is_set():
                number += 1
                name = f"acknowledged-{client}-{number}"
                body = REQUIRED_FIELDS | {
                    "billinggroup_id": name,
                    "billinggroup_name": name,
                    "invoices": {"aws": VALID_SETTING},
                }
                created = self._until_success(http, client, "POST", PATH, body, name)
                if created is None:
                    return
                company_id = created.json()["company_id"]
                self.journal.acknowledged[name] = company_id
                path = f"{PATH}/{company_id}/resource"
                read = self._until_success(http, client, "GET", path, None, name)
                if read is None:
                    return
                if read.json()["billinggroup_name"] != name:
                    self.journal.miss(f"{name} was read as {read.text[:200]}")

    def _until_success(
        self,
        http: httpx.Client,
        client: int,
        method: str,
        path: str,
        body: dict[str, object] | None,
        key: str,
    ) -> httpx.Response | None:
        """Repeat while the service is not available; None after any other answer."""
        headers = {"Idempotency-Key": key} if method == "POST" else {}
        while True:
            began = time.monotonic()
            try:
                answer = http.request(method, path, json=body, headers=headers)
            except httpx.TransportError as error:
                waited = time.monotonic() - began
                if self._service_restarts and waited < self._seconds_max:
                    self.journal.broken_connections += 1
                    time.sleep(SECONDS_BETWEEN_TRIES)
                    continue
                self.journal.miss(f"{method} {key}: no answer, {error!r} after {waited:.1f} s")
                return None
            self.journal.statuses[answer.status_code] += 1
            waited = time.monotonic() - began
            self.journal.slowest_answer = max(self.journal.slowest_answer, waited)
            if answer.status_code == 200:
                self.journal.last_success[client] = time.monotonic()
                return answer
            if not is_retryable(answer):
                retry_after = answer.headers.get("retry-after")
                shown = f"{answer.status_code} (Retry-After {retry_after}): {answer.text[:300]}"
                self.journal.miss(f"{method} {key} was answered {shown}")
                return None
            time.sleep(SECONDS_BETWEEN_TRIES)


def is_retryable(answer: httpx.Response) -> bool:
    """503 with Retry-After as problem+json, or the key's first use has not ended yet."""
    if answer.headers.get("content-type") != "application/problem+json":
        return False
    if answer.status_code == 409:
        return bool(answer.json()["code"] == "idempotency_key_in_use")
    return answer.status_code == 503 and int(answer.headers.get("retry-after", 0)) > 0


def compare_with_records(
    journal: WriteJournal, superuser: Address, organisation_id: str
) -> list[str]:
    """Everything acknowledged is stored once, with its key and its audit row, and nothing else."""
    stored = execute_sql(superuser, _STORED, organisation_id)
    times = Counter(row["name"] for row in stored)
    misses = [f"{name} is stored {count} times" for name, count in times.items() if count > 1]
    found = {row["name"]: row for row in stored}
    for name, company_id in journal.acknowledged.items():
        if name not in found:
            misses.append(f"{name} was acknowledged and is lost")
        elif found[name]["company_id"] != company_id:
            misses.append(f"{name} was acknowledged as {company_id}, which is not the stored one")
    audited = _count_audited(superuser, organisation_id)
    for name, row in found.items():
        parts = (row["settings"], row["keys"], audited[row["company_id"]])
        if parts != (1, 1, 1):
            misses.append(f"{name} is stored in part: settings, keys and audit rows are {parts}")
        if name not in journal.acknowledged:
            misses.append(f"{name} is stored without an acknowledgement")
    return misses


def find_lost(journal: WriteJournal, superuser: Address, organisation_id: str) -> list[str]:
    """Everything acknowledged so far that is not stored; the clients may go on meanwhile."""
    acknowledged = dict(journal.acknowledged)
    found = {
        row["name"]: row["company_id"] for row in execute_sql(superuser, _NAMES, organisation_id)
    }
    return [
        f"{name} was acknowledged and is lost"
        for name, company_id in acknowledged.items()
        if found.get(name) != company_id
    ]


def _count_audited(superuser: Address, organisation_id: str) -> Counter[str]:
    """How many audit rows contain each word; a company_id is one."""
    entries = execute_sql(superuser, _AUDITED, organisation_id)
    return Counter(word for row in entries for word in set(re.findall(r"[\w-]+", row["entry"])))
