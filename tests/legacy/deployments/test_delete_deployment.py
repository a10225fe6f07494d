"""DELETE /m/core/v0/deployments/{name}"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.legacy.stacks.stack_transitions import IDLE, IN_PROGRESS
from tests.legacy.deployments.deployment_records import (
    delete,
    put_stack,
    save_container_report,
    status_of,
)
from tests.problem_responses import read_problem
from tests.running_service import Service

GOING = ("DELETE_IN_PROGRESS", "DELETE_COMPLETE")


@pytest.mark.parametrize("status", sorted(IDLE))
def test_every_stack_of_a_settled_deployment_is_deleted(service: Service, status: str) -> None:
    stacks = [put_stack(service, status=status), put_stack(service)]
    other = put_stack(service, deployment="other")

    answer = delete(service, headers=service.caller(RoleAction.ModifyDeployment))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert all(status_of(service, stack) in GOING for stack in stacks)
    assert status_of(service, other) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", sorted(IN_PROGRESS))
def test_while_a_stack_is_in_progress_nothing_is_deleted(service: Service, status: str) -> None:
    busy, settled = put_stack(service, status=status), put_stack(service)

    assert read_problem(delete(service), 409)["code"] == "stack_in_progress"
    assert status_of(service, busy) == status
    assert status_of(service, settled) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", ["starting", "updating", "restarting", "running"])
def test_while_a_container_runs_nothing_is_deleted(service: Service, status: str) -> None:
    stack = put_stack(service)
    save_container_report(service, stack, status)

    assert read_problem(delete(service), 409)["code"] == "containers_running"
    assert status_of(service, stack) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", ["complete", "terminated"])
def test_a_container_that_is_complete_or_terminated_holds_nothing_up(
    service: Service, status: str
) -> None:
    stack = put_stack(service)
    save_container_report(service, stack, status)

    assert delete(service).status_code == 200
    assert status_of(service, stack) in GOING


@pytest.mark.parametrize("status", sorted(IN_PROGRESS))
def test_with_force_it_is_deleted_whatever_is_busy(service: Service, status: str) -> None:
    stack = put_stack(service, status=status)
    save_container_report(service, stack, "running")

    assert delete(service, query="?force=true").status_code == 200
    assert status_of(service, stack) in GOING


def test_force_that_is_false_forces_nothing(service: Service) -> None:
    save_container_report(service, put_stack(service), "running")

    read_problem(delete(service, query="?force=false"), 409)


def test_force_is_true_or_false(service: Service) -> None:
    stack = put_stack(service)

    read_problem(delete(service, query="?force=perhaps"), 400)
    assert status_of(service, stack) == "CREATE_COMPLETE"


def test_an_unknown_or_deleted_one_and_another_organisations_are_not_there(
    service: Service,
) -> None:
    put_stack(service, deployment="gone", status="DELETE_COMPLETE")
    stack = put_stack(service)
    owner = service.organisation
    service.organisation = service.new_organisation()

    read_problem(delete(service), 404)
    read_problem(delete(service, "never-was"), 404)
    service.organisation = owner
    read_problem(delete(service, "gone"), 404)
    assert status_of(service, stack) == "CREATE_COMPLETE"


def test_reading_alone_does_not_suffice(service: Service) -> None:
    stack = put_stack(service)

    read_problem(delete(service, headers=service.caller(RoleAction.ReadDeployment)), 403)
    assert status_of(service, stack) == "CREATE_COMPLETE"
