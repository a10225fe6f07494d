"""No forged or malformed token is accepted; each is answered 401.

More than sixty are made by hand, signed by the real key where that helps the attacker, and many
valid tokens are mutated. Two libraries, used as documented, accept everything that we accept.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from nimbill.application.installed import installed_issuers
from nimbill.foundation.product import Product
from tests.access.forged_tokens import build_invalid_tokens, build_token_forge
from tests.access.other_verifiers import joserfc_accepts, nimbill_accepts, pyjwt_accepts
from tests.access.token_mutations import mutate_token
from tests.proof.asgi_calls import Answer, Request, app_of, call, each
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "60 odd tokens made by hand and 100,000 mutated ones: 0 accepted, each 401 with "
    "WWW-Authenticate, 0 5xx, at most 5 ms each; we accept nothing that two libraries refuse"
)
QUICK = 1_000
FULL = 100_000
SECONDS_MAX = 120

ODD_MIN = 60
AT_ONCE = 4
MILLISECONDS_MAX = 5
READ_TIMES = 5
PATHS = (b"/m/core/billinggroup", b"/m/u/users", b"/m/auth/rbac/permissions", b"/m/core/audit")


@dataclass
class TokenTrials:
    statuses: Counter[int] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def note(self, what: str, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        challenged = answer.headers.get("www-authenticate") == "Bearer"
        if answer.status != 401 or not challenged:
            self.misses.append(f"{what}: answered {answer.status}")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T1")
    tried = TokenTrials()
    odd = build_invalid_tokens(service)
    if len(odd) < ODD_MIN:
        tried.misses.append(f"only {len(odd)} odd tokens")
    service.run(lambda: _knock_with_odd(environment, tried, odd))
    service.run(lambda: _knock_with_mutated(environment, tried, size))
    alone = _differences(environment, odd, size, tried)
    slow = _milliseconds_of_the_slowest(environment, size)
    if size >= FULL and slow > MILLISECONDS_MAX:
        tried.misses.append(f"refusing one takes {slow:.1f} ms")
    answered = ", ".join(f"{count} × {status}" for status, count in sorted(tried.statuses.items()))
    said = (
        f"{len(odd)} odd and {size} mutated tokens answered {answered}; accepted by us alone: "
        f"{alone}; the dearest refusal costs {slow:.2f} ms"
    )
    return Measurement(said, tried.misses)


def _request(path: bytes, token: str) -> Request:
    return Request("GET", path, headers=[(b"authorization", f"Bearer {token}".encode())])


async def _knock_with_odd(
    environment: RowEnvironment, tried: TokenTrials, odd: dict[str, str]
) -> None:
    app = app_of(environment.service)
    for name, token in odd.items():
        for path in PATHS[:1] if "other product" in name or "portal" in name else PATHS:
            tried.note(f"odd token accepted, {name}", await call(app, _request(path, token)))
    sound = await call(app, _request(PATHS[0], build_token_forge(environment.service).token()))
    if sound.status != 200:
        tried.misses.append(f"the sound token they are made from is answered {sound.status}")


async def _knock_with_mutated(environment: RowEnvironment, tried: TokenTrials, size: int) -> None:
    app, random = app_of(environment.service), environment.random("T1")
    real = build_token_forge(environment.service)

    async def one(number: int) -> None:
        token = real.token(jti=f"tok_{number % 50}")
        changed = mutate_token(random, token)
        while changed == token:  # a mutation that changed nothing does not count
            changed = mutate_token(random, token)
        answer = await call(app, _request(random.choice(PATHS), changed))
        tried.note(f"mutated token accepted, {changed}", answer)

    await each(size, one, at_once=AT_ONCE)


def _differences(
    environment: RowEnvironment, odd: dict[str, str], size: int, tried: TokenTrials
) -> int:
    """Tokens with odd or random claims that we accept and one of the two libraries refuses."""
    service, random = environment.service, environment.random("T1 claims")
    tokens, issuer = (
        service.resources.tokens,
        installed_issuers(service.settings)[Product.core].address,
    )
    real = build_token_forge(service)
    alone = 0
    times = [0, 1, -1, 4, 5, 6, -4, -5, -6, 60, -60, 86_400, -86_400, 10**12]
    drawn = []
    for _ in range(size // 10):
        now = int(time.time())
        changed = {name: now + random.choice(times) for name in ("iat", "exp", "nbf")}
        kept = {name: value for name, value in changed.items() if random.random() < 0.5}
        drawn.append(real.token(claims={**real.claims, **kept}))
    for token in [*odd.values(), *drawn]:
        if nimbill_accepts(tokens, token) and not (
            pyjwt_accepts(tokens, token, Product.core, issuer)
            and joserfc_accepts(tokens, token, Product.core, issuer)
        ):
            alone += 1
            tried.misses.append(f"accepted by us alone: {token}")
    return alone


def _milliseconds_of_the_slowest(environment: RowEnvironment, size: int) -> float:
    """CPU time of the most expensive token, over all odd and some mutated ones.

    Each is read several times and the best time counts, measured for this thread.
    """
    service, random = environment.service, environment.random("T1 times")
    token = build_token_forge(service).token()
    mutants = [mutate_token(random, token) for _ in range(size // 100)]
    return 1000 * max(
        min(_seconds(service, one) for _ in range(READ_TIMES))
        for one in (*build_invalid_tokens(service).values(), *mutants)
    )


def _seconds(service: Service, token: str) -> float:
    began = time.thread_time()
    nimbill_accepts(service.resources.tokens, token)
    return time.thread_time() - began
