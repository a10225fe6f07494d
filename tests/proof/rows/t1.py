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
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service

TARGET = (
    "60 invalid tokens made by hand and 100,000 mutated ones: 0 accepted, each 401 with "
    "WWW-Authenticate, 0 5xx, at most 5 ms each; we accept nothing that two libraries refuse"
)
QUICK = 1_000
FULL = 100_000
SECONDS_MAX = 120

INVALID_MIN = 60
AT_ONCE = 4
MILLISECONDS_MAX = 5
READINGS = 5
PATHS = (b"/m/core/billinggroup", b"/m/u/users", b"/m/auth/rbac/permissions", b"/m/core/audit")


@dataclass
class TokenTrials:
    statuses: Counter[int] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def check_refused(self, what: str, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        challenged = answer.headers.get("www-authenticate") == "Bearer"
        if answer.status != 401 or not challenged:
            self.misses.append(f"{what}: answered {answer.status}")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T1")
    trials = TokenTrials()
    invalid = build_invalid_tokens(service)
    if len(invalid) < INVALID_MIN:
        trials.misses.append(f"only {len(invalid)} invalid tokens")
    service.run(lambda: _send_invalid(environment, trials, invalid))
    service.run(lambda: _send_mutated(environment, trials, size))
    accepted_by_us_alone = _differences(environment, invalid, size, trials)
    slow = _milliseconds_of_the_slowest(environment, size)
    if size >= FULL and slow > MILLISECONDS_MAX:
        trials.misses.append(f"refusing one takes {slow:.1f} ms")
    answered = ", ".join(f"{count} × {status}" for status, count in sorted(trials.statuses.items()))
    figures = (
        f"{len(invalid)} invalid and {size} mutated tokens answered {answered}; accepted by us "
        f"alone: {accepted_by_us_alone}; the slowest refusal takes {slow:.2f} ms"
    )
    return Measurement(figures, trials.misses)


def _request(path: bytes, token: str) -> Request:
    return Request("GET", path, headers=[(b"authorization", f"Bearer {token}".encode())])


async def _send_invalid(
    environment: RowEnvironment, trials: TokenTrials, invalid: dict[str, str]
) -> None:
    app = app_of(environment.service)
    for name, token in invalid.items():
        for path in PATHS[:1] if "other product" in name or "portal" in name else PATHS:
            trials.check_refused(
                f"invalid token accepted, {name}", await call(app, _request(path, token))
            )
    response = await call(app, _request(PATHS[0], build_token_forge(environment.service).token()))
    if response.status != 200:
        trials.misses.append(f"the valid token they are made from is answered {response.status}")


async def _send_mutated(environment: RowEnvironment, trials: TokenTrials, size: int) -> None:
    app, random = app_of(environment.service), environment.random("T1")
    forge = build_token_forge(environment.service)

    async def send_mutated(number: int) -> None:
        token = forge.token(jti=f"tok_{number % 50}")
        changed = mutate_token(random, token)
        while changed == token:  # a mutation that changed nothing does not count
            changed = mutate_token(random, token)
        answer = await call(app, _request(random.choice(PATHS), changed))
        trials.check_refused(f"mutated token accepted, {changed}", answer)

    await each(size, send_mutated, at_once=AT_ONCE)


def _differences(
    environment: RowEnvironment, invalid: dict[str, str], size: int, trials: TokenTrials
) -> int:
    """Tokens with invalid or random claims that we accept and one of the two libraries refuses."""
    service, random = environment.service, environment.random("T1 claims")
    tokens, issuer = (
        service.resources.tokens,
        installed_issuers(service.settings)[Product.core].address,
    )
    forge = build_token_forge(service)
    accepted_by_us_alone = 0
    times = [0, 1, -1, 4, 5, 6, -4, -5, -6, 60, -60, 86_400, -86_400, 10**12]
    random_tokens = []
    for _ in range(size // 10):
        now = int(time.time())
        changed = {name: now + random.choice(times) for name in ("iat", "exp", "nbf")}
        changed_claims = {name: value for name, value in changed.items() if random.random() < 0.5}
        random_tokens.append(forge.token(claims={**forge.claims, **changed_claims}))
    for token in [*invalid.values(), *random_tokens]:
        if nimbill_accepts(tokens, token) and not (
            pyjwt_accepts(tokens, token, Product.core, issuer)
            and joserfc_accepts(tokens, token, Product.core, issuer)
        ):
            accepted_by_us_alone += 1
            trials.misses.append(f"accepted by us alone: {token}")
    return accepted_by_us_alone


def _milliseconds_of_the_slowest(environment: RowEnvironment, size: int) -> float:
    """CPU time of the most expensive token, over all invalid and some mutated ones.

    Each is read several times and the best time counts, measured for this thread.
    """
    service, random = environment.service, environment.random("T1 times")
    token = build_token_forge(service).token()
    mutants = [mutate_token(random, token) for _ in range(size // 100)]
    return 1000 * max(
        min(_seconds(service, mutant) for _ in range(READINGS))
        for mutant in (*build_invalid_tokens(service).values(), *mutants)
    )


def _seconds(service: Service, token: str) -> float:
    began = time.thread_time()
    nimbill_accepts(service.resources.tokens, token)
    return time.thread_time() - began


VARIANTS = [
    BrokenVariant(
        "duplicate-claim",
        "If a claim occurs twice, the last one counts.",
        "with a key twice",
        "access/tokens.py",
        "return value if len(value) == len(pairs) else _refuse()",
        "return value",
    ),
    BrokenVariant(
        "header-keys-ignored",
        "Unknown keys in the token header are ignored.",
        "invalid token accepted, jwk in the header",
        "access/tokens.py",
        "if set(header) !=",
        "if not set(header) >=",
    ),
    BrokenVariant(
        "signature-not-checked",
        "The signature is decoded and not checked.",
        "invalid token accepted, signed by a key of the forger",
        "access/tokens.py",
        "key.public_key, algorithms=[ALGORITHM]",
        'options={"verify_signature": False}',
    ),
    BrokenVariant(
        "typ-ignored",
        "The token type in the header is not checked.",
        "invalid token accepted, typ JWT",
        "access/tokens.py",
        '} or header["typ"] != ACCESS_TYPE',
        "}",
    ),
]
