"""DELETE /m/core/v0/deployments/{name}"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.legacy.stacks.stack_transitions import IDLE, IN_PROGRESS
from tests.legacy.deployments.deployment_records import (
    add_container,
    add_stack,
    delete_deployment,
    read_status,
)
from tests.legacy.roles.role_requests import (
    attach_role,
    build_document,
    build_statement,
    create_role,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

DELETING = ("DELETE_IN_PROGRESS", "DELETE_COMPLETE")


@pytest.mark.parametrize("status", sorted(IDLE))
def test_all_stacks_of_an_idle_deployment_are_deleted(service: Service, status: str) -> None:
    stacks = [add_stack(service, status=status), add_stack(service)]
    other = add_stack(service, deployment="other")

    response = delete_deployment(service, headers=service.caller(RoleAction.ModifyDeployment))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert all(read_status(service, stack) in DELETING for stack in stacks)
    assert read_status(service, other) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", sorted(IN_PROGRESS))
def test_nothing_is_deleted_while_a_stack_is_in_progress(service: Service, status: str) -> None:
    busy, idle = add_stack(service, status=status), add_stack(service)

    assert read_problem(delete_deployment(service), 409)["code"] == "stack_in_progress"
    assert read_status(service, busy) == status
    assert read_status(service, idle) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", ["starting", "updating", "restarting", "running"])
def test_nothing_is_deleted_while_a_container_runs(service: Service, status: str) -> None:
    stack = add_stack(service)
    add_container(service, stack, status)

    assert read_problem(delete_deployment(service), 409)["code"] == "containers_running"
    assert read_status(service, stack) == "CREATE_COMPLETE"


@pytest.mark.parametrize("status", ["complete", "terminated"])
def test_a_complete_or_terminated_container_does_not_prevent_deletion(
    service: Service, status: str
) -> None:
    stack = add_stack(service)
    add_container(service, stack, status)

    assert delete_deployment(service).status_code == 200
    assert read_status(service, stack) in DELETING


@pytest.mark.parametrize("status", sorted(IN_PROGRESS))
def test_force_deletes_stacks_in_progress_and_with_running_containers(
    service: Service, status: str
) -> None:
    stack = add_stack(service, status=status)
    add_container(service, stack, "running")

    assert delete_deployment(service, query="?force=true").status_code == 200
    assert read_status(service, stack) in DELETING


def test_force_false_is_the_same_as_no_force(service: Service) -> None:
    add_container(service, add_stack(service), "running")

    read_problem(delete_deployment(service, query="?force=false"), 409)


def test_force_is_true_or_false(service: Service) -> None:
    stack = add_stack(service)

    read_problem(delete_deployment(service, query="?force=perhaps"), 400)
    assert read_status(service, stack) == "CREATE_COMPLETE"


def test_unknown_deleted_and_foreign_deployments_are_not_found(
    service: Service,
) -> None:
    add_stack(service, deployment="gone", status="DELETE_COMPLETE")
    stack = add_stack(service)
    owner = service.organisation
    service.organisation = service.new_organisation()

    read_problem(delete_deployment(service), 404)
    read_problem(delete_deployment(service, "unknown"), 404)
    service.organisation = owner
    read_problem(delete_deployment(service, "gone"), 404)
    assert read_status(service, stack) == "CREATE_COMPLETE"


def test_the_permission_to_read_does_not_suffice(service: Service) -> None:
    stack = add_stack(service)

    read_problem(delete_deployment(service, headers=service.caller(RoleAction.ReadDeployment)), 403)
    assert read_status(service, stack) == "CREATE_COMPLETE"


@pytest.mark.parametrize("forced", ["", "?force=true"])
def test_the_roles_of_version_3_must_allow_the_deletion_of_every_stack(
    service: Service, forced: str
) -> None:
    """Otherwise this route would delete what DELETE /v3/alm/stack refuses."""
    allowed, denied = add_stack(service), add_stack(service)
    user = create_subuser(service, core=["ModifyDeployment"])
    allowed_only = build_statement(action=["stack:*"], resource=[f"mrn:alm:stack:{allowed}"])
    attach_role(service, user.username, create_role(service, build_document(allowed_only)))

    response = delete_deployment(service, query=forced, headers=user.core)

    assert read_problem(response, 403)["code"] == "scope_denied"
    assert read_status(service, allowed) == read_status(service, denied) == "CREATE_COMPLETE"

    denied_only = build_statement(action=["stack:*"], resource=[f"mrn:alm:stack:{denied}"])
    attach_role(service, user.username, create_role(service, build_document(denied_only)))

    assert delete_deployment(service, query=forced, headers=user.core).status_code == 200
    assert read_status(service, denied) in DELETING


def test_without_permission_for_any_stack_unknown_deployments_look_the_same(
    service: Service,
) -> None:
    add_stack(service)
    user = create_subuser(service, core=["ModifyDeployment"])
    read_only = build_document(build_statement(action=["stack:describe*"]))
    attach_role(service, user.username, create_role(service, read_only))

    for name in ("shop", "unknown"):
        response = delete_deployment(service, name, headers=user.core)
        assert read_problem(response, 403)["code"] == "scope_denied"
