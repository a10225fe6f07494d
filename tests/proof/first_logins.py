"""Counts the passwords hashed before a first login while two hundred addresses guess.

The count covers the time between the arrival of a login in the queue and its own hash. Unlike a
duration, it is reliable on a busy machine.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nimbill.access import passwords
from nimbill.access.password_hash_queue import PasswordHashQueue, QueueEntry, create_attempts
from nimbill.identity.login import login_rate_limits
from tests.proof.asgi_calls import Answer, Request, app_of, call
from tests.proof.row_environment import RowEnvironment
from tests.running_service import PASSWORD, Service, running_service

ADDRESSES = 200
NEWCOMERS = 5
SECONDS_BETWEEN = 0.3


@dataclass
class Hashes:
    begun: int = 0
    before: dict[str, int] = field(default_factory=dict)  # by the source that entered the queue


def hashed_before_first_logins(
    environment: RowEnvironment, organisation_id: str
) -> list[tuple[Answer, int]]:
    """For each newcomer its response and the number of hashes before it."""
    service = environment.service
    with (
        running_service(
            environment.postgres.url,
            environment.new_folder("newcomers"),
            NIMBILL_KEY_FILE=str(service.settings.key_file),
            NIMBILL_TRUSTED_PROXIES="127.0.0.1",
        ) as proxied,
        _counted_hashes() as hashes,
    ):
        return proxied.run(lambda: _log_in_newcomers(proxied, organisation_id, hashes))


@contextmanager
def _counted_hashes() -> Iterator[Hashes]:
    """Forget earlier failures, and answer refused logins sooner than in production."""
    hashes = Hashes()
    originals = passwords._verify, passwords._run_in_queue, login_rate_limits.DELAY_SECONDS
    real_queue = passwords._queue

    def verify(password_hash: str | None, peppered: bytes) -> bool:
        hashes.begun += 1
        return originals[0](password_hash, peppered)

    async def run_in_queue(entry: QueueEntry, work: Any) -> Any:
        begun_on_arrival = hashes.begun

        def count_and_run() -> Any:
            hashes.before[entry.source] = hashes.begun - begun_on_arrival
            return work()

        return await originals[1](entry, count_and_run)

    passwords._queue = PasswordHashQueue(create_attempts())
    passwords._verify, passwords._run_in_queue = verify, run_in_queue
    login_rate_limits.DELAY_SECONDS = (0.2, 0.6)
    try:
        yield hashes
    finally:
        passwords._verify, passwords._run_in_queue, login_rate_limits.DELAY_SECONDS = originals
        passwords._queue = real_queue


async def _log_in_newcomers(
    service: Service, organisation_id: str, hashes: Hashes
) -> list[tuple[Answer, int]]:
    """They arrive when every address has been answered once."""
    app, responses = app_of(service), Counter[int]()

    async def sign_in(address: str, username: str, password: str) -> Answer:
        body = {"organisation": organisation_id, "username": username, "password": password}
        headers = [
            (b"content-type", b"application/json"),
            (b"x-forwarded-for", address.encode()),
        ]
        request = Request("POST", b"/core/session", headers=headers, body=json.dumps(body).encode())
        return await call(app, request)

    async def guess(number: int) -> None:
        for round_ in range(10_000):
            await sign_in(f"198.51.100.{number}", f"guess{number}.{round_}", "guessed 5d")
            responses[number] += 1

    guesses = [asyncio.create_task(guess(number)) for number in range(ADDRESSES)]
    results = []
    try:
        while len(responses) < ADDRESSES:
            await asyncio.sleep(SECONDS_BETWEEN)
        for number in range(NEWCOMERS):
            address = f"203.0.113.{number}"
            answer = await sign_in(address, "root", PASSWORD)
            results.append((answer, hashes.before.get(address, 0)))
            await asyncio.sleep(SECONDS_BETWEEN)
    finally:
        for task in guesses:
            task.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
    return results
