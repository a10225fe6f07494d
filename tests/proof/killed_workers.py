"""Clients that repeat each request until it is answered while server workers are killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import httpx

from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.proof.real_server import RealServer

PATH = "/m/core/billinggroup"
CLIENTS = 4
SECONDS_BETWEEN_KILLS = 3.5  # sooner, the server would detect a crash loop and stop
SECONDS_PER_REQUEST_MAX = 60


@dataclass
class KilledWorkersRun:
    created: dict[str, str] = field(default_factory=dict)  # billinggroup_id to company_id
    misses: list[str] = field(default_factory=list)
    broken_connections: int = 0  # requests whose connection broke before the response


def with_killed_workers(
    server: RealServer, headers: Mapping[str, str], kills: int, random: Random
) -> KilledWorkersRun:
    """Repeat every request with its key until it is answered, and once more after that."""
    run, stopped = KilledWorkersRun(), threading.Event()
    clients = [
        threading.Thread(target=_send_until_stopped, args=(server, headers, run, stopped, number))
        for number in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    try:
        for _ in range(kills):
            time.sleep(SECONDS_BETWEEN_KILLS + random.random())
            _kill_oldest_worker(server)
        time.sleep(SECONDS_BETWEEN_KILLS)
    finally:
        stopped.set()
        for client in clients:
            client.join()
    if server.process.poll() is not None:
        run.misses.append(f"the server itself ended: exit code {server.process.returncode}")
    return run


def _kill_oldest_worker(server: RealServer) -> None:
    """Workers take turns, so that none dies again before it is ready."""
    os.kill(server.workers()[0], signal.SIGKILL)


def _send_until_stopped(
    server: RealServer,
    headers: Mapping[str, str],
    run: KilledWorkersRun,
    stopped: threading.Event,
    client: int,
) -> None:
    number = 0
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as http:
        while not stopped.is_set():
            number += 1
            name = f"killed-{client}-{number}"
            first = _until_answered(http, run, name)
            repeated = _until_answered(http, run, name)
            if first is None or first != repeated or b"company_id" not in first:
                run.misses.append(f"{name} with killed workers: first {first!r}, then {repeated!r}")
                return
            run.created[name] = json.loads(first)["company_id"]


def _until_answered(http: httpx.Client, run: KilledWorkersRun, name: str) -> bytes | None:
    body = REQUIRED_FIELDS | {"billinggroup_id": name}
    until = time.monotonic() + SECONDS_PER_REQUEST_MAX
    while time.monotonic() < until:
        try:
            answer = http.post(PATH, json=body, headers={"Idempotency-Key": name})
        except httpx.TransportError:
            run.broken_connections += 1
            time.sleep(0.05)
            continue
        if answer.status_code == 409 and answer.json()["code"] == "idempotency_key_in_use":
            time.sleep(0.05)
            continue
        return answer.content
    return None
