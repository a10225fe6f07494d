"""A first login while two hundred addresses guess: how many are hashed before it.

Counted, not timed, so that it works on a busy machine: the number of passwords hashed between a
login's arrival in the queue and its own hash.
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
from nimbill.access.password_hash_queue import QueueEntry
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
        return proxied.run(lambda: _newcomers(proxied, organisation_id, hashes))


@contextmanager
def _counted_hashes() -> Iterator[Hashes]:
    """Forget earlier failures, and answer refused logins sooner than in production."""
    hashes = Hashes()
    real = passwords._verify, passwords._run_in_queue, login_rate_limits.DELAY_SECONDS

    def verify(password_hash: str | None, peppered: bytes) -> bool:
        hashes.begun += 1
        return real[0](password_hash, peppered)

    async def in_turn(entry: QueueEntry, work: Any) -> Any:
        came = hashes.begun

        def noted() -> Any:
            hashes.before[entry.source] = hashes.begun - came
            return work()

        return await real[1](entry, noted)

    passwords._reset_after_fork()
    passwords._verify, passwords._run_in_queue = verify, in_turn
    login_rate_limits.DELAY_SECONDS = (0.2, 0.6)
    try:
        yield hashes
    finally:
        passwords._verify, passwords._run_in_queue, login_rate_limits.DELAY_SECONDS = real
        passwords._reset_after_fork()


async def _newcomers(
    service: Service, organisation_id: str, hashes: Hashes
) -> list[tuple[Answer, int]]:
    """They arrive when every address has been answered once."""
    app, answered = app_of(service), Counter[int]()

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
            answered[number] += 1

    guesses = [asyncio.create_task(guess(number)) for number in range(ADDRESSES)]
    seen = []
    try:
        while len(answered) < ADDRESSES:
            await asyncio.sleep(SECONDS_BETWEEN)
        for number in range(NEWCOMERS):
            address = f"203.0.113.{number}"
            answer = await sign_in(address, "root", PASSWORD)
            seen.append((answer, hashes.before.get(address, 0)))
            await asyncio.sleep(SECONDS_BETWEEN)
    finally:
        for task in guesses:
            task.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
    return seen
