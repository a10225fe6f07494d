"""Clients that move and return reserved instances in parallel and repeat unanswered calls."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.proof.moved_histories import DONE, GONE, TOO_FEW, ObservedOperation, ShownReservation
from tests.proof.real_server import RealServer

PATH = "/m/core/ri/purchased"
SECONDS_BETWEEN_KILLS = 4.0  # sooner, the server would detect a crash loop and stop
SECONDS_PER_REQUEST_MAX = 60
CALLS_PER_KILL = 500
# responses that are neither success nor failure, with seconds until the retry
RETRY_SECONDS = {"idempotency_key_in_use": 0.05, "database_away": 1.0}
NUMBER_MAX = 4


@dataclass
class MovingClientsRun:
    history: list[ObservedOperation] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    broken_connections: int = 0  # requests whose connection broke before the response
    kills: int = 0
    retries: int = 0  # responses that asked to retry


def move_all_at_once(
    server: RealServer,
    headers: Mapping[str, str],
    *,
    customers: list[str],
    reservations: list[str],
    size: int,
    random: Random,
    half_way: Callable[[], None],
) -> MovingClientsRun:
    """One client per customer, which alone moves instances to that customer."""
    run, done = MovingClientsRun(), threading.Semaphore(0)
    clients = [
        _MovingClient(server, headers, run, customer, reservations, Random(random.random()), done)
        for customer in customers
    ]
    calls_per_client = -(-size // len(clients))
    threads = [
        threading.Thread(target=client.work, args=(calls_per_client,), daemon=True)
        for client in clients
    ]
    for thread in threads:
        thread.start()
    stopped = threading.Event()
    killer = threading.Thread(target=_kill_workers, args=(server, run, stopped), daemon=True)
    killer.start()
    for _ in range(calls_per_client * len(clients) // 2):
        done.acquire()
    half_way()
    for thread in threads:
        thread.join()
    stopped.set()
    killer.join()
    if server.process.poll() is not None:
        run.misses.append(f"the server itself ended: exit code {server.process.returncode}")
    return run


def _kill_workers(server: RealServer, run: MovingClientsRun, stopped: threading.Event) -> None:
    """Kill after this many calls each time; workers take turns, so that one is always alive."""
    while not stopped.wait(SECONDS_BETWEEN_KILLS if run.kills else 0.1):
        workers = server.workers()
        if len(run.history) >= (run.kills + 0.5) * CALLS_PER_KILL and len(workers) > 1:
            os.kill(workers[0], signal.SIGKILL)
            run.kills += 1


@dataclass
class _MovingClient:
    server: RealServer
    headers: Mapping[str, str]
    run: MovingClientsRun
    customer: str
    reservations: list[str]
    random: Random
    done: threading.Semaphore
    known: list[str] = field(default_factory=list)  # moved records of all clients in the last read
    moves: dict[str, int] = field(default_factory=dict)  # completed moves by reservation

    def work(self, count: int) -> None:
        with httpx.Client(base_url=self.server.url, headers=self.headers, timeout=60) as http:
            for number in range(count):
                self._call_randomly(http, f"{self.customer}-{number}")
                self.done.release()

    def _call_randomly(self, http: httpx.Client, key: str) -> None:
        chance = self.random.random()
        if chance < 0.45:
            self._move(http, key)
        elif chance < 0.75 and self.known:
            self._remove(http, key)
        else:
            self._read(http)

    def _move(self, http: httpx.Client, key: str) -> None:
        reservation = self.random.choice(self.reservations)
        number = self.random.randint(1, NUMBER_MAX)
        body = {"customer_id": self.customer, "number": number, "vendor": "aws"}
        began = time.monotonic()
        result, _ = self._send_until_answered(
            http,
            key,
            lambda: http.post(f"{PATH}/{reservation}", json=body, headers={"Idempotency-Key": key}),
        )
        record = ""
        if result == DONE:
            place = self.moves[reservation] = self.moves.get(reservation, 0) + 1
            record = f"{reservation} {self.customer} {place}"  # its id is looked up later
        self._record("move", began, result, reservation=reservation, record=record, number=number)

    def _remove(self, http: httpx.Client, key: str) -> None:
        record = self.random.choice(self.known)
        began = time.monotonic()
        result, _ = self._send_until_answered(
            http,
            key,
            lambda: http.post(
                f"{PATH}/{record}/remove?vendor=aws", headers={"Idempotency-Key": key}
            ),
        )
        self._record("remove", began, result, record=record)

    def _read(self, http: httpx.Client) -> None:
        began = time.monotonic()
        result, records = self._send_until_answered(
            http, "", lambda: http.get(f"{PATH}?vendor=aws")
        )
        if result != DONE:
            return
        shown = parse_reservations(records)
        self.known = [record for reservation in shown.values() for record in reservation.moved]
        self._record("read", began, result, shown=shown)

    def _record(self, kind: str, began: float, result: str, **facts: Any) -> None:
        self.run.history.append(ObservedOperation(kind, began, time.monotonic(), result, **facts))

    def _send_until_answered(
        self, http: httpx.Client, key: str, send: Callable[[], httpx.Response]
    ) -> tuple[str, Any]:
        """Repeat with the same key until it is answered."""
        until = time.monotonic() + SECONDS_PER_REQUEST_MAX
        while time.monotonic() < until:
            try:
                answer = send()
            except httpx.TransportError:
                self.run.broken_connections += 1
                time.sleep(0.05)
                continue
            code = _code(answer)
            if code in RETRY_SECONDS:
                self.run.retries += 1
                time.sleep(RETRY_SECONDS[code])
                continue
            known = {"": DONE, "too_few_remain": TOO_FEW, "not_found": GONE}
            if code not in known:
                self.run.misses.append(f"an unexpected response: {answer.status_code} {code}")
            return known.get(code, "refused"), None if answer.is_error else answer.json()
        self.run.misses.append(f"{key} was not answered in {SECONDS_PER_REQUEST_MAX} s")
        return "not answered", None


def _code(answer: httpx.Response) -> str:
    """The code of an error response, or an empty text."""
    if answer.is_success:
        return ""
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    return (
        str(answer.json()["code"])
        if is_problem
        else f"not from the application: {answer.text[:80]}"
    )


def parse_reservations(records: list[dict[str, Any]]) -> dict[str, ShownReservation]:
    """What a list shows of each reservation; a moved record follows its original."""
    found: dict[str, ShownReservation] = {}
    original = ""
    for record in records:
        if record["remove"]:
            moved = {**found[original].moved, record["id"]: record["number"]}
            found[original] = ShownReservation(found[original].remaining, moved)
        else:
            original = record["id"]
            found[original] = ShownReservation(record["number"], {})
    return found
