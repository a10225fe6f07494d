"""Guessing is slow, the owner can always log in, and logins do not starve other requests.

One name is guessed through every endpoint, client, spelling and forged address, many at once;
then many names. The count survives a restart. Two hundred logins at once queue up to a limit, and
a first login goes before two hundred addresses that return. In the full run two hundred
connections, each from its own address, flood a real server for a minute while others read and log
in. The flood runs in a low-priority process because it represents other computers. The reading
client has its own process, with and without the flood.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlencode

import httpx

from nimbill.access import password_hash_queue, passwords
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import TOKEN_PATHS, ApiUser, create_user, password_form
from tests.proof.asgi_calls import Answer, Request, app_of, call, each
from tests.proof.broken_variants import BrokenVariant
from tests.proof.first_logins import hashed_before_first_logins
from tests.proof.login_flood import NUMBER, Flood, Guess
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.timed_requests import WaitTimes, finish_timing, start_timing
from tests.quick_hashes import quick_hashes
from tests.running_service import PASSWORD, Service, running_service
from tests.temporary_database import execute_sql

TARGET = (
    "10,000 guesses: at most 10 in 15 minutes checked per name, the owner always let in from "
    "a known place, and from anywhere 15 minutes later; survives a restart; 200 logins at "
    "once from 200 addresses: 0 5xx, 99 of 100 logins of others within 1 s, other requests "
    "within twice their idle time, at most +64 MB"
)
QUICK = 200
FULL = 10_000
SECONDS_MAX = 120

AT_ONCE = 16
LOGINS_AT_ONCE = 200
GUESSES_PER_NAME = 40
WAITING_MAX = 8  # for one source, or for many
MEGABYTES_MAX = 64
FLOODERS = 200
FLOOD_SECONDS = 60  # more than 100 logins of each kind
HASHED_BEFORE_MAX = 1  # the one that was already next
SECONDS_BETWEEN_LOGINS = 0.25


@dataclass
class Attack:
    environment: RowEnvironment
    service: Service
    victim: ApiUser
    clients: list[ApiUser]
    random: Random
    checked: Counter[str] = field(default_factory=Counter)  # by the password guessed
    statuses: Counter[int] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def expect(self, what: str, passed: bool, answer: Any) -> None:
        if not passed:
            shown = f"{answer.status} {answer.body!r}" if isinstance(answer, Answer) else answer
            self.misses.append(f"{what}: {shown}")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T6")
    clients = [create_user(service, f"client{number}") for number in range(3)]
    victim = create_user(service, "vi.victim")
    attack = Attack(environment, service, victim, clients, environment.random("T6"))
    with _count_checks(attack):
        _guess_one_name(attack, size // 2)
        _guess_many_names(attack, size - size // 2)
    queue_figures = f"{_logins_at_once(attack)}; {_newcomers(attack)}"
    flooded = _flood(attack) if size >= FULL else "not flooded at this size"
    checked = f"at most {max(attack.checked.values())} checked per name"
    guessed = f"{size} guesses answered {_format_counts(attack.statuses)}; {checked}"
    return Measurement(f"{guessed}; {queue_figures}; {flooded}", attack.misses)


@contextmanager
def _count_checks(attack: Attack) -> Iterator[None]:
    """Count password checks by the guessed password; only their number matters."""
    real_pepper, real_verify = passwords._add_pepper, passwords._verify
    guesses: dict[Any, str] = {}  # the guessed password by its peppered form

    def remember(password: str, encryptor: Any) -> Any:
        peppered = real_pepper(password, encryptor)
        if password.startswith("guess at "):
            guesses[peppered] = password
        return peppered

    def count(password_hash: str | None, peppered: Any) -> bool:
        if peppered in guesses:
            attack.checked[guesses[peppered]] += 1
        return real_verify(password_hash, peppered)

    passwords._add_pepper, passwords._verify = remember, count
    try:
        with quick_hashes():
            yield
    finally:
        passwords._add_pepper, passwords._verify = real_pepper, real_verify


# ── guessing ─────────────────────────────────────────────────────────────────────────────────────


def _guess_one_name(attack: Attack, size: int) -> None:
    """The owner's client is known; everybody else guesses and must fail."""
    owner = password_form(attack.victim, attack.victim.username)
    stranger = password_form(attack.clients[0], attack.victim.username)
    first = _send(attack, owner)
    attack.expect("the owner before", first.status == 200, first)

    async def guess_once(number: int) -> None:
        spelled = "".join(
            attack.random.choice([c, c.upper(), "İ" if c == "i" else c])
            for c in attack.victim.username
        )
        await _guess(attack, number, spelled, "guess at one")
        if number % 25 == 0:
            answer = await call(app_of(attack.service), _form(owner, Product.core, number))
            attack.expect("the owner was locked out", answer.status == 200, answer)

    attack.service.run(lambda: each(size, guess_once, at_once=AT_ONCE))
    count = attack.checked["guess at one"]
    attack.expect("guesses checked", count <= 10, f"{count} for one name")
    late = _send(attack, stranger)
    attack.expect("a stranger with the right password", late.status == 429, late)
    with _start_second_process(attack.environment) as restarted:
        again = restarted.run(lambda: call(app_of(restarted), _form(stranger, Product.core, 0)))
    attack.expect("after a restart", again.status == 429, again)
    _pass_fifteen_minutes(attack)
    freed = _send(attack, stranger)
    attack.expect("fifteen minutes later", freed.status == 200, freed)


