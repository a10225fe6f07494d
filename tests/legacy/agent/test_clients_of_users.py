"""A user's API client reaches agent endpoints only for stacks that the user may describe."""

from __future__ import annotations

import pytest

from nimbill.legacy.token_product import LEGACY
from tests.legacy.agent.agent_requests import (
    AGENT_STATUS,
    CONFIG,
    CONTAINER_STATUS,
    create_stack,
    post_report,
)
from tests.legacy.agents import AgentLogin
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service
from tests.subusers import issue_token_headers

PATHS = (AGENT_STATUS, CONTAINER_STATUS, CONFIG)
each_path = pytest.mark.parametrize("path", PATHS)


def call(service: Service, path: str, agent: AgentLogin, headers: dict[str, str]) -> HttpResponse:
    if path != CONFIG:
        return post_report(service, path, agent, headers)
    query = {"stack_id": agent.stack_id, "flag": "web"}
    return service.http.get(path, params=query, headers=headers)


def client_of_user(service: Service, *statements: dict[str, object]) -> dict[str, str]:
    """Headers of an API client whose user has a role with these statements, if there are any."""
    user = create_subuser(service)
    if statements:
        grant_scope(service, user, *statements)
    client = service.http.post(
        f"/m/u/users/client/{user.username}", json={"name": "agent"}, headers=service.root()
    )
    return issue_token_headers(service, LEGACY, user.user_id, client.json()["client_id"])


@each_path
def test_a_stack_that_the_user_may_not_describe_is_refused(service: Service, path: str) -> None:
    agent = create_stack(service)
    headers = client_of_user(service, build_statement(action=["template:*", "container:*"]))

    refused = call(service, path, agent, headers)
    unknown = call(service, path, AgentLogin("stk_unknown", ""), headers)

    assert read_problem(refused, 403)["code"] == "scope_denied"
    assert read_problem(unknown, 403)["code"] == "scope_denied"


@each_path
def test_only_the_stacks_of_the_scope_are_reached(service: Service, path: str) -> None:
    mine, other = create_stack(service), create_stack(service)
    headers = client_of_user(
        service,
        build_statement(
            action=["stack:describeStack"], resource=[f"mrn:alm:stack:{mine.stack_id}"]
        ),
    )

    assert call(service, path, mine, headers).status_code in (200, 202)
    assert call(service, path, other, headers).status_code == 403


@each_path
def test_the_client_of_a_user_without_roles_reaches_every_stack(
    service: Service, path: str
) -> None:
    agent = create_stack(service)

    assert call(service, path, agent, client_of_user(service)).status_code in (200, 202)
