"""No request, however hostile, is answered 5xx, and every answer is one that is documented.

Requests made from the OpenAPI document by schemathesis, and sound requests of every route made
unsound by our own hand, as root, as a subuser with one action and as nobody, straight into the
application: that is some three times quicker than through a server, and any bytes can be sent.
Records that are used after they were deleted, or by another organisation, are row I1's.
"""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from unittest.mock import patch

from argon2 import PasswordHasher
from litestar.types import ASGIApp

from nimbill.access import passwords
from nimbill.foundation.vocabulary import Product
from tests.contract.superuser import Superuser, behind_the_walls
from tests.proof.asgi_calls import Request, app_of, as_headers, call, each
from tests.proof.documented_answers import SECONDS_MAX as SECONDS_PER_ANSWER_MAX
from tests.proof.documented_answers import Document
from tests.proof.generated_requests import generated_requests
from tests.proof.hostile_requests import unsound
from tests.proof.row import Measurement
from tests.proof.sound_requests import Seeds, seeds_of
from tests.proof.stage import Stage, print_progress
from tests.running_service import Service

TARGET = (
    "1,000,000 requests (20,000 in make test): 0 answered 5xx, 0 that are not documented or break "
    "their schema, 0 that repeat what was sent, none slower than 2 s (in make test: its watchdog)"
)
QUICK = 20_000
FULL = 1_000_000  # some hours; --size 100000 for a first look
SECONDS_MAX = 1800

GENERATED_PART = 10  # one request in so many is made by schemathesis
PER_TENANT = 500  # then a new organisation, so that lists stay short
AT_ONCE = 8
ENOUGH_MISSES = 20
SECONDS_MAX_IN_FULL = 2.0


@dataclass
class Fuzz:
    stage: Stage
    app: ASGIApp
    document: Document
    statuses: Counter[int] = field(default_factory=Counter)
    succeeded: set[tuple[str, str]] = field(default_factory=set)
    slowest: float = 0.0
    misses: list[str] = field(default_factory=list)
    enough: bool = False  # so much is wrong that more would tell nothing new

    @property
    def sent(self) -> int:
        return sum(self.statuses.values())

    async def send(self, request: Request) -> None:
        if self.enough:
            return
        try:
            answer = await call(self.app, request)
        except Exception:  # noqa: BLE001  # nothing may come out of the application but answers
            self.misses.append(f"{_shown(request)}: raised\n{traceback.format_exc()[-600:]}")
            return
        self.statuses[answer.status] += 1
        self.slowest = max(self.slowest, answer.seconds)
        if answer.status < 300 and answer.path_template:
            self.succeeded.add((request.method.lower(), answer.path_template))
        complaints = list(self.document.complaints(request, answer))
        if complaints:
            logged = self.stage.logged(answer.headers["x-request-id"])
            said = f"{'; '.join(complaints)}: {answer.body[:200]!r} {logged}"
            self.misses.append(f"{said}, asked by {_shown(request)}")
        # where one took too long the next would too
        slow = answer.seconds > SECONDS_PER_ANSWER_MAX
        self.enough = slow or len(self.misses) >= ENOUGH_MISSES


def measure(stage: Stage, size: int) -> Measurement:
    service = stage.service
    fuzz = Fuzz(stage, app_of(service), Document(json.loads(service.app.state.openapi_document)))
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # requests, not hashes
    with (
        patch.object(passwords, "_hasher", cheap),
        behind_the_walls(service, stage.superuser) as superuser,
    ):
        generated = _send_generated(service, superuser, fuzz, stage.random("R1"), size)
        number = 0
        while fuzz.sent < size and not fuzz.enough:
            number += 1
            _send_hostile(service, superuser, fuzz, stage.random(f"R1 {number}"))
            if number % 50 == 0:
                print_progress(f"R1: {fuzz.sent} requests, {len(fuzz.misses)} misses")
    never = fuzz.document.operations() - fuzz.succeeded if not fuzz.enough else set()
    fuzz.misses += [
        f"never answered with success: {method} {path}" for method, path in sorted(never)
    ]
    if size >= FULL and fuzz.slowest > SECONDS_MAX_IN_FULL:
        fuzz.misses.append(f"one answer took {fuzz.slowest:.1f} s")
    return Measurement(_said(fuzz, generated), fuzz.misses)


def _said(fuzz: Fuzz, generated: int) -> str:
    shares = ", ".join(
        f"{status}: {count}" for status, count in sorted(fuzz.statuses.items()) if count
    )
    return (
        f"{fuzz.sent} requests, {generated} of them by schemathesis; answers {shares}; slowest "
        f"{fuzz.slowest * 1000:.0f} ms; {len(fuzz.succeeded)} operations reached with success"
    )


def _send_hostile(service: Service, superuser: Superuser, fuzz: Fuzz, random: Random) -> None:
    seeds = seeds_of(service, superuser, random)
    requests = [seeds.pick(random).request() for _ in seeds.drafts]
    requests += [unsound(seeds.pick(random), random) for _ in range(PER_TENANT - len(requests))]
    random.shuffle(requests)
    _send_all(service, fuzz, requests)


def _send_generated(
    service: Service, superuser: Superuser, fuzz: Fuzz, random: Random, size: int
) -> int:
    """With a token, for the most part; the document does not say what is in one."""
    document = json.loads(service.app.state.openapi_document)
    per_operation = max(2, size // GENERATED_PART // len(fuzz.document.operations()))
    requests = list(
        generated_requests(document, per_operation=per_operation, number=random.randrange(10**9))
    )
    seeds = seeds_of(service, superuser, random)
    _send_all(service, fuzz, [_with_token(request, seeds, random) for request in requests])
    return len(requests)


def _with_token(request: Request, seeds: Seeds, random: Random) -> Request:
    callers = seeds.callers[random.choice((Product.core, Product.core, Product.portal))]
    who = random.choices(("root", "one action", "nobody"), (14, 4, 2))[0]
    if request.path.endswith(b"/session") and who == "root":
        who = "admin"
    headers = [pair for pair in request.headers if pair[0] != b"authorization"]
    return replace(request, headers=[*headers, *as_headers(callers[who])])


def _send_all(service: Service, fuzz: Fuzz, requests: Sequence[Request]) -> None:
    async def send(number: int) -> None:
        await fuzz.send(requests[number])

    async def all_of_them() -> None:
        await each(len(requests), send, at_once=AT_ONCE)

    service.run(all_of_them)


def _shown(request: Request) -> str:
    """Enough to send it again by hand."""
    headers = [pair for pair in request.headers if pair[0] != b"authorization"]
    query = request.query[:80]
    return f"{request.method} {request.path[:120]!r}?{query!r} {headers} {request.body[:200]!r}"
