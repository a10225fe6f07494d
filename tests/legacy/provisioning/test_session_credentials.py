"""GET /v3/alm/sts and GET /v3/alm/agent/logs_access_token, against a simulated token service."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from nimbill.legacy.provisioning import aws_sessions
from nimbill.legacy.provisioning.aws_errors import translate_error
from nimbill.legacy.token_product import LEGACY
from tests.legacy.http_server import ServiceBridge
from tests.legacy.provisioning.cloud_server import REGION, Cloud
from tests.legacy.provisioning.stack_user import (
    StackUser,
    build_layer,
    build_stack_template,
    create_stack_user,
)
from tests.problem_responses import read_problem

PATHS = ("/v3/alm/sts", "/v3/alm/agent/logs_access_token")
FAILURE = "The role for agents could not be assumed"
ROLE = "arn:aws:iam::123456789012:role/agents"
each_path = pytest.mark.parametrize("path", PATHS)


class AgentOfStack:
    """An agent and its stack, which has no instances and so needs no launch."""

    def __init__(self, user: StackUser) -> None:
        self.user = user
        self.stack_id = user.apply(build_stack_template(build_layer(instance_count=0)))
        self.headers = user.agent_headers(self.stack_id)

    def get(self, path: str, headers: dict[str, str] | None = None, **query: str) -> httpx.Response:
        params = {"user_id": "u-1", "stack_id": self.stack_id, **query}
        return self.user.call("GET", path, params=params, headers=headers or self.headers)

    def set_role(self, role_arn: str) -> None:
        core = self.user.service.root(self.user.organisation)
        body = {"agent_role_arn": role_arn}
        assert self.user.call("PUT", "/m/core/settings", json=body, headers=core).is_success


@pytest.fixture(scope="module")
def agent(cloud_bridge: ServiceBridge) -> AgentOfStack:
    agent = AgentOfStack(create_stack_user(cloud_bridge))
    agent.set_role(ROLE)
    return agent


@each_path
def test_an_agent_receives_credentials_of_a_session_of_the_role(
    agent: AgentOfStack, cloud: Cloud, path: str
) -> None:
    response = agent.get(path)

    assert response.status_code == 200, response.text
    assert response.headers["cache-control"] == "no-store"
    issued = response.json()
    assert list(issued) == ["AccessKeyID", "SecretAccessKey", "SessionToken"]
    sts = boto3.client(
        "sts",
        endpoint_url=cloud.url,
        region_name=REGION,
        aws_access_key_id=issued["AccessKeyID"],
        aws_secret_access_key=issued["SecretAccessKey"],
        aws_session_token=issued["SessionToken"],
    )
    identity = sts.get_caller_identity()["Arn"]
    assert identity == f"arn:aws:sts::123456789012:assumed-role/agents/{agent.stack_id}"


def test_the_session_is_limited_to_the_stack_and_to_the_use(agent: AgentOfStack) -> None:
    sent: list[dict[str, Any]] = []
    answer = {"AccessKeyId": "k", "SecretAccessKey": "s", "SessionToken": "t"}

    def record(**request: Any) -> dict[str, str]:
        sent.append(request)
        return answer

    with patch.object(aws_sessions, "assume_role", record):
        responses = [agent.get(path) for path in PATHS]

    assert [response.status_code for response in responses] == [200, 200]
    assert {(each["role_arn"], each["region"], each["session_name"]) for each in sent} == {
        (ROLE, REGION, agent.stack_id)
    }
    of_stack, of_logs = (json.loads(each["policy"])["Statement"][0] for each in sent)
    assert of_stack["Condition"]["StringEquals"].popitem()[1] == agent.stack_id
    assert agent.stack_id in of_logs["Resource"]


@each_path
def test_an_agent_receives_no_credentials_of_another_stack(agent: AgentOfStack, path: str) -> None:
    other = agent.user.apply(build_stack_template(build_layer(instance_count=0)))

    responses = [agent.get(path, stack_id=stack_id) for stack_id in (other, "stk_unknown")]

    assert [response.status_code for response in responses] == [404, 404]
    assert {response.json()["code"] for response in responses} == {"not_found"}
    assert agent.get(path, stack_id="").status_code == 400


@each_path
def test_an_api_client_receives_no_credentials(agent: AgentOfStack, path: str) -> None:
    client = agent.user.service.root(agent.user.organisation, LEGACY, agent=True)

    assert read_problem(agent.get(path, client), 403)["code"] == "agent_alone"


def test_without_a_role_there_are_no_credentials(cloud_bridge: ServiceBridge) -> None:
    agent = AgentOfStack(create_stack_user(cloud_bridge))

    for path in PATHS:
        problem = read_problem(agent.get(path), 404)

        assert problem["code"] == "no_session_credentials"
        assert "agent_role_arn" in problem["detail"]


def test_a_simulated_stack_has_no_credentials(local_bridge: ServiceBridge) -> None:
    agent = AgentOfStack(create_stack_user(local_bridge))
    agent.set_role(ROLE)

    for path in PATHS:
        problem = read_problem(agent.get(path), 404)

        assert problem["code"] == "no_session_credentials"
        assert "simulated" in problem["detail"]


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (
            ClientError({"Error": {"Code": "AccessDenied", "Message": "canary"}}, "AssumeRole"),
            f"{FAILURE}: the credential does not permit it (AccessDenied).",
        ),
        (
            ConnectTimeoutError(endpoint_url="https://canary.example"),
            f"{FAILURE}: AWS cannot be reached.",
        ),
    ],
    ids=["refused", "unreachable"],
)
def test_a_refusal_of_aws_is_explained_without_its_text(
    agent: AgentOfStack, error: Exception, detail: str
) -> None:
    translated = translate_error(error, "the role for agents could not be assumed")

    with patch.object(aws_sessions, "assume_role", side_effect=translated):
        response = agent.get(PATHS[0])

    problem = read_problem(response, 409)
    assert (problem["code"], problem["detail"]) == ("session_refused", detail)
    assert response.headers["retry-after"] == "30"
    assert "canary" not in response.text


def test_credentials_are_neither_stored_nor_logged(
    agent: AgentOfStack, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = {
        "AccessKeyId": "key-canary-1",
        "SecretAccessKey": "secret-canary-2",
        "SessionToken": "token-canary-3",
    }
    with patch.object(aws_sessions, "assume_role", return_value=secrets):
        assert agent.get(PATHS[0]).json()["SecretAccessKey"] == "secret-canary-2"

    audit = agent.user.call(
        "GET", "/m/core/audit", headers=agent.user.service.root(agent.user.organisation)
    )
    shown = audit.text + "".join(capfd.readouterr())
    assert not [secret for secret in secrets.values() if secret in shown]
