"""A failed login does not reveal what was wrong, by its text, its work or its time.

Unknown and known names, clients and organisations at every login endpoint. Responses are compared
byte by byte and password hashes are counted; the full run also compares response times.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import httpx
from argon2 import PasswordHasher

from nimbill.access import passwords
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.identity.login.token_requests import (
    ApiUser,
    client_form,
    create_user,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.legacy.agents import AgentLogin, create_agent  # version 3
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.quick_hashes import quick_hashes
from tests.running_service import Service
from tests.subusers import create_subuser
from tests.temporary_database import execute_sql

TARGET = (
    "unknown or wrong: the same status, bytes and number of hashes; over 1,000 timings each, "
    "medians differ by at most 5 % and not more than by chance (Mann–Whitney p > 0.01)"
)
QUICK = 3
FULL = 1_000
SECONDS_MAX = 60

WRONG = "guessed 5d"
DIFFERENCE_MAX = 0.05
CHANCE_MIN = 0.01
GUESSES_BEFORE_FORGETTING = 4
TIMED = ("user at core", "client at core", "console")

SendLogin = Callable[[], httpx.Response]
Group = Mapping[str, SendLogin]  # what is wrong, and the request


@dataclass(frozen=True)
class Cast:
    """Users, clients and organisations to be guessed."""

    service: Service
    organisation: NewOrganisation
    user: ApiUser
    without_password: str
    other_organisation: NewOrganisation


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    with quick_hashes() if size <= QUICK else nullcontext():
        cast = _cast(service)
    groups = _groups(cast)
    misses, compared = [], 0
    for name, group in groups.items():
        for _ in range(min(size, QUICK)):
            compared += len(group)
            misses += _compare_responses(name, group)
            _forget_guesses(environment)
    with quick_hashes():
        misses += _compare_throttled(cast)
    _forget_guesses(environment)
    figures = [f"{compared} refusals in {len(groups)} groups compared"]
    if size > QUICK:
        for name in TIMED:
            time_figures, slow = _compare_times(environment, name, groups[name], size)
            figures.append(time_figures)
            misses += slow
    return Measurement("; ".join(figures), misses)


def _cast(service: Service) -> Cast:
    service.organisation = service.new_organisation("T5")
    return Cast(
        service,
        service.organisation,
        create_user(service, "some.body"),
        create_subuser(service).username,
        service.new_organisation("T5 elsewhere"),
    )


# ── refused logins ───────────────────────────────────────────────────────────────────────────────


def _groups(cast: Cast) -> dict[str, Group]:
    """Within a group every response must be equal."""
    groups: dict[str, Group] = {
        "console": _at_the_console(cast),
        "refresh": _refreshing(cast),
        "agent": _agents(cast),  # version 3
    }
    for product in PRODUCTS:
        groups[f"user at {product}"] = _users(cast, product)
        groups[f"client at {product}"] = _clients(cast, product)
    return groups


def _users(cast: Cast, product: Product) -> Group:
    def send(username: str, password: str) -> SendLogin:
        return lambda: request_token(
            cast.service, password_form(cast.organisation, username, password), product
        )

    return {
        "unknown name": send("nobody.here", WRONG),
        "wrong password": send(cast.user.username, WRONG),
        "user without a password": send(cast.without_password, WRONG),
        "the user's id for a name": send(cast.user.user_id, WRONG),
    }


def _clients(cast: Cast, product: Product) -> Group:
    def send(**wrong: str) -> SendLogin:
        return lambda: request_token(cast.service, client_form(cast.organisation, **wrong), product)

    return {
        "unknown client": send(client_id="cl_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "wrong secret": send(client_secret=WRONG),
        "another client's secret": send(client_secret=cast.other_organisation.client_secret),
    }


def _agents(cast: Cast) -> Group:  # version 3
    """Agents of stacks, which log in with a stack id and its token."""
    right, deleted = (
        create_agent(cast.service, cast.organisation, stack_status=status)
        for status in ("CREATE_COMPLETE", "DELETE_COMPLETE")
    )

    def send(agent: AgentLogin) -> SendLogin:
        return lambda: request_token(cast.service, agent.form, LEGACY)

    return {
        "unknown stack": send(AgentLogin("stk_aaaaaaaaaaaaaaaaaaaaaaaaaa", WRONG)),
        "wrong token": send(AgentLogin(right.stack_id, WRONG)),
        "another stack's token": send(AgentLogin(right.stack_id, deleted.auth_token)),
        "a deleted stack": send(deleted),
    }


def _at_the_console(cast: Cast) -> Group:
    def send(organisation: str, username: str) -> SendLogin:
        body = {"organisation": organisation, "username": username, "password": WRONG}
        return lambda: cast.service.http.post("/core/session", json=body)

    here = cast.organisation.organisation_id
    return {
        "unknown organisation": send("org_aaaaaaaaaaaaaaaaaaaaaaaaaa", cast.user.username),
        "unknown name": send(here, "nobody.here"),
        "wrong password": send(here, cast.user.username),
        "user without a password": send(here, cast.without_password),
        "user of another organisation": send(
            cast.other_organisation.organisation_id, cast.user.username
        ),
    }


def _refreshing(cast: Cast) -> Group:
    foreign = issue_tokens(cast.service, client_form(cast.other_organisation))["refresh_token"]
    portal = issue_tokens(cast.service, client_form(cast.organisation), Product.portal)[
        "refresh_token"
    ]

    def send(token: str) -> SendLogin:
        return lambda: request_token(cast.service, refresh_form(cast.organisation, token))

    return {
        "unknown token": send("nb_rt_" + "A" * 43),
        "another client's token": send(foreign),
        "another product's token": send(portal),
    }


# ── responses and hashes ─────────────────────────────────────────────────────────────────────────


def _compare_responses(name: str, group: Group) -> list[str]:
    shown: dict[str, Any] = {}
    for what, send in group.items():
        with _counting_hashes() as hashes:
            answer = send()
        shown[what] = (*_describe(answer), f"{len(hashes)} hashes")
    (first, expected), *others = shown.items()
    wrong = [
        f"distinguishable, {name}: {first} by {expected_fact}, {what} by {fact}"
        for what, answered in others
        for expected_fact, fact in zip(expected, answered, strict=True)
        if expected_fact != fact
    ]
    accepted = [
        f"accepted, {name}: {what}"
        for what, response_facts in shown.items()
        if response_facts[0] < 400
    ]
    return wrong + accepted


def _describe(answer: httpx.Response) -> tuple[int, str, str]:
    """Everything except what differs between any two responses."""
    body = answer.json()
    body.pop("instance", None)
    headers = {k: v for k, v in answer.headers.items() if k not in ("x-request-id", "retry-after")}
    return answer.status_code, json.dumps(body), json.dumps(headers)


@contextmanager
def _counting_hashes() -> Iterator[list[str]]:
    real, verified = passwords._hasher, []

    class CountingPasswordHasher(PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002
            verified.append(str(hash)[:24])
            return real.verify(hash, password)

    passwords._hasher = CountingPasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    try:
        yield verified
    finally:
        passwords._hasher = real


def _compare_throttled(cast: Cast) -> list[str]:
    names = ("nobody.here", cast.user.username, cast.without_password)
    answers = {}
    for name in names:
        for _ in range(11):
            answers[name] = request_token(
                cast.service, password_form(cast.organisation, name, WRONG)
            )
    response_facts = {name: _describe(answer) for name, answer in answers.items()}
    if {facts[0] for facts in response_facts.values()} == {429} and len(
        set(response_facts.values())
    ) == 1:
        return []
    return [f"distinguishable when throttled: {response_facts}"]


def _forget_guesses(environment: RowEnvironment) -> None:
    execute_sql(environment.superuser, "DELETE FROM login_attempts")


# ── response times ───────────────────────────────────────────────────────────────────────────────


def _compare_times(
    environment: RowEnvironment, name: str, group: Group, size: int
) -> tuple[str, list[str]]:
    """Each way in turn, in random order, so that drift affects all equally."""
    random = environment.random(f"T5 {name}")
    durations: dict[str, list[float]] = {what: [] for what in group}
    for number in range(size):
        if number % GUESSES_BEFORE_FORGETTING == 0:
            _forget_guesses(environment)
        for what in random.sample(sorted(group), len(group)):
            began = time.perf_counter()
            group[what]()
            durations[what].append(time.perf_counter() - began)
    (first, reference), *others = durations.items()
    figures, misses = [], []
    for what, seconds in others:
        differs = median(seconds) / median(reference) - 1
        chance = _mann_whitney(reference, seconds)
        figures.append(f"{what} {differs:+.1%} (p = {chance:.3f})")
        if abs(differs) > DIFFERENCE_MAX:
            misses.append(
                f"distinguishable by time, {name}: {what} takes {differs:+.1%} of {first}"
            )
        if chance <= CHANCE_MIN:
            misses.append(
                f"distinguishable by time, {name}: {what}, {differs:+.2%}, p = {chance:.4f}"
            )
    return f"{name}: {median(reference) * 1000:.1f} ms {first}, " + ", ".join(figures), misses


def _mann_whitney(first: list[float], second: list[float]) -> float:
    """Probability that equal distributions differ this much (normal approximation)."""
    ranked = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    rank_sum = sum(rank for rank, (_, which) in enumerate(ranked, start=1) if which == 0)
    n, m = len(first), len(second)
    u = rank_sum - n * (n + 1) / 2
    z = (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(abs(z) / math.sqrt(2))


VARIANTS = [
    BrokenVariant(
        "unknown-name-not-hashed",
        "An unknown name is refused without hashing.",
        "distinguishable, console",
        "access/passwords.py",
        'takes the same time as a known one."""',
        """takes no time.\"""
    if password_hash is None:
        return False""",
    ),
    BrokenVariant(
        "unknown-name-shown",
        "The error for an unknown name differs from that for a wrong password.",
        "distinguishable, user at core",
        "identity/login/grants.py",
        "if user is None:",
        """if user is None:
        async with transaction(resources.engine, client.scope.organisation_id) as db:
            known = await users.find_user_by_name(db, client.scope, username)
        if known is None:
            raise TokenRequestError("invalid_grant", "There is no such user.")""",
    ),
    BrokenVariant(
        "unknown-organisation-shown",
        "The console says that an organisation does not exist.",
        "distinguishable, console: unknown organisation by",
        "identity/login/session_routes.py",
        "await wait_until_next_step(began)",
        """await wait_until_next_step(began)
        if scope == UNKNOWN_ORGANISATION:
            raise NotAuthenticated("credentials_wrong", "There is no such organisation.")""",
    ),
]
