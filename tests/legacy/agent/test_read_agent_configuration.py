"""Agents ask what to run: the container of their layer, with its key for their eyes alone."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.legacy.agent.agent_requests import CONFIG, client_headers, create_stack
from tests.legacy.agents import AgentLogin, agent_headers, set_stack_status
from tests.legacy.templates.template_requests import GIT_KEY, TEMPLATE, build_template, put_template
from tests.running_service import Service


def ask(
    service: Service, agent: AgentLogin, headers: dict[str, str] | None = None, flag: str = "web"
) -> httpx.Response:
    asked = {"stack_id": agent.stack_id, "flag": flag}
    return service.http.get(CONFIG, params=asked, headers=headers or agent_headers(service, agent))


def with_container(container: dict[str, Any] | None) -> list[dict[str, Any]]:
    layer = {**TEMPLATE["configurations"][0], "container": container}
    return [{name: value for name, value in layer.items() if value is not None}]


def test_the_container_of_the_layer_is_told_with_its_key(service: Service) -> None:
    answer = ask(service, create_stack(service))

    assert answer.status_code == 200
    told = answer.json()
    assert abs(told.pop("updated") - time.time()) < 60
    assert told == {
        "image": "registry.example/shop:1",
        "environment_variables": {"PORT": "8080"},
        "gitReference": "main",
        "gitPrivateKey": GIT_KEY,
        "gitRepo": "git@git.example:shop.git",
    }


def test_the_other_spelling_is_told_under_the_specified_names(service: Service) -> None:
    other = {
        "container_image": "i",
        "container_env_vars": {"A": "b"},
        "container_git_reference": "r",
        "container_git_private_key": "k",
        "container_git_repo": "g",
    }
    told = ask(service, create_stack(service, configurations=with_container(other))).json()

    del told["updated"]
    assert told == {
        "image": "i",
        "environment_variables": {"A": "b"},
        "gitReference": "r",
        "gitPrivateKey": "k",
        "gitRepo": "g",
    }


def test_what_is_not_defined_is_empty(service: Service) -> None:
    told = ask(service, create_stack(service, configurations=with_container({"image": "i"}))).json()

    assert told["environment_variables"] == {}
    assert told["gitReference"] == told["gitPrivateKey"] == told["gitRepo"] == ""


def test_an_api_client_is_told_without_the_key(service: Service) -> None:
    answer = ask(service, create_stack(service), client_headers(service))

    assert answer.json()["gitPrivateKey"] == "***"
    assert answer.json()["image"] == "registry.example/shop:1"
    assert "git-canary" not in answer.text


@pytest.mark.parametrize("flag", ["wbe", "db"])
def test_a_wrong_flag_or_no_container_is_an_empty_body(service: Service, flag: str) -> None:
    """The second layer of the template has no container."""
    answer = ask(service, create_stack(service), flag=flag)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/plain"), "nothing is not JSON"


@pytest.mark.parametrize("missing", ["stack_id", "flag"])
def test_a_missing_or_empty_parameter_is_refused(service: Service, missing: str) -> None:
    agent = create_stack(service)
    asked = {"stack_id": agent.stack_id, "flag": "web"}
    headers = agent_headers(service, agent)

    empty = service.http.get(CONFIG, params=asked | {missing: ""}, headers=headers)
    del asked[missing]
    absent = service.http.get(CONFIG, params=asked, headers=headers)

    assert absent.status_code == empty.status_code == 400


def test_another_stack_is_not_there(service: Service) -> None:
    mine, other = create_stack(service), create_stack(service)
    headers = agent_headers(service, mine)

    foreign, unknown = (
        ask(service, agent, headers) for agent in (other, AgentLogin("stk_unknown", ""))
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["code"] == unknown.json()["code"]


def test_an_api_client_of_another_organisation_sees_nothing(service: Service) -> None:
    agent = create_stack(service)
    service.organisation = service.new_organisation()

    assert ask(service, agent, client_headers(service)).status_code == 404


def test_a_deleted_stack_tells_nothing(service: Service) -> None:
    agent = create_stack(service)
    headers = agent_headers(service, agent)
    set_stack_status(service, agent.stack_id, "DELETE_COMPLETE")

    assert ask(service, agent, headers).status_code == 401
    assert ask(service, agent, client_headers(service)).status_code == 404


def test_updated_is_when_the_newest_version_was_applied(service: Service) -> None:
    agent = create_stack(service)
    before = ask(service, agent).json()
    time.sleep(1.1)

    changed = with_container({"image": "i:2", "gitPrivateKey": "***"})
    assert (
        put_template(service, agent.stack_id, build_template(configurations=changed)).status_code
        == 202
    )

    after = ask(service, agent).json()
    assert after["updated"] > before["updated"]
    assert (after["image"], after["gitPrivateKey"]) == ("i:2", GIT_KEY)
