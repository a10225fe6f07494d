"""Recurring jobs write audit checkpoints and delete expired records."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

from nimbill.application.maintenance import maintenance_job_types
from nimbill.approvals.approval_events import approval_job_types
from nimbill.audit import records as audit
from nimbill.audit.checkpoints import read_checkpoints
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.identity.organisations.operations import create_organisation
from nimbill.jobs.recurring import AUDIT_CHECKPOINT, DELETE_IDEMPOTENCY_KEYS
from nimbill.jobs.runner import Job, JobType
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.running_service import PASSWORD, Service
from tests.temporary_database import execute_sql


def list_job_types(service: Service, folder: Path) -> dict[str, JobType]:
    """The maintenance jobs, with their files in this folder."""
    settings = replace(service.settings, data=folder)
    job_types = maintenance_job_types(settings, service.resources.encryptor)
    return {job_type.name: job_type for job_type in job_types}


def run_job(service: Service, job_type: JobType) -> None:
    scope = TenantScope(service.organisation.organisation_id)
    job = Job(scope, "wrk_test", job_type.name, "maintenance", {}, {}, attempt=1)

    async def run_in_transaction() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            await job_type.run(db, job)

    service.run(run_in_transaction)


def test_a_new_organisation_has_every_recurring_job(
    service: Service, superuser: Address, tmp_path: Path
) -> None:
    engine, encryptor = service.resources.engine, service.resources.encryptor
    user = {"username": "root", "password": PASSWORD}
    created = service.run(lambda: create_organisation(engine, encryptor, name="New", **user))

    rows = execute_sql(
        superuser,
        "SELECT DISTINCT kind FROM jobs WHERE organisation_id = $1",
        created.organisation_id,
    )

    job_types = [*list_job_types(service, tmp_path).values(), *approval_job_types()]
    recurring = {job_type.name for job_type in job_types if job_type.every is not None}
    assert {row["kind"] for row in rows} == recurring


def test_maintenance_jobs_recur_and_checkpoints_at_least_hourly(
    service: Service, tmp_path: Path
) -> None:
    job_types = list_job_types(service, tmp_path)

    assert job_types[DELETE_IDEMPOTENCY_KEYS].every is not None
    checkpoint_interval = job_types[AUDIT_CHECKPOINT].every
    assert checkpoint_interval is not None
    assert checkpoint_interval.total_seconds() <= 3600


def test_a_checkpoint_contains_the_head_of_the_chain(service: Service, tmp_path: Path) -> None:
    organisation_id = service.organisation.organisation_id
    create_billing_group(service, service.root(), billinggroup_id="BG")

    run_job(service, list_job_types(service, tmp_path)[AUDIT_CHECKPOINT])

    async def load_head() -> tuple[int, bytes] | None:
        async with transaction(service.resources.engine, organisation_id) as db:
            return await audit.load_head(db, TenantScope(organisation_id))

    ((seq, hash_),) = read_checkpoints(
        tmp_path / "audit", service.resources.encryptor, organisation_id
    )
    assert (seq, hash_) == service.run(load_head)
    assert seq == 2


def test_old_idempotency_keys_are_deleted(
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
    organisation_id = service.organisation.organisation_id
    execute_sql(
        superuser,
        "UPDATE idempotency_keys SET create_time = now() - interval '9 days'"
        " WHERE organisation_id = $1",
        organisation_id,
    )

    run_job(service, list_job_types(service, tmp_path)[DELETE_IDEMPOTENCY_KEYS])

    remaining = execute_sql(
        superuser, "SELECT key FROM idempotency_keys WHERE organisation_id = $1", organisation_id
    )
    assert remaining == []


def test_finished_jobs_are_deleted_after_ninety_days(
    service: Service, superuser: Address, tmp_path: Path
) -> None:
    organisation_id = service.organisation.organisation_id
    for state, days in product(("waiting", "running", "done", "failed"), (89, 91)):
        execute_sql(
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

    run_job(service, list_job_types(service, tmp_path)[DELETE_IDEMPOTENCY_KEYS])

    remaining = execute_sql(
        superuser,
        "SELECT job_id FROM jobs WHERE organisation_id = $1 AND kind = 'test'",
        organisation_id,
    )
    assert {row["job_id"] for row in remaining} == {
        *("waiting 89", "waiting 91", "running 89", "running 91", "done 89", "failed 89"),
    }
