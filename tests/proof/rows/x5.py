"""A repeat with the same Idempotency-Key gets the first response byte for byte and acts once.

Repeated unchanged, with reordered JSON, changed, many at once, after a failed commit, after a
killed worker, a day later, and shortly before the seven days are over.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.http import idempotency
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.proof.asgi_calls import Answer, app_of, call, each, json_request
from tests.proof.broken_variants import BrokenVariant
from tests.proof.database_faults import WILL_FAIL, failing_commits
from tests.proof.killed_workers import with_killed_workers
from tests.proof.real_server import real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.temporary_database import connected, execute_sql

TARGET = (
    "10,000 of 10,000 repeats get the first response's bytes and act once; another body 409; "
    "at the same time 409 or the same response; kept for at least 7 days"
)
SHORT = 70
QUICK = 300
FULL = 14_000  # trials; five of seven kinds compare a repeat, which makes 10,000 repeats
SECONDS_MAX = 900

PATH = "/m/core/billinggroup"
AT_ONCE = 6
TRIALS_PER_KILL = 200


@dataclass
class IdempotencyTrials:
    environment: RowEnvironment
    random: Random
    headers: Mapping[str, str]
    other_users_headers: Mapping[str, str]
    organisation_id: str
    counts: Counter[str] = field(default_factory=Counter)
    created: dict[str, str] = field(default_factory=dict)  # billinggroup_id to company_id
    repeats: int = 0  # responses compared with the first one
    misses: list[str] = field(default_factory=list)

    async def send(self, body: Any, key: str, headers: Mapping[str, str] | None = None) -> Answer:
        given = {**(headers or self.headers), "Idempotency-Key": key}
        answer = await call(
            app_of(self.environment.service), json_request("POST", PATH, body, given)
        )
        if answer.status == 200:
            created = answer.json()
            self.created.setdefault(created["billinggroup_id"], created["company_id"])
        return answer

    def check_repeat(self, what: str, first: Answer, repeated: Answer) -> None:
        self.repeats += 1
        self.expect(what, first.status == 200 and _equal(first, repeated), repeated)

    def expect(self, what: str, passed: bool, answer: Answer) -> None:
        if not passed:
            self.misses.append(f"{what}: {answer.status} {answer.body[:200]!r}")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    organisation = service.new_organisation("X5")
    trials = IdempotencyTrials(
        environment,
        environment.random("X5"),
        service.root(organisation),
        service.caller(RoleAction.ModifyBillingGroup, organisation=organisation),
        organisation.organisation_id,
    )
    service.run(lambda: _run_trials(trials, size))
    killed = _kill_workers(trials, -(-size // TRIALS_PER_KILL))
    _compare_with_records(trials)
    kinds = ", ".join(f"{count} {what}" for what, count in sorted(trials.counts.items()))
    figures = (
        f"{trials.repeats} repeats compared in {sum(trials.counts.values())} trials: {kinds}; "
        f"{killed}; {len(trials.misses)} wrong"
    )
    return Measurement(figures, trials.misses)


def _kill_workers(trials: IdempotencyTrials, kills: int) -> str:
    environment = trials.environment
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(environment.service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with real_server(environment.new_folder("x5") / "data", settings) as server:
        run = with_killed_workers(server, trials.headers, kills, trials.random)
    trials.created |= run.created
    trials.misses += run.misses
    return (
        f"{len(run.created)} more by clients with {run.broken_connections} broken connections "
        f"in {kills} kills"
    )


def _compare_with_records(trials: IdempotencyTrials) -> None:
    """Responses and stored records agree: nothing lost, doubled or invented."""
    stored = execute_sql(
        trials.environment.superuser,
        "SELECT billinggroup_id, company_id FROM billing_groups WHERE organisation_id = $1",
        trials.organisation_id,
    )
    found = {row["billinggroup_id"]: row["company_id"] for row in stored}
    for name in sorted(found.keys() | trials.created.keys()):
        if found.get(name) != trials.created.get(name):
            trials.misses.append(
                f"{name}: answered {trials.created.get(name)}, stored {found.get(name)}"
            )


async def _run_trials(trials: IdempotencyTrials, size: int) -> None:
    async def run_trial(number: int) -> None:
        kind = KINDS[number % len(KINDS)]
        trials.counts[kind.__name__.lstrip("_").replace("_", " ")] += 1
        await kind(trials, f"X5-{number}")

    await each(size, run_trial, at_once=AT_ONCE)
    await _after_failed_commits(trials)


def _body(name: str) -> dict[str, Any]:
    return REQUIRED_FIELDS | {"billinggroup_id": name, "invoices": {"aws": VALID_SETTING}}


async def _same(trials: IdempotencyTrials, name: str) -> None:
    first = await trials.send(_body(name), name)
    repeated = await trials.send(_body(name), name)
    trials.expect("first", first.status == 200, first)
    trials.check_repeat("repeated", first, repeated)
    trials.expect("marked as repeated", "idempotent-replayed" in repeated.headers, repeated)


async def _reordered(trials: IdempotencyTrials, name: str) -> None:
    first = await trials.send(_body(name), name)
    pairs = list(_body(name).items())
    trials.random.shuffle(pairs)
    setting = dict(reversed(VALID_SETTING.items()))
    shuffled = dict(pairs) | {"invoices": {"aws": setting}}
    spaced = json.dumps(shuffled, indent=trials.random.randint(0, 3), ensure_ascii=False)
    repeated = await trials.send(spaced.encode(), name)
    trials.check_repeat("reordered", first, repeated)


async def _changed(trials: IdempotencyTrials, name: str) -> None:
    first = await trials.send(_body(name), name)
    other = trials.random.choice(
        [
            _body(name) | {"remarks": "another"},
            _body(name) | {"billinggroup_id": f"{name}-other"},
            _body(name) | {"inv_aggregate": False},
            _body(name) | {"invoices": {"aws": VALID_SETTING | {"tax_rate": 0.08}}},
        ]
    )
    refused = await trials.send(other, name)
    repeated = await trials.send(_body(name), name)
    reused = refused.status == 409 and refused.json()["code"] == "idempotency_key_reused"
    trials.expect("changed body", first.status == 200 and reused, refused)
    trials.check_repeat("repeated after a changed body", first, repeated)


async def _at_once(trials: IdempotencyTrials, name: str) -> None:
    answers = await asyncio.gather(*[trials.send(_body(name), name) for _ in range(5)])
    done = [answer for answer in answers if answer.status == 200]
    for answer in answers:
        busy = answer.status == 409 and answer.json()["code"] == "idempotency_key_in_use"
        trials.expect("at once", busy or _equal(answer, done[0] if done else answer), answer)
    trials.expect("one of many at once", bool(done), answers[0])
    repeated = await trials.send(_body(name), name)
    trials.check_repeat("after many at once", done[0] if done else answers[0], repeated)


async def _of_another_user(trials: IdempotencyTrials, name: str) -> None:
    first = await trials.send(_body(name), name)
    other_users_response = await trials.send(
        _body(f"{name}-theirs"), name, trials.other_users_headers
    )
    trials.expect(
        "another user's key",
        first.status == other_users_response.status == 200,
        other_users_response,
    )
    trials.expect(
        "another user's answer", first.body != other_users_response.body, other_users_response
    )


async def _days_later(trials: IdempotencyTrials, name: str) -> None:
    """Age the row, run the daily clean-up, and repeat the request."""
    first = await trials.send(_body(name), name)
    hours = trials.random.choice([24, 25, 48, 7 * 24 - 1, 7 * 24])
    await _make_older(trials, name, hours)
    repeated = await trials.send(_body(name), name)
    trials.check_repeat(f"{hours} hours later", first, repeated)


async def _weeks_later(trials: IdempotencyTrials, name: str) -> None:
    """Once deleted, it is a new request, and the records still prevent a duplicate."""
    await trials.send(_body(name), name)
    await _make_older(trials, name, 8 * 24 + 1)
    repeated = await trials.send(_body(name), name)
    id_in_use = repeated.status == 409 and repeated.json()["code"] == "billinggroup_id_taken"
    trials.expect("after it was forgotten", id_in_use, repeated)


KINDS: tuple[Callable[[IdempotencyTrials, str], Awaitable[None]], ...] = (
    _same,
    _reordered,
    _changed,
    _at_once,
    _of_another_user,
    _days_later,
    _weeks_later,
)


async def _after_failed_commits(trials: IdempotencyTrials) -> None:
    """Neither the effect nor the key may exist alone."""
    for number in range(10):
        name = f"{WILL_FAIL}{number}"
        trials.counts["after a failed commit"] += 1
        async with failing_commits(trials.environment.superuser):
            failed = await trials.send(_body(name), name)
        trials.expect("the failing commit", failed.status == 500, failed)
        repeated = await trials.send(_body(name), name)
        executed_again = repeated.status == 200 and "idempotent-replayed" not in repeated.headers
        trials.expect("after a failed commit", executed_again, repeated)


async def _make_older(trials: IdempotencyTrials, key: str, hours: int) -> None:
    async with connected(trials.environment.superuser) as db:
        await db.execute(
            "UPDATE idempotency_keys SET create_time = now() - make_interval(hours => $1) "
            "WHERE organisation_id = $2 AND key = $3",
            hours,
            trials.organisation_id,
            key,
        )
    engine = trials.environment.service.resources.engine
    async with transaction(engine, trials.organisation_id) as db:
        await idempotency.delete_old_keys(db, TenantScope(trials.organisation_id))


def _equal(first: Answer, repeated: Answer) -> bool:
    return first.status == repeated.status and first.body == repeated.body


VARIANTS = [
    BrokenVariant(
        "body-ignored",
        "Another body under the same key counts as the same request.",
        "changed body: 200",
        "http/idempotency.py",
        ", query, body]))",
        ", query]))",
    ),
    BrokenVariant(
        "deleted-too-early",
        "Stored responses are deleted before seven days are over.",
        "hours later",
        "http/idempotency.py",
        "RETENTION_DAYS = 8  # seven",
        "RETENTION_DAYS = 6  # seven",
    ),
    BrokenVariant(
        "key-in-separate-transaction",
        "The key is committed before its effect.",
        "after a failed commit: 200",
        "http/idempotency.py",
        """\
    associated_data = _associated_data(scope, caller.user_id, reserved.key)
    await db.execute(
""",
        """\
    associated_data = _associated_data(scope, caller.user_id, reserved.key)
    from nimbill.database.tenant_scope import set_tenant

    apart = await db.engine.connect()
    await set_tenant(apart, scope.organisation_id)
    await apart.execute(
""",
        also=[
            (
                "http/idempotency.py",
                """

def _associated_data(scope: TenantScope, user_id: str, key: str) -> tuple[str, ...]:
""",
                """\
    await apart.commit()
    await apart.close()


def _associated_data(scope: TenantScope, user_id: str, key: str) -> tuple[str, ...]:
""",
            )
        ],
    ),
]
