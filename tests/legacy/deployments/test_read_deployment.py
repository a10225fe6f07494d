"""GET /m/core/v0/deployments/{name}"""

from __future__ import annotations

from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.legacy.deployments.deployment_records import (
    add_instance,
    add_layer,
    add_stack,
    read_deployment,
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


def test_a_deployment_has_stacks_with_items_and_resources(service: Service) -> None:
    stack = add_stack(service)
    add_layer(service, stack, "web", "completed", position=0)
    add_layer(service, stack, "batch", "creating", position=1)
    add_instance(service, stack, "web", "i-0a1")

    response = read_deployment(service)

    assert response.status_code == 200
    assert response.json() == {
        "deployment": "shop",
        "stacks": [
            {
                "name": "quiet-river",
                "region": "ap-northeast-1",
                "items": [
                    {
                        "name": "web",
                        "status": "completed",
                        "resources": [{"key": "AWS::EC2::Instance", "value": "i-0a1"}],
                    },
                    {"name": "batch", "status": "creating", "resources": []},
                ],
            }
        ],
    }


def test_stacks_with_the_same_first_label_are_listed_oldest_first(service: Service) -> None:
    add_stack(service, nickname="first-one")
    add_stack(service, nickname="second-one", region="us-east-1")
    add_stack(service, nickname="elsewhere", deployment="other")

    stacks = read_deployment(service).json()["stacks"]

    assert [stack["name"] for stack in stacks] == ["first-one", "second-one"]
    assert stacks[1]["region"] == "us-east-1"


def test_only_stacks_that_the_roles_of_version_3_allow_are_shown(service: Service) -> None:
    shown = add_stack(service, nickname="shown")
    add_stack(service, nickname="hidden")
    add_stack(service, deployment="other")
    user = create_subuser(service, core=["ReadDeployment"])
    shown_only = build_statement(action=["stack:*"], resource=[f"mrn:alm:stack:{shown}"])
    attach_role(service, user.username, create_role(service, build_document(shown_only)))

    stacks = read_deployment(service, headers=user.core).json()["stacks"]

    assert [stack["name"] for stack in stacks] == ["shown"]
    for name in ("other", "unknown"):
        read_problem(read_deployment(service, name, headers=user.core), 404)


@pytest.mark.parametrize("status", ["creating", "updating", "completed", "failed"])
def test_an_item_has_the_status_of_its_layer(service: Service, status: str) -> None:
    add_layer(service, add_stack(service), "web", status)

    assert read_deployment(service).json()["stacks"][0]["items"][0]["status"] == status


@pytest.mark.parametrize("state", ["pending", "terminated", "failed"])
def test_instances_that_do_not_exist_at_the_vendor_are_not_listed(
    service: Service, state: str
) -> None:
    stack = add_stack(service)
    add_layer(service, stack, "web")
    add_instance(service, stack, "web", None if state == "pending" else "i-0a1", state)

    assert read_deployment(service).json()["stacks"][0]["items"][0]["resources"] == []


def test_deleted_stacks_are_not_listed_and_an_empty_deployment_is_not_found(
    service: Service,
) -> None:
    add_stack(service, status="DELETE_COMPLETE")

    read_problem(read_deployment(service), 404)

    add_stack(service, nickname="still-here")
    assert [stack["name"] for stack in read_deployment(service).json()["stacks"]] == ["still-here"]


@pytest.mark.parametrize("name", ["web/prod", "春の店", "a b", "a?b"])
def test_a_label_may_contain_any_character(service: Service, name: str) -> None:
    add_stack(service, deployment=name)

    assert read_deployment(service, quote(name, safe="")).json()["deployment"] == name


def test_unknown_and_foreign_deployments_are_not_found(service: Service) -> None:
    add_stack(service)
    service.organisation = service.new_organisation()

    read_problem(read_deployment(service), 404)
    read_problem(read_deployment(service, "unknown"), 404)


@pytest.mark.parametrize("action", [RoleAction.ReadDeployment, RoleAction.ModifyDeployment])
def test_either_role_action_suffices(service: Service, action: RoleAction) -> None:
    add_stack(service)

    assert read_deployment(service, headers=service.caller(action)).status_code == 200


def test_without_a_role_action_it_is_refused(service: Service) -> None:
    add_stack(service)

    read_problem(read_deployment(service, headers=service.caller(RoleAction.ReadCost)), 403)
