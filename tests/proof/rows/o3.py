"""The audit log cannot be falsified without detection, and contains every change exactly once.

A database superuser falsifies a log of a few hundred rows in fourteen ways, and each time the check
behind `nimbill audit verify` is run. Known limit: rows after the last checkpoint outside the
database can be removed or recomputed without a trace.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nimbill.access.role_actions import RoleAction
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.audit.verification import VerificationResult, verify_chain
from nimbill.database.embedded_postgres import Address
from nimbill.identity.organisations.operations import NewOrganisation
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.proof.broken_variants import BrokenVariant
from tests.proof.database_faults import WILL_FAIL, failing_commits
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.run_tests import PytestResult, run_tests
from tests.proof.tampering import (
    TAMPERINGS,
    FalsifiableLog,
    StoredLog,
    documented_hash,
    hash_before,
)
from tests.running_service import Service
from tests.temporary_database import connected, execute_sql

TARGET = (
    "1,000 of 1,000 falsifications found with the exact first bad row (a removed tail: back "
    "to the last checkpoint); every change has exactly one audit row, no refused request has "
    "any"
)
QUICK = 84
FULL = 1000
SECONDS_MAX = 600
ROUTE_TESTS = ("tests/contract/test_audit_and_idempotency.py",)
ROUTE_TESTS_MIN = 300  # a lower number means that routes were lost

CHANGES = 240
PATH = "/m/core/billinggroup"


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    organisation = service.new_organisation("O3")
    answers = _make_changes(service, organisation)
    answers += asyncio.run(_make_failing_changes(environment, organisation))
    length, wrong, undocumented = asyncio.run(_falsify(environment, organisation, size))
    miscounted = _find_miscounted(environment.superuser, organisation, answers)
    routes = _check_routes(size)
    accepted = sum(changed for _, changed in answers)
    figures = (
        f"{size - len(wrong)}/{size} falsifications of {length} rows found exactly; "
        f"{accepted} changes and {len(answers) - accepted} refusals, repeats or failures, "
        f"{len(miscounted)} of them not counted exactly once; {routes.passed} tests of the audit "
        "rows of all routes passed"
    )
    failed = routes.misses(ROUTE_TESTS_MIN) if size >= FULL else []
    return Measurement(figures, undocumented[:1] + miscounted + failed + wrong)


def _check_routes(size: int) -> PytestResult:
    """Every route that changes something writes one audit row; in quick size a test of its own."""
    return run_tests(*ROUTE_TESTS) if size >= FULL else PytestResult(0, [])


def _make_changes(service: Service, organisation: NewOrganisation) -> list[tuple[str, bool]]:
    """Send requests with every kind of result; return ids and whether they changed something."""
    root = service.root(organisation)
    reader = service.caller(RoleAction.ReadBillingGroup, organisation=organisation)

    def send(number: int) -> list[tuple[str, bool]]:
        body = REQUIRED_FIELDS | {"billinggroup_id": f"O3-{number}", "password": "not stored"}
        key = {} if number % 2 else {"Idempotency-Key": f"o3-{number}"}
        responses = [
            service.http.post(PATH, json=body, headers=root | key),  # done
            service.http.post(PATH, json=body, headers=root | key),  # answered again
            service.http.post(PATH, json=body, headers=root),  # 409
            service.http.post(PATH, json=body, headers=reader),  # 403
            service.http.post(PATH, json=body | {"inv_aggregate": 1}, headers=root),  # 400
        ]
        return [
            (
                answer.headers["x-request-id"],
                answer.status_code == 200 and "idempotent-replayed" not in answer.headers,
            )
            for answer in responses[: 1 if number % 4 else None]
        ]

    with ThreadPoolExecutor(4) as threads:
        return [result for results in threads.map(send, range(CHANGES)) for result in results]


async def _make_failing_changes(
    environment: RowEnvironment, organisation: NewOrganisation
) -> list[tuple[str, bool]]:
    """Let the commit fail: what was not done must not be in the log."""
    service = environment.service
    async with failing_commits(environment.superuser):
        answers = [
            await asyncio.to_thread(
                service.http.post,
                PATH,
                json=REQUIRED_FIELDS | {"billinggroup_id": f"{WILL_FAIL}{number}"},
                headers=service.root(organisation),
            )
            for number in range(4)
        ]
    assert {answer.status_code for answer in answers} == {500}, "the database did not fail"
    return [(answer.headers["x-request-id"], False) for answer in answers]


def _find_miscounted(
    superuser: Address, organisation: NewOrganisation, answers: list[tuple[str, bool]]
) -> list[str]:
    ids = execute_sql(
        superuser,
        "SELECT entry::jsonb ->> 'request_id' AS id FROM audit_log WHERE organisation_id = $1",
        organisation.organisation_id,
    )
    counted = Counter(row["id"] for row in ids)
    return [
        f"{counted[request_id]} audit rows for a request that "
        f"{'changed something' if changed else 'changed nothing'}"
        for request_id, changed in answers
        if counted[request_id] != int(changed)
    ]


async def _falsify(
    environment: RowEnvironment, organisation: NewOrganisation, size: int
) -> tuple[int, list[str], list[str]]:
    """Rows of the log, undetected falsifications, and hashes that differ from the documentation."""
    random = environment.random("O3")
    folder = environment.new_folder("o3-checkpoints")
    async with connected(environment.superuser) as db:
        log = await _read_log(db, organisation.organisation_id)
        for seq in log.checkpoints:
            encryptor = environment.service.resources.encryptor
            write_checkpoint(folder, encryptor, log.organisation_id, seq, log.rows[seq - 1].hash)
        wrong = await _check_verification(environment, folder, log, None, "nothing was falsified")
        for number in range(size):
            tamper = TAMPERINGS[number % len(TAMPERINGS)]
            falsified, first_bad = tamper(log, random)
            await _write_log(db, falsified)
            wrong += await _check_verification(environment, folder, log, first_bad, tamper.__name__)
        await _write_log(db, log)
    undocumented = [
        f"the hash of row {row.seq} is not the documented hash"
        for row in log.rows
        if row.hash != documented_hash(hash_before(log, row.seq), row.seq, row.entry)
    ]
    return log.last, wrong, undocumented


async def _check_verification(
    environment: RowEnvironment,
    folder: Path,
    log: FalsifiableLog,
    expected: int | None,
    tampering: str,
) -> list[str]:
    encryptor = environment.service.resources.encryptor
    finding: VerificationResult = await verify_chain(
        environment.postgres.url, encryptor, folder, log.organisation_id
    )
    reported = finding.first_break.seq if finding.first_break else None
    return (
        []
        if reported == expected
        else [f"{tampering}: row {expected} is the first bad one, reported {reported}"]
    )


async def _read_log(db: Any, organisation_id: str) -> FalsifiableLog:
    found = await db.fetch(
        "SELECT seq, entry, hash FROM audit_log WHERE organisation_id = $1 ORDER BY seq",
        organisation_id,
    )
    head = await db.fetchrow(
        "SELECT seq, hash FROM audit_heads WHERE organisation_id = $1", organisation_id
    )
    stored = tuple(StoredLog(row["seq"], row["entry"], row["hash"]) for row in found)
    checkpoints = tuple(len(stored) * part // 10 for part in (2, 5, 9))
    return FalsifiableLog(organisation_id, stored, (head["seq"], head["hash"]), checkpoints)


async def _write_log(db: Any, log: FalsifiableLog) -> None:
    """Write the falsified log as superuser."""
    organisation_id = log.organisation_id
    async with db.transaction():
        await db.execute("DELETE FROM audit_log WHERE organisation_id = $1", organisation_id)
        await db.execute("DELETE FROM audit_heads WHERE organisation_id = $1", organisation_id)
        await db.copy_records_to_table(
            "audit_log",
            records=[(organisation_id, *row) for row in log.rows],
            columns=["organisation_id", "seq", "entry", "hash"],
        )
        if log.head is not None:
            await db.execute(
                "INSERT INTO audit_heads VALUES ($1, $2, $3)", organisation_id, *log.head
            )


VARIANTS = [
    BrokenVariant(
        "checkpoints-ignored",
        "The check ignores the checkpoints outside the database.",
        "cut_the_tail: row",
        "audit/verification.py",
        ", checkpoints=checkpoints",
        "",
    ),
    BrokenVariant(
        "head-not-checked",
        "The check does not compare the last row with the head of the log.",
        "falsify_the_head",
        "audit/chain.py",
        "last_attested = max([head[0] if head else 0, *expected])",
        """head = None
    last_attested = max([0, *expected])""",
        also=[("audit/chain.py", "if head is None and seq:", "if head is None and seq < 0:")],
    ),
    BrokenVariant(
        "no-row-with-idempotency-key",
        "A change made with an Idempotency-Key writes no audit row.",
        "0 audit rows for a request that changed something",
        "http/routing.py",
        "if not isinstance(audited, Unaudited):",
        "if not isinstance(audited, Unaudited) and context.idempotency is None:",
    ),
    BrokenVariant(
        "number-not-hashed",
        "The hash of an audit row does not cover its number.",
        "is not the documented hash",
        "audit/chain.py",
        '+ seq.to_bytes(8, "big", signed=True) + entry',
        "+ entry",
        also=[
            (
                "database/migrations/functions/append_audit_entry.sql",
                "| int8send(seq + 1) || convert_to",
                "| convert_to",
            )
        ],
    ),
    BrokenVariant(
        "row-in-separate-transaction",
        "The audit row is committed before its change.",
        "1 audit rows for a request that changed nothing",
        "http/routing.py",
        """\
            await audit.append_entry(
                context.db,
""",
        """\
            from nimbill.database.tenant_scope import set_tenant

            apart = await context.db.engine.connect()
            await set_tenant(apart, caller.scope.organisation_id)
            await audit.append_entry(
                apart,
""",
        also=[
            (
                "http/routing.py",
                """\
                sent=_format_sent(context.sent),
            )
""",
                """\
                sent=_format_sent(context.sent),
            )
            await apart.commit()
            await apart.close()
""",
            )
        ],
    ),
]