def _guess_many_names(attack: Attack, size: int) -> None:
    async def guess_once(number: int) -> None:
        name = number // GUESSES_PER_NAME
        await _guess(attack, number, f"name{name}", f"guess at name{name}")

    attack.service.run(lambda: each(size, guess_once, at_once=AT_ONCE))
    for guess, count in attack.checked.items():
        attack.expect("guesses checked", count <= 10, f"{count} of {guess}")


async def _guess(attack: Attack, number: int, username: str, password: str) -> None:
    client = attack.random.choice(attack.clients)
    product = attack.random.choice(PRODUCTS)
    if number % 4 == 0:
        body = {
            "organisation": attack.service.organisation.organisation_id,
            "username": username,
            "password": password,
        }
        headers = [(b"content-type", b"application/json"), _made_up_address(number)]
        request = Request("POST", b"/core/session", headers=headers, body=json.dumps(body).encode())
    else:
        request = _form(password_form(client, username, password), product, number)
    answer = await call(app_of(attack.service), request)
    attack.statuses[answer.status] += 1
    attack.expect("a guess", answer.status in (400, 401, 429), answer)


def _made_up_address(number: int) -> tuple[bytes, bytes]:
    return (b"x-forwarded-for", f"198.51.{number // 250 % 250}.{number % 250}".encode())


def _form(fields: dict[str, str], product: Product, number: int) -> Request:
    kind = (b"content-type", b"application/x-www-form-urlencoded")
    path, body = TOKEN_PATHS[product].encode(), urlencode(fields).encode()
    return Request("POST", path, headers=[kind, _made_up_address(number)], body=body)


def _send(attack: Attack, fields: dict[str, str]) -> Answer:
    service = attack.service
    return service.run(lambda: call(app_of(service), _form(fields, Product.core, 0)))


def _start_second_process(environment: RowEnvironment) -> Any:
    key_file = str(environment.service.settings.key_file)
    return running_service(
        environment.postgres.url, environment.new_folder("t6"), NIMBILL_KEY_FILE=key_file
    )


def _pass_fifteen_minutes(attack: Attack) -> None:
    """Move only the counters by fifteen minutes."""
    execute_sql(
        attack.environment.superuser,
        "UPDATE login_attempts SET attempts = ARRAY("
        "SELECT one - interval '15 minutes' FROM unnest(attempts) AS one)",
    )


# ── many logins at once ──────────────────────────────────────────────────────────────────────────


def _logins_at_once(attack: Attack) -> str:
    """With real hash costs: some wait, the rest are asked to retry."""
    waiting_max, pause = 0, password_hash_queue.BACKOFF_SECONDS

    async def send_all() -> list[Answer]:
        nonlocal waiting_max
        app = app_of(attack.service)
        logins_to_send: list[Awaitable[Answer]] = [
            call(app, _form(password_form(attack.clients[0], f"crowd{n}", "x"), Product.core, n))
            for n in range(LOGINS_AT_ONCE)
        ]
        logins = asyncio.ensure_future(asyncio.gather(*logins_to_send))
        while not logins.done():
            waiting_max = max(waiting_max, passwords._queue.waiting)
            await asyncio.sleep(0.001)
        return await logins

    password_hash_queue.BACKOFF_SECONDS = 0  # without a limit all of them would be hashed
    answers = attack.service.run(send_all)
    password_hash_queue.BACKOFF_SECONDS = pause
    statuses = Counter(answer.status for answer in answers)
    attack.expect("logins at once", set(statuses) <= {400, 429}, dict(statuses))
    attack.expect("logins that wait", waiting_max <= WAITING_MAX, waiting_max)
    without_retry_after = [a for a in answers if a.status == 429 and "retry-after" not in a.headers]
    attack.expect("refused without Retry-After", not without_retry_after, len(without_retry_after))
    return f"of {LOGINS_AT_ONCE} logins at once {waiting_max} waited, {statuses[429]} refused"


