"""A refresh token has one successor; using it again later revokes its family permanently.

In two real servers, one of which restarts between trials: fifty uses at once, several uses within a
second, use by another client or product, a later reuse, a reuse that races with the legitimate use,
an expired token, and a client deleted at the same moment. Ended tokens are tried again, and tokens
in use are used on, after the restart. Instead of waiting, trials move the times in the database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation
from tests.identity.login.token_requests import (
    PRODUCTS,
    TOKEN_PATHS,
    ApiUser,
    client_form,
    refresh_form,
)
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.server_pair import ServerPair, server_pair
from tests.proof.simultaneous_requests import HttpAnswer, HttpRequest, SimultaneousRequests
from tests.subusers import create_subuser
from tests.temporary_database import execute_sql

TARGET = (
    "50 uses at once in 2 processes have exactly 1 successor; reuse after 10 s revokes the family "
    "1,000 of 1,000 times; 0 ended tokens work after a restart; 0 5xx"
)
QUICK = 16
FULL = 4_000  # trials, 500 of each kind; more than 1,000 families end by reuse
SECONDS_MAX = 120

USES = 50
ROTATIONS = 4  # within a second
RESTARTS = 10  # in full size
REPEATED_AFTER_SECONDS = 10.5  # outside the window of ten seconds

Owner = NewOrganisation | ApiUser


@dataclass(frozen=True)
class UsedToken:
    """A token that was used once before a restart, and its successor."""

    product: Product
    token: str
    successor: str


@dataclass
class RefreshTrials:
    environment: RowEnvironment
    pair: ServerPair
    requests: SimultaneousRequests
    organisation: NewOrganisation
    others: list[Owner]  # clients of another organisation and of the same
    product: Product = Product.core
    done: Counter[str] = field(default_factory=Counter)
    ended: list[tuple[Product, str]] = field(default_factory=list)  # must never work again
    misses: list[str] = field(default_factory=list)

    def expect(self, what: str, passed: bool, answer: Any) -> None:
        if not passed:
            shown = f"{answer.status} {answer.body!r}" if isinstance(answer, HttpAnswer) else answer
            self.misses.append(f"{what}: {shown}")

    def end(self, *tokens: str) -> None:
        self.ended += [(self.product, token) for token in tokens]

    def request(self, server: int, fields: dict[str, str]) -> HttpRequest:
        url = self.pair.urls[server] + TOKEN_PATHS[self.product]
        return HttpRequest("POST", url, form=fields)

    def send(self, server: int, fields: dict[str, str]) -> HttpAnswer:
        return self.requests.send([self.request(server, fields)])[0]

    def use(self, server: int, token: str, owner: Owner | None = None) -> HttpAnswer:
        return self.send(server, refresh_form(owner or self.organisation, token))

    def use_at_once(self, token: str) -> list[HttpAnswer]:
        """Half of the uses at each process, all sent before the first is answered."""
        form = refresh_form(self.organisation, token)
        return self.requests.send([self.request(number % 2, form) for number in range(USES)])

    def new_token(self, owner: Owner | None = None) -> str:
        answer = self.send(0, client_form(owner or self.organisation))
        assert answer.status == 200, answer.body
        token: str = answer.json()["refresh_token"]
        return token

    def successor(self, server: int, token: str) -> str:
        """Use the token once; it must work."""
        answer = self.use(server, token)
        assert answer.status == 200, answer.body
        successor: str = answer.json()["refresh_token"]
        return successor


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    with server_pair(environment) as pair, SimultaneousRequests() as requests:
        organisation = service.new_organisation("T4")
        trials = RefreshTrials(environment, pair, requests, organisation, [])
        trials.others = [service.new_organisation("T4 other"), _add_client(trials)]
        restart_every = -(-size // (1 if size < FULL else RESTARTS))
        for number in range(size):
            kind = KINDS[number % len(KINDS)]
            trials.product = PRODUCTS[number // len(KINDS) % 2]
            trials.done[kind.__name__.lstrip("_").replace("_", " ")] += 1
            kind(trials)
            if (number + 1) % restart_every == 0:
                _restart(trials, number // restart_every % 2)
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(trials.done.items()))
    figures = (
        f"{size} trials in 2 processes ({kinds}), {pair.restarts} restarts; "
        f"{len(trials.ended)} ended tokens tried after a restart"
    )
    return Measurement(f"{figures}: {len(trials.misses)} wrong", trials.misses)


def _restart(trials: RefreshTrials, server: int) -> None:
    """Restart one process. Ended tokens stay ended, and tokens in use keep their one successor."""
    used, unused = [], []
    for trials.product in PRODUCTS:
        unused.append((trials.product, trials.new_token()))
        token = trials.new_token()
        used.append(UsedToken(trials.product, token, trials.successor(server, token)))
    trials.pair.restart(server)
    for product, token in trials.ended:
        trials.product = product
        answer = trials.use(server, token)
        trials.expect("came back after a restart", _is_refused(answer), answer)
    for before in used:
        trials.product = before.product
        _set_used_now(trials, before.token)
        repeated = trials.use(server, before.token)
        same = repeated.status == 200 and repeated.json()["refresh_token"] == before.successor
        trials.expect("another successor after a restart", same, repeated)
        _reuse_later(trials, server, before.token, before.successor)
    for trials.product, token in unused:
        _expect_one_successor(trials, token)


# ── changes in the database ──────────────────────────────────────────────────────────────────────

FAMILY = "(SELECT family_id FROM refresh_tokens WHERE token_hash = $1)"


def _change(trials: RefreshTrials, sql: str, token: str, *values: object) -> None:
    execute_sql(trials.environment.superuser, sql, sha256(token.encode()).digest(), *values)


def _make_family_older(trials: RefreshTrials, token: str, column: str, seconds: float) -> None:
    """Move a time of all tokens of the family, or of the family itself, into the past."""
    table = "token_families" if column == "create_time" else "refresh_tokens"
    change = f"SET {column} = {column} - make_interval(secs => $2) WHERE family_id = {FAMILY}"
    _change(trials, f"UPDATE {table} {change}", token, seconds)


def _set_used_now(trials: RefreshTrials, token: str) -> None:
    """As if the restart had taken no time."""
    sql = "UPDATE refresh_tokens SET used_time = now() WHERE token_hash = $1"
    _change(trials, sql, token)


# ── trials ───────────────────────────────────────────────────────────────────────────────────────


def _is_refused(answer: HttpAnswer) -> bool:
    return answer.status == 400 and answer.json()["error"] == "invalid_grant"


def _many_at_once(trials: RefreshTrials) -> None:
    _expect_one_successor(trials, trials.new_token())


def _expect_one_successor(trials: RefreshTrials, token: str) -> str:
    answers = trials.use_at_once(token)
    refused = [answer for answer in answers if answer.status != 200]
    successors = {answer.json()["refresh_token"] for answer in answers if answer.status == 200}
    trials.expect(f"{USES} at once", not refused, refused and refused[0])
    trials.expect("successors of one token", len(successors) == 1, f"{len(successors)} of them")
    return min(successors, default="")


def _in_the_same_second(trials: RefreshTrials) -> None:
    """Each successor is used at once, by both processes; the first token is reused last."""
    tokens = [trials.new_token()]
    for _ in range(ROTATIONS):
        form = refresh_form(trials.organisation, tokens[-1])
        answers = trials.requests.send([trials.request(server, form) for server in (0, 1)])
        successors = {answer.json().get("refresh_token") for answer in answers}
        trials.expect("successors of one token", len(successors) == 1, answers[0])
        tokens.append(answers[0].json().get("refresh_token") or "")
    trials.expect("tokens of one family", len(set(tokens)) == len(tokens), f"{tokens}")
    _reuse_later(trials, 1, *tokens)


def _reused_later(trials: RefreshTrials) -> None:
    first = trials.new_token()
    _reuse_later(trials, 1, first, trials.successor(0, first))


def _reuse_later(trials: RefreshTrials, server: int, first: str, *others: str) -> None:
    """After the window the first token is refused, and so is its family from then on."""
    _make_family_older(trials, first, "used_time", REPEATED_AFTER_SECONDS)
    late = trials.use(server, first)
    trials.expect("reused later", _is_refused(late), late)
    for token in (*reversed(others), first):
        answer = trials.use(1 - server, token)
        trials.expect("a revoked token family still works", _is_refused(answer), answer)
    trials.end(first, *others)


def _reused_while_used(trials: RefreshTrials) -> None:
    """A thief with the old token and the owner with the new one at the same moment."""
    first = trials.new_token()
    second = trials.successor(0, first)
    _make_family_older(trials, first, "used_time", REPEATED_AFTER_SECONDS)
    forms = [refresh_form(trials.organisation, token) for token in (second, first)]
    answers = trials.requests.send(
        [trials.request(server, form) for server in (0, 1) for form in forms]
    )
    for answer in answers:
        trials.expect("in a race", answer.status == 200 or _is_refused(answer), answer)
    successors = [answer.json()["refresh_token"] for answer in answers if answer.status == 200]
    trials.expect("successors in a race", len(set(successors)) <= 1, f"{successors}")
    for token in {first, second, *successors}:
        answer = trials.use(1, token)
        trials.expect("a revoked token family still works", _is_refused(answer), answer)
        trials.end(token)


def _of_another_client(trials: RefreshTrials) -> None:
    token, product = trials.new_token(), trials.product
    for server in (0, 1):
        for owner in trials.others:
            answer = trials.use(server, token, owner)
            trials.expect("another client's", _is_refused(answer), answer)
        (trials.product,) = {*PRODUCTS} - {product}
        answer = trials.use(server, token)
        trials.expect("another product's", _is_refused(answer), answer)
        trials.product = product
    answer = trials.use(0, token)
    trials.expect("after another client tried", answer.status == 200, answer)


def _unused_too_long(trials: RefreshTrials) -> None:
    token = trials.new_token()
    _make_family_older(trials, token, "issue_time", 12 * 3600 + 1)
    for server in (1, 0):
        answer = trials.use(server, token)
        trials.expect("unused for twelve hours", _is_refused(answer), answer)
    trials.end(token)


def _older_than_a_week(trials: RefreshTrials) -> None:
    first = trials.new_token()
    second = trials.successor(0, first)
    _make_family_older(trials, first, "create_time", 7 * 86_400 + 1)
    for token in (second, first):
        for server in (1, 0):
            answer = trials.use(server, token)
            trials.expect("older than a week", _is_refused(answer), answer)
    trials.end(first, second)


def _deleted_meanwhile(trials: RefreshTrials) -> None:
    """The client is deleted while it refreshes: a plain response, then nothing works any more."""
    client = _add_client(trials)
    form = refresh_form(client, trials.new_token(client))
    root = trials.environment.service.root(trials.organisation)
    path = f"/m/u/users/client/{client.user_id}/{client.client_id}"
    deletion = HttpRequest("DELETE", trials.pair.urls[0] + path, headers=root)
    uses = [trials.request(number % 2, form) for number in range(6)]
    deleted, *refreshed = trials.requests.send([deletion, *uses])
    trials.expect("deleting", deleted.status == 200, deleted)
    for answer in refreshed:
        trials.expect("beside a deletion", answer.status in (200, 400, 401), answer)
    for server in (0, 1):
        gone = trials.send(server, form)
        trials.expect("after the deletion", gone.status == 401, gone)


def _add_client(trials: RefreshTrials) -> ApiUser:
    """A new subuser of the organisation with an API client."""
    service = trials.environment.service
    person = create_subuser(service, organisation=trials.organisation)
    made = service.http.post(
        f"/m/u/users/client/{person.user_id}",
        json={"name": "T4"},
        headers=service.root(trials.organisation),
    ).json()
    return ApiUser(person.user_id, person.username, made["client_id"], made["client_secret"])


KINDS: tuple[Callable[[RefreshTrials], None], ...] = (
    _many_at_once,
    _in_the_same_second,
    _reused_later,
    _reused_while_used,
    _of_another_client,
    _unused_too_long,
    _older_than_a_week,
    _deleted_meanwhile,
)


VARIANTS = [
    BrokenVariant(
        "family-not-ended",
        "A refresh token used again is refused, but its family stays valid.",
        "a revoked token family still works",
        "identity/login/grants.py",
        """# The revocation needs its own transaction, because the refusal rolls back.
        async with transaction(resources.engine, scope.organisation_id) as db:
            await records.revoke_family(db, reused.scope, reused.family_id)
        raise TokenFamilyInvalid from None""",
        "raise TokenFamilyInvalid from reused",
    ),
    BrokenVariant(
        "not-locked",
        "Simultaneous uses of one refresh token all find it unused.",
        "successors of one token",
        "identity/login/records.py",
        ".with_for_update()",
        "",
    ),
    BrokenVariant(
        "revocation-rolled-back",
        "The family is ended in the transaction that the refusal rolls back.",
        "a revoked token family still works",
        "identity/login/refresh_tokens.py",
        "raise RefreshTokenReused(scope, row.family_id)",
        """await records.revoke_family(db, scope, row.family_id)
            raise TokenFamilyInvalid""",
    ),
    BrokenVariant(
        "successor-in-memory",
        "Only the process that issued a successor knows it when the use is repeated.",
        "50 at once: 400",
        "identity/login/refresh_tokens.py",
        """
IDLE_LIFETIME = timedelta(hours=12)
""",
        """_successors: dict[bytes, str] = {}

IDLE_LIFETIME = timedelta(hours=12)
""",
        also=[
            (
                "identity/login/refresh_tokens.py",
                """successor = organisation_encryptor.decrypt(
            row.encrypted_successor, associated_data
        ).decode()""",
                """if hash_ not in _successors:
            raise TokenFamilyInvalid
        successor = _successors[hash_]""",
            ),
            (
                "identity/login/refresh_tokens.py",
                "successor = generate_refresh_token()",
                "successor = _successors[hash_] = generate_refresh_token()",
            ),
        ],
    ),
]
