"""Stacks and roles of version 3 are locked while a request or a job decides about them.

Each test makes a change in a transaction that is still open, starts a call that must not decide
before the change is committed, and checks that the call took the change into account.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.identity.users import records as users
from nimbill.jobs import records as jobs
from nimbill.jobs.runner import LEASE, Job
from nimbill.legacy.provisioning.finish_pass import fail_in_progress_stack, finish_pass
from nimbill.legacy.provisioning.reconciler import StackReconciler
from nimbill.legacy.provisioning.stack_snapshot import Goal, PassResult
from nimbill.legacy.roles import records as roles
from nimbill.legacy.roles.operations import ROLES_PER_USER_MAX
from nimbill.legacy.settings import read_legacy_settings
from nimbill.legacy.stacks.records import RECONCILE_STACK, legacy_stacks
from tests.held_locks import InTransaction, call_while_locked, in_transaction
from tests.legacy.agent.agent_requests import AGENT_STATUS, client_headers, post_report
from tests.legacy.agents import AgentLogin
from tests.legacy.deployments.deployment_records import delete_deployment, read_status
from tests.legacy.provisioning.stored_stacks import add_stack
from tests.legacy.roles.role_requests import (
    EVERYTHING,
    assert_refused,
    attach_role,
    create_role,
    list_roles_of,
    master_headers,
)
from tests.legacy.templates.template_requests import put_template
from tests.problem_responses import HttpResponse, read_problem
from tests.quick_hashes import use_quick_hashes
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser

__all__ = ["use_quick_hashes"]  # an autouse fixture


@pytest.fixture(scope="module", autouse=True)
def job_loop_finds_no_jobs() -> Iterator[None]:
    """Only the calls of the tests change a stack."""

    async def find_none(*_: object, **__: object) -> list[str]:
        return []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "list_organisations_with_due_jobs", find_none)
        yield


# ── stacks ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def stack_id(service: Service) -> str:
    """A stack whose creation is in progress."""
    encryptor = service.resources.encryptor
    stored: str = in_transaction(service, lambda db, scope: add_stack(db, scope, encryptor))()
    return stored


def change_stack(stack_id: str, **values: Any) -> InTransaction:
    stmt = sa.update(legacy_stacks).where(legacy_stacks.c.stack_id == stack_id).values(**values)
    return lambda db, _scope: db.execute(stmt)


def set_status(service: Service, stack_id: str, status: str) -> None:
    in_transaction(service, change_stack(stack_id, stack_status=status))()


def delete_stack(service: Service, stack_id: str) -> HttpResponse:
    return service.http.delete(f"/v3/alm/stack/{stack_id}", headers=master_headers(service))


def report_termination(service: Service, stack_id: str) -> HttpResponse:
    agent = AgentLogin(stack_id, "")
    return post_report(
        service, AGENT_STATUS, agent, client_headers(service), status="spot_terminate"
    )


@pytest.mark.parametrize("call", [delete_stack, put_template, report_termination])
def test_a_stack_whose_deletion_is_being_completed_is_not_found(
    service: Service, stack_id: str, call: Callable[[Service, str], HttpResponse]
) -> None:
    outcome = call_while_locked(
        service,
        change_stack(stack_id, stack_status="DELETE_COMPLETE"),
        lambda: call(service, stack_id),
    )

    assert outcome.waited
    assert_refused(outcome.result, 404, "not_found")
    assert read_status(service, stack_id) == "DELETE_COMPLETE"


def test_a_deployment_whose_stack_is_being_updated_is_not_deleted(
    service: Service, stack_id: str
) -> None:
    set_status(service, stack_id, "CREATE_COMPLETE")

    outcome = call_while_locked(
        service,
        change_stack(stack_id, stack_status="UPDATE_IN_PROGRESS"),
        lambda: delete_deployment(service),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "stack_in_progress"
    assert read_status(service, stack_id) == "UPDATE_IN_PROGRESS"


# ── jobs of stacks ───────────────────────────────────────────────────────────────────────────────


def claim_reconciliation(service: Service, prepared: PassResult | None = None) -> Job:
    async def claim(db: AsyncConnection, scope: TenantScope) -> Job:
        row = await jobs.claim_job(
            db, scope, at=clock.now(), lease=LEASE, job_types=[RECONCILE_STACK], exclude_types=False
        )
        assert row is not None
        return Job(
            scope, row.job_id, row.kind, row.subject, row.payload, {}, row.attempts, prepared
        )

    job: Job = in_transaction(service, claim)()
    return job


def run_job(
    service: Service, run: Callable[[AsyncConnection, Job], Awaitable[Any]], job: Job
) -> Callable[[], Any]:
    return in_transaction(service, lambda db, _scope: run(db, job))


def test_a_deletion_is_not_completed_while_the_goal_changes(
    service: Service, stack_id: str
) -> None:
    in_transaction(
        service, change_stack(stack_id, stack_status="DELETE_IN_PROGRESS", version_id="ver_1")
    )()
    result = PassResult(Goal("DELETE_IN_PROGRESS", "ver_1"), is_deleted=True)
    job = claim_reconciliation(service, result)

    outcome = call_while_locked(
        service, change_stack(stack_id, version_id="ver_2"), run_job(service, finish_pass, job)
    )

    assert outcome.waited
    assert outcome.result is not None, "another pass follows"
    assert read_status(service, stack_id) == "DELETE_IN_PROGRESS"


def test_a_stack_that_is_being_completed_does_not_fail(service: Service, stack_id: str) -> None:
    job = claim_reconciliation(service)

    outcome = call_while_locked(
        service,
        change_stack(stack_id, stack_status="CREATE_COMPLETE"),
        run_job(service, fail_in_progress_stack, job),
    )

    assert outcome.waited
    assert read_status(service, stack_id) == "CREATE_COMPLETE"


def test_a_pass_does_not_launch_instances_of_a_stack_that_is_being_completed(
    service: Service, stack_id: str
) -> None:
    resources = service.resources
    reconciler = StackReconciler(
        read_legacy_settings(service.settings), resources.engine, resources.encryptor
    )
    job = claim_reconciliation(service)

    outcome = call_while_locked(
        service,
        change_stack(stack_id, stack_status="CREATE_COMPLETE"),
        lambda: service.run(lambda: reconciler._load_snapshot(job)),
    )

    assert outcome.waited
    assert outcome.result is None


# ── roles ────────────────────────────────────────────────────────────────────────────────────────


def delete_role(role_id: str) -> InTransaction:
    return lambda db, scope: roles.delete_role(db, scope, role_id)


def test_a_role_that_is_being_deleted_cannot_be_attached(service: Service) -> None:
    user, role_id = create_subuser(service), create_role(service)

    outcome = call_while_locked(
        service, delete_role(role_id), lambda: attach_role(service, user.username, role_id)
    )

    assert outcome.waited
    assert_refused(outcome.result, 400, "rule_broken")


def test_a_new_user_does_not_get_a_role_that_is_being_deleted(service: Service) -> None:
    creator = create_subuser(service, core=["ModifyUsers"])
    kept, deleted = create_role(service, EVERYTHING), create_role(service, EVERYTHING)
    for role_id in (kept, deleted):
        attach_role(service, creator.username, role_id)
    body = {"username": "new.user", "password": PASSWORD, "notification": {"email": "false"}}

    outcome = call_while_locked(
        service,
        delete_role(deleted),
        lambda: service.http.post("/m/u/users", json=body, headers=creator.core),
    )

    assert outcome.waited
    assert outcome.result.status_code == 200, outcome.result.text
    assert [role["role_id"] for role in list_roles_of(service, "new.user")] == [kept]


def test_roles_that_are_being_attached_count_towards_the_limit(service: Service) -> None:
    user = create_subuser(service)
    first, *attached, sixth = [create_role(service) for _ in range(ROLES_PER_USER_MAX + 1)]
    assert attach_role(service, user.username, first).status_code == 200

    async def attach(db: AsyncConnection, scope: TenantScope) -> None:
        await users.lock_user(db, scope, user.user_id)
        for role_id in attached:
            await roles.attach_role(
                db,
                scope,
                user_role_id=new_id("uro"),
                user_id=user.user_id,
                role_id=role_id,
                at=clock.now(),
            )

    outcome = call_while_locked(service, attach, lambda: attach_role(service, user.username, sixth))

    assert outcome.waited
    assert_refused(outcome.result, 409, "too_many_roles")
