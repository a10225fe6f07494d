"""Guessing is slow, the owner gets in all the same, and logins starve nobody.

One name is guessed at through every endpoint, client, spelling and made-up address, many at once;
then many names. The count outlives a restart. Two hundred logins at once queue up to a bound; in
the full run a real server is flooded while somebody else works with it.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlencode

import httpx

from nimbill.access import passwords
from nimbill.vocabulary import Product
from tests.login.asking import ADDRESS, User, as_user, new_user
from tests.own_database import sql
from tests.proof.asgi_calls import Answer, Request, app_of, call, each
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measured
from tests.proof.stage import Stage
from tests.quick_hashes import quick_hashes
from tests.running_service import PASSWORD, Service, running_service

TARGET = (
    "10,000 guesses: at most 10 in 15 minutes looked at per name, the owner always let in from "
    "where he logged in before, and from anywhere 15 minutes later; survives a restart; at most 32 "
    "logins wait; flooded, a real server answers 0 5xx, 99 of 100 logins of others within 1 s, "
    "other requests within twice their idle time, +64 MB at most"
)
QUICK = 200
FULL = 10_000
SECONDS_MAX = 120

AT_ONCE = 16
LOGINS_AT_ONCE = 200
GUESSES_PER_NAME = 40
MEGABYTES_MAX = 64
FLOOD_SECONDS = 20


@dataclass
class Attack:
    stage: Stage
    service: Service
    victim: User
    clients: list[User]
    random: Random
    looked_at: Counter[str] = field(default_factory=Counter)  # by the password guessed
    statuses: Counter[int] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def expect(self, what: str, is_so: bool, answer: Any) -> None:
        if not is_so:
            shown = f"{answer.status} {answer.body!r}" if isinstance(answer, Answer) else answer
            self.misses.append(f"{what}: {shown}")


def measure(stage: Stage, size: int) -> Measured:
    service = stage.service
    service.organisation = service.new_organisation("T6")
    clients = [new_user(service, f"client{number}") for number in range(3)]
    victim = new_user(service, "vi.victim")
    attack = Attack(stage, service, victim, clients, stage.random("T6"))
    with _noted_hashes(attack):
        _one_name(attack, size // 2)
        _many_names(attack, size - size // 2)
    waited = _logins_at_once(attack)
    flooded = _flood(attack) if size >= FULL else "not flooded at this size"
    counted = ", ".join(f"{n} × {status}" for status, n in sorted(attack.statuses.items()))
    said = (
        f"{size} guesses answered {counted}; looked at {max(attack.looked_at.values())} per name; "
        f"{waited}; {flooded}"
    )
    return Measured(said, attack.misses)


@contextmanager
def _noted_hashes(attack: Attack) -> Iterator[None]:
    """Only how often matters here; every check of a guess is noted by what was guessed."""
    real_check = passwords._peppered

    def noted(password: str, sealer: Any) -> bytes:
        if password.startswith("guess at "):
            attack.looked_at[password] += 1
        return real_check(password, sealer)

    passwords._peppered = noted
    try:
        with quick_hashes():
            yield
    finally:
        passwords._peppered = real_check


# ── guessing ─────────────────────────────────────────────────────────────────────────────────────


def _one_name(attack: Attack, size: int) -> None:
    """The owner's own client is known; everybody else guesses, and nobody gets in but he."""
    owner = as_user(attack.victim, attack.victim.username)
    stranger = as_user(attack.clients[0], attack.victim.username)
    first = _send(attack, owner)
    attack.expect("the owner before", first.status == 200, first)

    async def one(number: int) -> None:
        spelled = "".join(
            attack.random.choice([c, c.upper(), "İ" if c == "i" else c])
            for c in attack.victim.username
        )
        await _guess(attack, number, spelled, "guess at one")
        if number % 25 == 0:
            answer = await call(app_of(attack.service), _form(owner, Product.core, number))
            attack.expect("the owner was locked out", answer.status == 200, answer)

    attack.service.run(lambda: each(size, one, at_once=AT_ONCE))
    looked = attack.looked_at["guess at one"]
    attack.expect("guesses looked at", looked <= 10, f"{looked} for one name")
    late = _send(attack, stranger)
    attack.expect("a stranger with the right password", late.status == 429, late)
    with _another_process(attack.stage) as restarted:
        again = restarted.run(lambda: call(app_of(restarted), _form(stranger, Product.core, 0)))
    attack.expect("after a restart", again.status == 429, again)
    _pass_fifteen_minutes(attack)
    freed = _send(attack, stranger)
    attack.expect("fifteen minutes later", freed.status == 200, freed)


def _many_names(attack: Attack, size: int) -> None:
    async def one(number: int) -> None:
        name = number // GUESSES_PER_NAME
        await _guess(attack, number, f"name{name}", f"guess at name{name}")

    attack.service.run(lambda: each(size, one, at_once=AT_ONCE))
    for guess, count in attack.looked_at.items():
        attack.expect("guesses looked at", count <= 10, f"{count} of {guess}")


async def _guess(attack: Attack, number: int, username: str, password: str) -> None:
    client = attack.random.choice(attack.clients)
    product = attack.random.choice(list(Product))
    if number % 4 == 0:
        body = {
            "organisation": attack.service.organisation.organisation_id,
            "username": username,
            "password": password,
        }
        headers = [(b"content-type", b"application/json"), _made_up_address(number)]
        request = Request("POST", b"/core/session", headers=headers, body=json.dumps(body).encode())
    else:
        request = _form(as_user(client, username, password), product, number)
    answer = await call(app_of(attack.service), request)
    attack.statuses[answer.status] += 1
    attack.expect("a guess", answer.status in (400, 401, 429), answer)