def _newcomers(attack: Attack) -> str:
    organisation_id = attack.service.organisation.organisation_id
    if attack.misses:
        return "newcomers not tried"  # it might wait for minutes
    logins = hashed_before_first_logins(attack.environment, organisation_id)
    for answer, before in logins:
        attack.expect("a newcomer", answer.status < 300, answer)
        attack.expect("hashed before a newcomer", before <= HASHED_BEFORE_MAX, before)
    return f"before a newcomer {max(before for _, before in logins)} hashed"


# ── a real server under a flood ──────────────────────────────────────────────────────────────────


def _flood(attack: Attack) -> str:
    """With default limits, behind a proxy, so that everybody has an address."""
    environment, service = attack.environment, attack.service
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "10000",  # requests of one user; this reader never pauses
        "NIMBILL_TRUSTED_PROXIES": "127.0.0.1",
    }
    token = service.root()["Authorization"].removeprefix("Bearer ")
    with real_server(environment.new_folder("t6") / "data", settings) as server:
        idle = _measure_others(attack, server, token, seconds=8)
        before = server.resident_bytes()
        flood = Flood(server.port, _guesses(attack))
        try:
            busy = _measure_others(attack, server, token, seconds=FLOOD_SECONDS)
        finally:
            answered = flood.end()
    for kind, waits in busy.logins.items():
        slowest = _p99(waits)
        attack.expect(f"logins of others, {kind}", slowest <= 1, f"{slowest:.2f} s")
    reads = busy.reads.p99
    attack.expect("reads", not busy.reads.failed, f"{busy.reads.failed} failed")
    attack.expect("reads", reads <= 2 * idle.reads.p99, f"{idle.reads.p99:.1f} → {reads:.1f} ms")
    grown = (busy.memory - before) / 2**20
    attack.expect("memory", grown <= MEGABYTES_MAX, f"{grown:.0f} MB more")
    wrong = set(answered) - {400, 401, 429}
    attack.expect("in the flood", not wrong and answered[429] > 0, dict(answered))
    return (
        f"flooded over {FLOODERS} connections ({_format_counts(answered)}): reads "
        f"{idle.reads.p99:.1f} → {reads:.1f} ms (99 of 100 of {busy.reads.requests}), logins "
        + ", ".join(
            f"{kind} {_p99(idle.logins[kind]) * 1000:.0f} → {_p99(waits) * 1000:.0f} ms of "
            f"{len(waits)}"
            for kind, waits in busy.logins.items()
        )
        + f", {grown:+.0f} MB"
    )


