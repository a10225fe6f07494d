"""No token is valid for more than five seconds after it expires, whatever the clock does.

Tokens are issued at moments over the next eighty years: ends of months, leap days, around 2^31 and
2^32 seconds. They are read before and after, cached or not, while the clock goes forward, back, and
jumps by an hour. Invoices are created and a month is closed a second before and after days, months
and years end in Japan and by UTC. That waiting uses the monotonic clock is a rule of the code base.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import time_machine

from nimbill.access.tokens import Tokens
from nimbill.application.installed import PRODUCTS, installed_issuers
from tests.access.other_verifiers import nimbill_accepts
from tests.identity.login.token_requests import (
    client_form,
    decode_claims,
    is_token_valid,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.proof.broken_variants import BrokenVariant
from tests.proof.invoice_moments import check_invoice_moments
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.quick_hashes import quick_hashes
from tests.running_service import Service

TARGET = (
    "at any moment until 2106 and with any clock jump: a token is valid from 5 s before it "
    "was issued until less than 5 s after it expires; refresh tokens and rate limits keep "
    "their times; an invoice keeps its month and is issued on the day in Japan"
)
QUICK = 200
FULL = 20_000
SECONDS_MAX = 120

LEEWAY = 5
HTTP_EVERY = 40

MOMENTS = (
    datetime(2026, 12, 31, 14, 59, 59, tzinfo=UTC),  # the end of a year in Japan
    datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2028, 2, 28, 23, 59, 59, tzinfo=UTC),
    datetime(2028, 2, 29, 12, 0, 0, tzinfo=UTC),
    datetime(2028, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2038, 1, 18, 3, 14, 8, tzinfo=UTC),  # expires after 2^31
    datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(2100, 2, 28, 23, 59, 59, tzinfo=UTC),  # not a leap year
    datetime(2106, 2, 7, 6, 28, 15, tzinfo=UTC),  # 32 bits
)


@dataclass
class ClockTrials:
    service: Service
    random: Random
    tried: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def expect(self, what: str, passed: bool) -> None:
        self.tried[what.partition(":")[0]] += 1
        if not passed:
            self.misses.append(what)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("T8")
    trials = ClockTrials(service, environment.random("T8"))
    for _ in range(size):
        _access_token(trials)
    _over_http(trials, max(3, size // HTTP_EVERY // 4))
    _refresh_tokens(trials)
    for what, passed in check_invoice_moments(environment):
        trials.expect(what, passed)
    with quick_hashes():
        _throttle(trials)
    tried = ", ".join(f"{count} {what}" for what, count in sorted(trials.tried.items()))
    return Measurement(f"{tried}: {len(trials.misses)} wrong", trials.misses)


def _moment(random: Random) -> datetime:
    """Half of them special moments, half random ones."""
    if random.random() < 0.5:
        return random.choice(MOMENTS)
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=random.uniform(0, 80 * 3.15e7))


def _random_span(random: Random, life: int) -> float:
    """Seconds from issue to reading."""
    edges = [-3600, -6, -5.001, -5, -4, 0, 1, life - 1, life, life + 4.999, life + 5, life + 5.5]
    far = [life + 6, life + 3600, 10 * life, -10 * life]
    near = [random.uniform(-10, 10), life + random.uniform(-10, 10)]
    return random.choice([*edges, *far, *near])


def _access_token(trials: ClockTrials) -> None:
    service, random = trials.service, trials.random
    product = random.choice(PRODUCTS)
    life = installed_issuers(service.settings)[product].lifetime_seconds
    organisation = service.organisation
    moment = _moment(random)
    keys = {
        key.kid: key
        for key_product in PRODUCTS
        for key in service.resources.tokens.list_public_keys(key_product)
    }
    tokens = Tokens(keys, installed_issuers(service.settings))
    with time_machine.travel(moment, tick=False):
        token, _ = tokens.issue(
            product,
            organisation_id=organisation.organisation_id,
            user_id=organisation.root_user_id,
            client_id=organisation.client_id,
            epoch=1,
            subject_type="client",
        )
        trials.expect("tokens read at issue: refused", nimbill_accepts(tokens, token))
    if random.random() < 0.5:  # without a cache
        tokens = Tokens(keys, installed_issuers(service.settings))
    for _ in range(3):  # the clock jumps back and forth
        span = _random_span(random, life)
        with time_machine.travel(moment + timedelta(seconds=span), tick=False):
            accepted = nimbill_accepts(tokens, token)
        late, early = span >= life + LEEWAY, span < -LEEWAY - 1
        inside = -LEEWAY + 1 <= span < life + LEEWAY - 1
        wrong = (accepted and (late or early)) or (not accepted and inside)
        when = f"{span:+.3f} s after {moment}, life {life}"
        trials.expect(f"tokens read: {'accepted' if accepted else 'refused'} {when}", not wrong)


def _over_http(trials: ClockTrials, count: int) -> None:
    """The same through the complete service, which has its own clock reads."""
    service, life = trials.service, 86_400
    for _ in range(count):
        moment = trials.random.choice(MOMENTS)
        with time_machine.travel(moment, tick=False):
            token = issue_tokens(service, client_form(service.organisation))["access_token"]
            trials.expect("calls at issue: refused", is_token_valid(service, token))
        end = datetime.fromtimestamp(decode_claims(token)["exp"], UTC)
        for span, expected in ((4.9, True), (5, False), (3600, False), (-life - 3600, False)):
            with time_machine.travel(end + timedelta(seconds=span), tick=False):
                found = is_token_valid(service, token)
            trials.expect(f"calls: {found} {span:+} s from its end {end}", found == expected)


def _refresh_tokens(trials: ClockTrials) -> None:
    service, organisation = trials.service, trials.service.organisation
    for moment in MOMENTS:
        for hours, expected in ((11.99, 200), (12.01, 400), (-1, 200), (7 * 24 + 0.01, 400)):
            with time_machine.travel(moment, tick=False):
                token = issue_tokens(service, client_form(organisation))["refresh_token"]
            with time_machine.travel(moment + timedelta(hours=hours), tick=False):
                found = request_token(service, refresh_form(organisation, token)).status_code
            when = f"{hours:+} h after {moment}"
            trials.expect(f"refreshes: {found} {when}", found == expected)


def _throttle(trials: ClockTrials) -> None:
    """Ten wrong guesses, then the clock jumps: nobody waits longer than fifteen minutes."""
    service = trials.service
    for minutes, expected in ((1, 429), (15.1, 200), (60, 200), (-60, 200)):
        service.organisation = service.new_organisation("T8")
        organisation = service.organisation
        moment = trials.random.choice(MOMENTS)
        with time_machine.travel(moment, tick=False):
            for _ in range(10):
                request_token(service, password_form(organisation, "root", "guessed 5d"))
        with time_machine.travel(moment + timedelta(minutes=minutes), tick=False):
            found = request_token(service, password_form(organisation, "root")).status_code
        trials.expect(f"logins: {found} {minutes:+} min after {moment}", found == expected)


VARIANTS = [
    BrokenVariant(
        "expiry-of-cached-token-ignored",
        "The expiry of a cached token is not checked.",
        "tokens read: accepted",
        "access/tokens.py",
        "if claims is None:",
        """if claims is not None:
            return claims
        if claims is None:""",
    ),
    BrokenVariant(
        "long-leeway",
        "A token is accepted for a minute after it expires.",
        "tokens read: accepted",
        "access/tokens.py",
        "LEEWAY_SECONDS = 5",
        "LEEWAY_SECONDS = 60",
    ),
    BrokenVariant(
        "one-second-more",
        "A token is accepted in the sixth second after it expires.",
        "tokens read: accepted",
        "access/tokens.py",
        "if now >= claims.expires_at",
        "if now > claims.expires_at",
    ),
]
