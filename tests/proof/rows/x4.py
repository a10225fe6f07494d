"""Fifty clients bill the same month at once, and all of them get the same invoices.

Each round is a new month. Fifty clients wait at a barrier and then request its invoices for two
vendors at once, some in bulk and some for one group, on a server with two processes. There is one
invoice for each group and vendor, everybody gets the same number, numbers have no gap, and every
returned revision is stored.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from random import Random
from threading import Barrier, Lock
from typing import Any

import httpx

from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.invoicing.month_end import SETTING
from tests.proof.broken_variants import BrokenVariant
from tests.proof.real_server import real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress
from tests.running_service import Service
from tests.temporary_database import execute_sql

TARGET = (
    "50 clients at once on one month, 1,000 rounds, bulk and single mixed, 2 processes: "
    "exactly 1 invoice per group and vendor, the same number for all 50, none skipped; 0 5xx; "
    "p99 at most 2 s"
)
SHORT = 3
QUICK = 10
FULL = 1_000
SECONDS_MAX = 180

CLIENTS, GROUPS = 50, 3
_AWS = {k: v if isinstance(v, str) else float(v) for k, v in SETTING.items()}
SETTINGS = {"aws": _AWS, "azure": {**_AWS, "support_fee": "percent"}}
SECONDS_OF_P99 = 2
PROGRESS_EVERY = 100
WATCHDOG = 10  # in `make test`: ten times the target


@dataclass
class _Responses:
    """What the clients received."""

    numbers: dict[tuple[str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    statuses: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    seconds: list[float] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("X4")
    groups = _create_records(service)
    responses, random = _Responses(), environment.random("X4")
    months = [f"{2100 + number // 12:04}-{number % 12 + 1:02}" for number in range(size)]
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with (
        real_server(environment.new_folder("x4") / "data", settings) as server,
        ThreadPoolExecutor(CLIENTS) as threads,
        httpx.Client(timeout=60, limits=httpx.Limits(max_connections=CLIENTS)) as client,
    ):
        for number, month in enumerate(months):
            if number % PROGRESS_EVERY == 0:
                print_progress(f"X4: {number} rounds, {len(responses.misses)} wrong")
            _save(service, month, groups)
            address = f"{server.url}/m/core/invoices/calculation/{month}"
            round_ = _Round(client, address, service.root(), month, Barrier(CLIENTS), responses)
            list(threads.map(round_.send, _bodies(groups, random)))
    misses = [*responses.misses, *_compare_with_records(environment, months, groups, responses)]
    p99 = sorted(responses.seconds)[int(len(responses.seconds) * 0.99)]
    limit = SECONDS_OF_P99 * (WATCHDOG if size < FULL else 1)
    if p99 > limit:
        misses.append(f"p99 {p99:.2f} s, more than {limit} s")
    statuses = ", ".join(
        f"{count} answered {status}" for status, count in sorted(responses.statuses.items())
    )
    figures = (
        f"{size} rounds of {CLIENTS} clients: {statuses}; p99 {p99:.2f} s; {len(misses)} wrong"
    )
    return Measurement(figures, misses)


def _create_records(service: Service) -> list[str]:
    groups = []
    for number in range(1, GROUPS + 1):
        group = create_group(service, service.root(), billinggroup_id=f"X4-{number}")
        add_account(service, group, customer_id=f"{number:012d}")
        add_account(service, group, **AZURE | {"customer_id": f"azure-subscription-{number}"})
        groups.append(group)
    return groups


def _save(service: Service, month: str, groups: Sequence[str]) -> None:
    settings = {"settings": dict.fromkeys(groups, SETTINGS), "internal": False}
    rate = {"billing_groups": list(groups), "exchange_rate": 150}
    for path, body in (
        (f"/m/core/invoices/save/{month}", settings),
        *((f"/m/core/invoices/exchangerate/{month}", rate | {"vendor": v}) for v in SETTINGS),
    ):
        answer = service.http.put(path, json=body, headers=service.root())
        assert answer.status_code == 200, answer.text


def _bodies(groups: Sequence[str], random: Random) -> list[dict[str, Any]]:
    return [
        {"vendor": random.choice(list(SETTINGS))}
        | (
            {"group": {}, "bulk": True}
            if random.random() < 0.5
            else {"group": [random.choice(groups)], "bulk": False}
        )
        for _ in range(CLIENTS)
    ]


@dataclass(frozen=True)
class _Round:
    """One round."""

    client: httpx.Client
    address: str
    headers: dict[str, str]
    month: str
    barrier: Barrier
    responses: _Responses

    def send(self, body: dict[str, Any]) -> None:
        self.barrier.wait()
        began = time.monotonic()
        answer = self.client.post(self.address, json=body, headers=self.headers)
        seconds = time.monotonic() - began
        with self.responses.lock:
            self.responses.seconds.append(seconds)
            self._record(answer, GROUPS if body["bulk"] else 1)

    def _record(self, answer: httpx.Response, expected: int) -> None:
        responses, month = self.responses, self.month
        responses.statuses[answer.status_code] += 1
        if answer.status_code != 200:
            responses.misses.append(f"{month}: answered {answer.status_code} {answer.text[:80]}")
            return
        created = answer.json()
        if created["skipped"] or len(created["created"]) != expected:
            responses.misses.append(f"{month}: {expected} were requested, {created} was returned")
        for invoice in created["created"]:
            responses.numbers[month, invoice["company_id"], invoice["vendor"]].add(
                invoice["invoice_no"]
            )


def _compare_with_records(
    environment: RowEnvironment, months: Sequence[str], groups: Sequence[str], responses: _Responses
) -> list[str]:
    """Compare what is stored with what the clients received."""
    faults = []
    stored: dict[str, list[Any]] = defaultdict(list)
    for row in execute_sql(
        environment.superuser,
        "SELECT i.month, i.company_id, i.vendor, i.number, i.revision, "
        "(SELECT count(*) FROM invoice_revisions r WHERE r.organisation_id = i.organisation_id "
        " AND r.month = i.month AND r.company_id = i.company_id AND r.vendor = i.vendor) AS kept "
        "FROM invoices i WHERE i.organisation_id = $1 ORDER BY i.month, i.number",
        environment.service.organisation.organisation_id,
    ):
        stored[row["month"]].append(row)
    expected = sorted(product(groups, SETTINGS))
    for month in months:
        found = stored[month]
        if sorted((row["company_id"], row["vendor"]) for row in found) != expected:
            faults.append(f"{month}: {len(found)} invoices instead of {len(expected)}")
        if [row["number"] for row in found] != list(range(1, len(found) + 1)):
            faults.append(f"{month}: numbers {[row['number'] for row in found]} have a gap")
        for row in found:
            numbers = responses.numbers[month, row["company_id"], row["vendor"]]
            number = f"{month.replace('-', '')}-{row['number']:04}"
            if numbers != {number}:
                faults.append(f"{month}: {number} is stored, {sorted(numbers)} were returned")
            if row["kept"] != row["revision"]:
                faults.append(f"{number}: revision {row['revision']}, {row['kept']} kept")
    return faults


VARIANTS = [
    BrokenVariant(
        "no-waiting",
        "A request does not wait for another that creates the same invoice.",
        "answered 409",
        "invoicing/documents/stored_invoices.py",
        'await advisory_lock(db, f"invoices {',
        'str(f"invoices {',
    ),
    BrokenVariant(
        "numbers-wasted",
        "A number is drawn for every invoice, also for one that has one.",
        "have a gap",
        "invoicing/runs/invoice_run.py",
        "= sum(company_id not in existing for company_id in drafts",
        "= len(drafts",
    ),
]