def _guesses(attack: Attack) -> list[Guess]:
    """Half at the console, half through a client; each from its own address."""
    named = {"username": f"flood.{NUMBER}", "password": "guessed 5d"}
    at_console = {"organisation": attack.service.organisation.organisation_id, **named}
    guesses = []
    for number in range(FLOODERS):
        address = f"198.51.100.{number}"
        if number % 2:
            body = json.dumps({**at_console, "username": f"flood{number}.{NUMBER}"})
            guesses.append(Guess("/core/session", "application/json", body, address))
        else:
            form = password_form(attack.clients[number // 2 % 3], f"flood{number}.", "guessed 5d")
            body = urlencode(form).replace(f"flood{number}.", f"flood{number}.{NUMBER}")
            kind = "application/x-www-form-urlencoded"
            guesses.append(Guess("/core/access_token", kind, body, address))
    return guesses


@dataclass
class OtherUse:
    """How long other clients waited, and how much memory the server used."""

    reads: WaitTimes
    logins: dict[str, list[float]]
    memory: int


def _measure_others(attack: Attack, server: RealServer, token: str, seconds: float) -> OtherUse:
    """One client reads; others log in from known places or for the first time.

    A login that is turned away retries as told; all of that counts as waiting time.
    """
    reading = start_timing(server.port, token, seconds)
    memory, until = 0, time.monotonic() + seconds
    with ThreadPoolExecutor(3) as people:
        logins = {
            kind: people.submit(_log_in_until, attack, server, log_in, until)
            for kind, log_in in LOGINS.items()
        }
        while time.monotonic() < until:
            memory = max(memory, server.resident_bytes())
            time.sleep(1)
        login_seconds = {kind: login.result() for kind, login in logins.items()}
    return OtherUse(finish_timing(reading), login_seconds, memory)


def _log_in_until(attack: Attack, server: RealServer, log_in: Login, until: float) -> list[float]:
    """Seconds until a login succeeds; the first login of a source only makes it known."""
    waits: list[float] = []
    number = 0
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        while time.monotonic() < until or not waits:
            number += 1
            began = time.monotonic()
            while (answer := log_in(attack, http, number)).status_code == 429:
                time.sleep(int(answer.headers["retry-after"]))
            attack.expect("beside the flood", answer.status_code == 200, answer.text)
            if number > 1:
                waits.append(time.monotonic() - began)
            time.sleep(SECONDS_BETWEEN_LOGINS)
    return waits


def _by_client(attack: Attack, http: httpx.Client, number: int) -> httpx.Response:
    form = password_form(attack.service.organisation, "root", PASSWORD)
    address = {"X-Forwarded-For": "203.0.113.1"}
    return http.post("/core/access_token", data=form, headers=address)


def _by_browser(attack: Attack, http: httpx.Client, number: int) -> httpx.Response:
    return http.post("/core/session", json=_as_root(attack), headers=_from("203.0.113.2"))


def _for_the_first_time(attack: Attack, http: httpx.Client, number: int) -> httpx.Response:
    http.cookies.clear()
    address = f"203.0.113.{number % 200 + 3}"
    return http.post("/core/session", json=_as_root(attack), headers=_from(address))


def _as_root(attack: Attack) -> dict[str, str]:
    organisation = attack.service.organisation.organisation_id
    return {"organisation": organisation, "username": "root", "password": PASSWORD}


def _from(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


Login = Callable[[Attack, httpx.Client, int], httpx.Response]
LOGINS: dict[str, Login] = {
    "by a client": _by_client,
    "by a browser": _by_browser,
    "for the first time": _for_the_first_time,
}


def _p99(waits: list[float]) -> float:
    """The 99th percentile."""
    return sorted(waits)[len(waits) * 99 // 100]


def _format_counts(statuses: Counter[int]) -> str:
    return ", ".join(f"{count} × {status}" for status, count in sorted(statuses.items()))


VARIANTS = [
    BrokenVariant(
        "owner-locked-out",
        "A source from which the user has logged in before is treated like any other.",
        "the owner was locked out",
        "access/login_failures.py",
        "{known_source or ''}",
        "",
    ),
    BrokenVariant(
        "queue-not-limited",
        "Any number of logins may wait for hashing.",
        "logins that wait",
        "access/password_hash_queue.py",
        """WAITING_MAX: Mapping[QueueLane, int] = {
    QueueLane.known_source: 8,
    QueueLane.unknown_source: 4,
    QueueLane.password_change: 8,
}""",
        "WAITING_MAX: Mapping[QueueLane, int] = dict.fromkeys(QueueLane, 10_000)",
        also=[
            (
                "access/password_hash_queue.py",
                """ACTIVE_MAX: Mapping[QueueLane, int] = {
    QueueLane.known_source: 12,
    QueueLane.unknown_source: 6,
    QueueLane.password_change: 9,
}""",
                "ACTIVE_MAX: Mapping[QueueLane, int] = dict.fromkeys(QueueLane, 10_000)",
            )
        ],
    ),
    BrokenVariant(
        "simultaneous-guesses-not-counted",
        "Simultaneous guesses are counted separately.",
        "guesses checked",
        "access/login_failures.py",
        """).returning(login_attempts.c.attempts)
    recent = _list_recent(count, (await db.execute(lock)).scalar_one(), now)""",
        """)
    stored = await db.execute(sa.select(login_attempts.c.attempts).where(*_match(count)))
    recent = _list_recent(count, stored.scalar() or [], now)
    await db.execute(lock)""",
    ),
    BrokenVariant(
        "sources-not-ranked",
        "A source with many attempts is queued like a new one.",
        "a newcomer",
        "access/password_hash_queue.py",
        "return QueueEntry(lane, source, self.attempts.count(source).bit_length())",
        "return QueueEntry(lane, source, 0)",
    ),
    BrokenVariant(
        "spellings-counted-separately",
        "Each spelling of a name has ten guesses of its own.",
        "guesses checked",
        "identity/login/grants.py",
        "name = user.username if user else username",
        "name = username",
        also=[("access/login_failures.py", "{name.lower()}", "{name}")],
    ),
]