def _made_up_address(number: int) -> tuple[bytes, bytes]:
    return (b"x-forwarded-for", f"198.51.{number // 250 % 250}.{number % 250}".encode())


def _form(fields: dict[str, str], product: Product, number: int) -> Request:
    kind = (b"content-type", b"application/x-www-form-urlencoded")
    path, body = ADDRESS[product].encode(), urlencode(fields).encode()
    return Request("POST", path, headers=[kind, _made_up_address(number)], body=body)


def _send(attack: Attack, fields: dict[str, str]) -> Answer:
    service = attack.service
    return service.run(lambda: call(app_of(service), _form(fields, Product.core, 0)))


def _another_process(stage: Stage) -> Any:
    key_file = str(stage.service.settings.key_file)
    return running_service(stage.postgres.url, stage.new_folder("t6"), NIMBILL_KEY_FILE=key_file)


def _pass_fifteen_minutes(attack: Attack) -> None:
    """For the counters; the rest of the world stays where it is."""
    sql(
        attack.stage.superuser,
        "UPDATE login_attempts SET attempts = ARRAY("
        "SELECT one - interval '15 minutes' FROM unnest(attempts) AS one)",
    )


# ── many logins at once ──────────────────────────────────────────────────────────────────────────


def _logins_at_once(attack: Attack) -> str:
    """With hashes of their real cost: some wait, the rest are asked to come back."""
    waiting_max = 0

    async def all_of_them() -> list[Answer]:
        nonlocal waiting_max
        app = app_of(attack.service)
        asked: list[Awaitable[Answer]] = [
            call(app, _form(as_user(attack.clients[0], f"crowd{n}", "x"), Product.core, n))
            for n in range(LOGINS_AT_ONCE)
        ]
        logins = asyncio.ensure_future(asyncio.gather(*asked))
        while not logins.done():
            waiting_max = max(waiting_max, passwords._waiting, passwords._logins)
            await asyncio.sleep(0.001)
        return await logins

    answers = attack.service.run(all_of_them)
    statuses = Counter(answer.status for answer in answers)
    attack.expect("logins at once", set(statuses) <= {400, 429}, dict(statuses))
    attack.expect("logins that wait", waiting_max <= 32, waiting_max)
    slept = [a for a in answers if a.status == 429 and "retry-after" not in a.headers]
    attack.expect("told when to come back", not slept, len(slept))
    return f"of {LOGINS_AT_ONCE} logins at once {waiting_max} waited, {statuses[429]} sent away"


# ── a real server under a flood ──────────────────────────────────────────────────────────────────


def _flood(attack: Attack) -> str:
    stage = attack.stage
    settings = {
        "NIMBILL_DATABASE_URL": stage.postgres.url,
        "NIMBILL_KEY_FILE": str(stage.service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with real_server(stage.new_folder("t6") / "data", settings) as server:
        idle = _work_beside(attack, server, seconds=5)
        before = server.resident_bytes()
        stop = threading.Event()
        flood = [
            threading.Thread(target=_flood_one, args=(attack, server, stop, number))
            for number in range(20)
        ]
        for thread in flood:
            thread.start()
        try:
            busy = _work_beside(attack, server, seconds=FLOOD_SECONDS)
            grown = (server.resident_bytes() - before) / 2**20
        finally:
            stop.set()
            for thread in flood:
                thread.join()
    attack.expect("memory", grown <= MEGABYTES_MAX, f"{grown:.0f} MB more")
    reads, before_it = busy.slowest("read"), idle.slowest("read")
    attack.expect("reads of others", reads <= 2 * before_it, f"{before_it:.3f} → {reads:.3f} s")
    attack.expect("logins of others", busy.slowest("login") <= 1, f"{busy.slowest('login'):.2f} s")
    return (
        f"flooded: reads {idle.slowest('read') * 1000:.0f} → {busy.slowest('read') * 1000:.0f} ms, "
        f"logins {idle.slowest('login') * 1000:.0f} → {busy.slowest('login') * 1000:.0f} ms (99 of "
        f"100), {busy.sent_away} of {len(busy.spent['login'])} logins sent away, {grown:+.0f} MB"
    )


@dataclass
class Work:
    spent: dict[str, list[float]] = field(default_factory=lambda: {"read": [], "login": []})
    sent_away: int = 0

    def slowest(self, what: str) -> float:
        """What 99 of 100 take at most."""
        spent = sorted(self.spent[what])
        return spent[len(spent) * 99 // 100]


def _work_beside(attack: Attack, server: RealServer, seconds: float) -> Work:
    """Somebody else reads, and logs in now and then."""
    work, until = Work(), time.monotonic() + seconds
    headers = attack.service.root()
    form = as_user(attack.service.organisation, "root", PASSWORD)
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        while time.monotonic() < until:
            ways: dict[str, Callable[[], httpx.Response]] = {
                "read": lambda: http.get("/m/core/billinggroup", headers=headers),
                "login": lambda: http.post("/core/access_token", data=form),
            }
            for what in ("read", "read", "read", "login"):
                began = time.monotonic()
                answer = ways[what]()
                work.spent[what].append(time.monotonic() - began)
                work.sent_away += answer.status_code == 429
                attack.expect("beside the flood", answer.status_code in (200, 429), answer.text)
    return work


def _flood_one(attack: Attack, server: RealServer, stop: threading.Event, number: int) -> None:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        turn = 0
        while not stop.is_set():
            turn += 1
            form = as_user(attack.clients[0], f"flood{number}.{turn}", "x")
            answer = http.post("/core/access_token", data=form)
            attack.expect("in the flood", answer.status_code in (400, 429), answer.text)
