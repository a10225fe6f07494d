"""Work that comes back by itself for every organisation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from nimbill.application.maintenance import maintenance_job_types
from nimbill.audit import records as audit
from nimbill.audit.checkpoints import read_checkpoints
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.jobs.recurring import AUDIT_CHECKPOINT, DELETE_IDEMPOTENCY_KEYS
from nimbill.jobs.runner import Job, JobType
from nimbill.mail.delivery import SEND_MESSAGE
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.own_database import sql
from tests.running_service import Service


def kinds(service: Service, folder: Path) -> dict[str, JobType]:
    """Everything the work loop does, with its files in this folder."""
    settings = replace(service.settings, data=folder)
    return {
        kind.name: kind for kind in maintenance_job_types(settings, service.resources.encryptor)
    }


def do(service: Service, kind: JobType) -> None:
    scope = TenantScope(service.organisation.organisation_id)
    taken = Job(scope, "wrk_test", kind.name, "upkeep", {}, {}, attempt=1)

    async def in_transaction() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            await kind.run(db, taken)

    service.run(in_transaction)


def test_a_new_organisation_has_every_kind_of_upkeep_before_it(
    service: Service, superuser: Address, tmp_path: Path
) -> None:
    planned = sql(
        superuser,
        "SELECT DISTINCT kind FROM jobs WHERE organisation_id = $1",
        service.organisation.organisation_id,
    )

    assert {row["kind"] for row in planned} == set(kinds(service, tmp_path)) - {SEND_MESSAGE}


@pytest.mark.parametrize("kind", [AUDIT_CHECKPOINT, DELETE_IDEMPOTENCY_KEYS])
def test_upkeep_comes_back_by_itself(service: Service, tmp_path: Path, kind: str) -> None:
    assert kinds(service, tmp_path)[kind].every is not None


def test_a_checkpoint_holds_the_head_of_the_chain(service: Service, tmp_path: Path) -> None:
    organisation_id = service.organisation.organisation_id
    create_billing_group(service, service.root(), billinggroup_id="BG")

    do(service, kinds(service, tmp_path)[AUDIT_CHECKPOINT])

    async def head() -> tuple[int, bytes] | None:
        async with transaction(service.resources.engine, organisation_id) as db:
            return await audit.load_head(db, TenantScope(organisation_id))

    ((seq, hash_),) = read_checkpoints(
        tmp_path / "audit", service.resources.encryptor, organisation_id
    )
    assert (seq, hash_) == service.run(head)
    assert seq == 2


def test_checkpoints_come_at_least_hourly(service: Service, tmp_path: Path) -> None:
    every = kinds(service, tmp_path)[AUDIT_CHECKPOINT].every

    assert every is not None
    assert every.total_seconds() <= 3600


def test_old_idempotency_keys_are_forgotten(
    service: Service, superuser: Address, tmp_path: Path
) -> None:
    body = {
        "billinggroup_id": "BG",
        "billinggroup_name": "a",
        "company_name": "b",
        "inv_aggregate": True,
    }
    headers = service.root() | {"Idempotency-Key": "key-1"}
    service.http.post("/m/core/billinggroup", json=body, headers=headers)
    mine = service.organisation.organisation_id
    sql(
        superuser,
        "UPDATE idempotency_keys SET create_time = now() - interval '9 days'"
        " WHERE organisation_id = $1",
        mine,
    )

    do(service, kinds(service, tmp_path)[DELETE_IDEMPOTENCY_KEYS])

    left = sql(superuser, "SELECT key FROM idempotency_keys WHERE organisation_id = $1", mine)
    assert left == []


def test_work_done_or_given_up_is_forgotten_after_ninety_days(
    service: Service, superuser: Address, tmp_path: Path
) -> None:
    organisation_id = service.organisation.organisation_id
    for state, days in product(("waiting", "running", "done", "failed"), (89, 91)):
        sql(
            superuser,
            "INSERT INTO jobs (organisation_id, job_id, kind, subject, payload, state, due, "
            "attempts, progress, create_time, update_time) SELECT $1, $2, 'test', $2, '{}', $3, "
            "now() + interval '1 day', 1, '{}', past, past "
            "FROM (SELECT now() - make_interval(days => $4) AS past) AS times",
            organisation_id,
            f"{state} {days}",
            state,
            days,
        )

    do(service, kinds(service, tmp_path)[DELETE_IDEMPOTENCY_KEYS])

    left = sql(
        superuser,
        "SELECT job_id FROM jobs WHERE organisation_id = $1 AND kind = 'test'",
        organisation_id,
    )
    assert {row["job_id"] for row in left} == {
        *("waiting 89", "waiting 91", "running 89", "running 91", "done 89", "failed 89"),
    }
