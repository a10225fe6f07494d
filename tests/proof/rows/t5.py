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
from nimbill.legacy.audiences import LEGACY
from tests.identity.login.token_requests import (
    ApiUser,
    client_form,
    create_user,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.legacy.agents import AgentLogin, create_agent
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

Asked = Callable[[], httpx.Response]
Group = Mapping[str, Asked]  # what is wrong, and the request


@dataclass(frozen=True)
class Cast:
    """Users, clients and organisations to be guessed."""

    service: Service
    who: NewOrganisation
    user: ApiUser
    without_password: str
    elsewhere: NewOrganisation


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    with quick_hashes() if size <= QUICK else nullcontext():
        cast = _cast(service)
    groups = _groups(cast)
    misses, compared = [], 0
    for name, group in groups.items():
        for _ in range(min(size, QUICK)):
            compared += len(group)
            misses += _different(name, group)
            _forget_guesses(environment)
    with quick_hashes():
        misses += _throttled_alike(cast)
    _forget_guesses(environment)
    said = [f"{compared} refusals in {len(groups)} groups compared"]
    if size > QUICK:
        for name in TIMED:
            told, slow = _timed(environment, name, groups[name], size)
            said.append(told)
            misses += slow
    return Measurement("; ".join(said), misses)


def _cast(service: Service) -> Cast:
    service.organisation = service.new_organisation("T5")
    return Cast(
        service,
        service.organisation,
        create_user(service, "some.body"),
        create_subuser(service).username,
        service.new_organisation("T5 elsewhere"),
    )


# ── who is refused ───────────────────────────────────────────────────────────────────────────────


def _groups(cast: Cast) -> dict[str, Group]:
    """Within a group every response must be equal."""
    groups: dict[str, Group] = {
        "console": _at_the_console(cast),
        "refresh": _refreshing(cast),
        "agent": _agents(cast),
    }
    for product in PRODUCTS:
        groups[f"user at {product}"] = _users(cast, product)
        groups[f"client at {product}"] = _clients(cast, product)
    return groups


def _users(cast: Cast, product: Product) -> Group:
    def asked(username: str, password: str) -> Asked:
        return lambda: request_token(
            cast.service, password_form(cast.who, username, password), product
        )

    return {
        "unknown name": asked("nobody.here", WRONG),
        "wrong password": asked(cast.user.username, WRONG),
        "user without a password": asked(cast.without_password, WRONG),
        "the user's id for a name": asked(cast.user.user_id, WRONG),
    }


def _clients(cast: Cast, product: Product) -> Group:
    def asked(**wrong: str) -> Asked:
        return lambda: request_token(cast.service, client_form(cast.who, **wrong), product)

    return {
        "unknown client": asked(client_id="cl_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "wrong secret": asked(client_secret=WRONG),
        "another client's secret": asked(client_secret=cast.elsewhere.client_secret),
    }


def _agents(cast: Cast) -> Group:
    """Agents of stacks, which log in with a stack id and its token."""
    right, deleted = (
        create_agent(cast.service, cast.who, stack_status=status)
        for status in ("CREATE_COMPLETE", "DELETE_COMPLETE")
    )

    def asked(agent: AgentLogin) -> Asked:
        return lambda: request_token(cast.service, agent.form, LEGACY)

    return {
        "unknown stack": asked(AgentLogin("stk_aaaaaaaaaaaaaaaaaaaaaaaaaa", WRONG)),
        "wrong token": asked(AgentLogin(right.stack_id, WRONG)),
        "another stack's token": asked(AgentLogin(right.stack_id, deleted.auth_token)),
        "a deleted stack": asked(deleted),
    }


def _at_the_console(cast: Cast) -> Group:
    def asked(organisation: str, username: str) -> Asked:
        body = {"organisation": organisation, "username": username, "password": WRONG}
        return lambda: cast.service.http.post("/core/session", json=body)

    here = cast.who.organisation_id
    return {
        "unknown organisation": asked("org_aaaaaaaaaaaaaaaaaaaaaaaaaa", cast.user.username),
        "unknown name": asked(here, "nobody.here"),
        "wrong password": asked(here, cast.user.username),
        "user without a password": asked(here, cast.without_password),
        "user of another organisation": asked(cast.elsewhere.organisation_id, cast.user.username),
    }


def _refreshing(cast: Cast) -> Group:
    foreign = issue_tokens(cast.service, client_form(cast.elsewhere))["refresh_token"]
    portal = issue_tokens(cast.service, client_form(cast.who), Product.portal)["refresh_token"]

    def asked(token: str) -> Asked:
        return lambda: request_token(cast.service, refresh_form(cast.who, token))

    return {
        "unknown token": asked("nb_rt_" + "A" * 43),
        "another client's token": asked(foreign),
        "another product's token": asked(portal),
    }


# ── words and work ───────────────────────────────────────────────────────────────────────────────


def _different(name: str, group: Group) -> list[str]:
    shown: dict[str, Any] = {}
    for what, asked in group.items():
        with _counting_hashes() as hashes:
            answer = asked()
        shown[what] = (*_told(answer), f"{len(hashes)} hashes")
    (first, expected), *others = shown.items()
    wrong = [
        f"told apart, {name}: {first} by {one}, {what} by {another}"
        for what, answered in others
        for one, another in zip(expected, answered, strict=True)
        if one != another
    ]
    accepted = [f"accepted, {name}: {what}" for what, told in shown.items() if told[0] < 400]
    return wrong + accepted


def _told(answer: httpx.Response) -> tuple[int, str, str]:
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


def _throttled_alike(cast: Cast) -> list[str]:
    names = ("nobody.here", cast.user.username, cast.without_password)
    answers = {}
    for name in names:
        for _ in range(11):
            answers[name] = request_token(cast.service, password_form(cast.who, name, WRONG))
    told = {name: _told(answer) for name, answer in answers.items()}
    if {one[0] for one in told.values()} == {429} and len(set(told.values())) == 1:
        return []
    return [f"told apart when throttled: {told}"]


def _forget_guesses(environment: RowEnvironment) -> None:
    execute_sql(environment.superuser, "DELETE FROM login_attempts")


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


def _timed(
    environment: RowEnvironment, name: str, group: Group, size: int
) -> tuple[str, list[str]]:
    """Each way in turn, in random order, so that drift affects all equally."""
    random = environment.random(f"T5 {name}")
    spent: dict[str, list[float]] = {what: [] for what in group}
    for number in range(size):
        if number % GUESSES_BEFORE_FORGETTING == 0:
            _forget_guesses(environment)
        for what in random.sample(sorted(group), len(group)):
            began = time.perf_counter()
            group[what]()
            spent[what].append(time.perf_counter() - began)
    (first, reference), *others = spent.items()
    told, misses = [], []
    for what, seconds in others:
        differs = median(seconds) / median(reference) - 1
        chance = _mann_whitney(reference, seconds)
        told.append(f"{what} {differs:+.1%} (p = {chance:.3f})")
        if abs(differs) > DIFFERENCE_MAX:
            misses.append(f"told apart by time, {name}: {what} takes {differs:+.1%} of {first}")
        if chance <= CHANCE_MIN:
            misses.append(f"told apart by time, {name}: {what}, {differs:+.2%}, p = {chance:.4f}")
    return f"{name}: {median(reference) * 1000:.1f} ms {first}, " + ", ".join(told), misses


def _mann_whitney(one: list[float], other: list[float]) -> float:
    """Probability that equal distributions differ this much (normal approximation)."""
    ranked = sorted([(value, 0) for value in one] + [(value, 1) for value in other])
    rank_sum = sum(rank for rank, (_, which) in enumerate(ranked, start=1) if which == 0)
    n, m = len(one), len(other)
    u = rank_sum - n * (n + 1) / 2
    z = (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc(abs(z) / math.sqrt(2))
