"""GET /m/core/v0/deployments/{name}"""

from __future__ import annotations

from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.legacy.deployments.deployment_records import (
    ask,
    put_instance,
    put_stack,
    set_layer_status,
)
from tests.problem_responses import read_problem
from tests.running_service import Service


def test_a_deployment_is_its_stacks_with_their_items_and_resources(service: Service) -> None:
    stack = put_stack(service)
    set_layer_status(service, stack, "web", "completed", position=0)
    set_layer_status(service, stack, "batch", "creating", position=1)
    put_instance(service, stack, "web", "i-0a1")

    answer = ask(service)

    assert answer.status_code == 200
    assert answer.json() == {
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


def test_all_stacks_of_the_same_first_label_belong_to_it_the_oldest_first(service: Service) -> None:
    put_stack(service, nickname="first-one")
    put_stack(service, nickname="second-one", region="us-east-1")
    put_stack(service, nickname="elsewhere", deployment="other")

    stacks = ask(service).json()["stacks"]

    assert [stack["name"] for stack in stacks] == ["first-one", "second-one"]
    assert stacks[1]["region"] == "us-east-1"


@pytest.mark.parametrize("status", ["creating", "updating", "completed", "failed"])
def test_an_item_has_the_status_of_its_layer(service: Service, status: str) -> None:
    set_layer_status(service, put_stack(service), "web", status)

    assert ask(service).json()["stacks"][0]["items"][0]["status"] == status


@pytest.mark.parametrize("state", ["pending", "terminated", "failed"])
def test_what_does_not_exist_at_the_vendor_is_no_resource(service: Service, state: str) -> None:
    stack = put_stack(service)
    set_layer_status(service, stack, "web")
    put_instance(service, stack, "web", None if state == "pending" else "i-0a1", state)

    assert ask(service).json()["stacks"][0]["items"][0]["resources"] == []


def test_deleted_stacks_are_left_out_and_without_any_the_deployment_is_gone(
    service: Service,
) -> None:
    put_stack(service, status="DELETE_COMPLETE")

    read_problem(ask(service), 404)

    put_stack(service, nickname="still-here")
    assert [stack["name"] for stack in ask(service).json()["stacks"]] == ["still-here"]


@pytest.mark.parametrize("name", ["web/prod", "春の店", "a b", "a?b"])
def test_a_label_with_any_sign_can_be_asked_for(service: Service, name: str) -> None:
    put_stack(service, deployment=name)

    assert ask(service, quote(name, safe="")).json()["deployment"] == name


def test_an_unknown_name_and_another_organisations_are_not_there(service: Service) -> None:
    put_stack(service)
    service.organisation = service.new_organisation()

    read_problem(ask(service), 404)
    read_problem(ask(service, "never-was"), 404)


@pytest.mark.parametrize("action", [RoleAction.ReadDeployment, RoleAction.ModifyDeployment])
def test_either_role_action_suffices(service: Service, action: RoleAction) -> None:
    put_stack(service)

    assert ask(service, headers=service.caller(action)).status_code == 200


def test_without_a_role_action_it_is_refused(service: Service) -> None:
    put_stack(service)

    read_problem(ask(service, headers=service.caller(RoleAction.ReadCost)), 403)
