"""GET /v3/alm/agent/config"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.legacy.stacks.records import legacy_template_versions
from nimbill.legacy.token_product import LEGACY
from tests.legacy.agent.agent_requests import CONFIG, client_headers, create_stack
from tests.legacy.agents import AgentLogin, agent_headers, set_stack_status
from tests.legacy.templates.template_requests import GIT_KEY, TEMPLATE, build_template, put_template
from tests.running_service import Service


def get_configuration(
    service: Service, agent: AgentLogin, headers: dict[str, str] | None = None, flag: str = "web"
) -> httpx.Response:
    query = {"stack_id": agent.stack_id, "flag": flag}
    return service.http.get(CONFIG, params=query, headers=headers or agent_headers(service, agent))


def with_container(container: dict[str, Any] | None) -> list[dict[str, Any]]:
    layer = {**TEMPLATE["configurations"][0], "container": container}
    return [{name: value for name, value in layer.items() if value is not None}]


def pick_specified(configuration: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in configuration.items() if not name.startswith("container_")
    }


def pick_published(configuration: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in configuration.items() if name.startswith("container_")}


def test_published_agents_read_the_same_values_under_their_names(service: Service) -> None:
    more = {
        "container_registry_username": "robot",
        "container_registry_password": "registry-canary-8d",
        "container_code_dir": "/srv/shop",
        "container_ports": [80, 443],
        "container_users": [{"name": "ops", "publicKey": "ssh-ed25519 AAAA"}],
        "container_addons": ["logs"],
        "container_storage": {"type": "ebs", "id": "vol-1", "mountpath": "/data"},
    }
    (layer,) = with_container(TEMPLATE["configurations"][0]["container"] | more)
    agent = create_stack(service, configurations=[layer])

    of_agent = get_configuration(service, agent).json()
    of_client = get_configuration(service, agent, client_headers(service))

    assert pick_published(of_agent) == {
        "container_image": of_agent["image"],
        "container_env_vars": of_agent["environment_variables"],
        "container_git_reference": of_agent["gitReference"],
        "container_git_private_key": GIT_KEY,
        "container_git_repo": of_agent["gitRepo"],
        "container_updated": of_agent["updated"],
        **more,
    }
    assert of_client.json()["container_registry_password"] == "***"
    assert of_client.json()["container_git_private_key"] == "***"
    assert "canary" not in of_client.text


def test_fields_of_published_agents_have_empty_defaults(service: Service) -> None:
    configuration = get_configuration(
        service, create_stack(service, configurations=with_container({"image": "i"}))
    ).json()

    published = pick_published(configuration)
    assert published.pop("container_updated") == configuration["updated"]
    assert published == {
        "container_image": "i",
        "container_env_vars": {},
        "container_git_reference": "",
        "container_git_private_key": "",
        "container_git_repo": "",
        "container_registry_username": "",
        "container_registry_password": "",
        "container_code_dir": "",
        "container_ports": [],
        "container_users": [],
        "container_addons": [],
        "container_storage": None,
    }


def test_an_agent_reads_the_container_of_its_layer_with_the_key(service: Service) -> None:
    response = get_configuration(service, create_stack(service))

    assert response.status_code == 200
    configuration = response.json()
    assert abs(configuration.pop("updated") - time.time()) < 60
    assert pick_specified(configuration) == {
        "image": "registry.example/shop:1",
        "environment_variables": {"PORT": "8080"},
        "gitReference": "main",
        "gitPrivateKey": GIT_KEY,
        "gitRepo": "git@git.example:shop.git",
    }


def test_alternative_field_names_become_the_specified_ones(service: Service) -> None:
    container = {
        "container_image": "i",
        "container_env_vars": {"A": "b"},
        "container_git_reference": "r",
        "container_git_private_key": "k",
        "container_git_repo": "g",
    }
    configuration = get_configuration(
        service, create_stack(service, configurations=with_container(container))
    ).json()

    del configuration["updated"]
    assert pick_specified(configuration) == {
        "image": "i",
        "environment_variables": {"A": "b"},
        "gitReference": "r",
        "gitPrivateKey": "k",
        "gitRepo": "g",
    }


def test_undefined_fields_are_empty(service: Service) -> None:
    configuration = get_configuration(
        service, create_stack(service, configurations=with_container({"image": "i"}))
    ).json()

    assert configuration["environment_variables"] == {}
    assert (
        configuration["gitReference"]
        == configuration["gitPrivateKey"]
        == configuration["gitRepo"]
        == ""
    )


def test_an_api_client_does_not_see_the_key(service: Service) -> None:
    response = get_configuration(service, create_stack(service), client_headers(service))

    assert response.json()["gitPrivateKey"] == "***"
    assert response.json()["image"] == "registry.example/shop:1"
    assert "git-canary" not in response.text


def test_secret_variables_are_given_in_clear_to_the_agent_only(service: Service) -> None:
    variables = {"PORT": "8080", "DB_PASSWORD": "variable-canary-21"}
    agent = create_stack(
        service, configurations=with_container({"image": "i", "environment_variables": variables})
    )
    stack_id, master = agent.stack_id, service.root(product=LEGACY)

    of_agent = get_configuration(service, agent).json()["environment_variables"]
    of_client = get_configuration(service, agent, client_headers(service))
    others = [
        service.http.get(f"/v3/alm/template/{stack_id}", headers=master),
        service.http.get(f"/v3/alm/stack/{stack_id}", headers=master),
        service.http.get("/m/core/audit", headers=service.root()),
    ]

    assert of_agent == variables
    assert of_client.json()["environment_variables"] == {"PORT": "8080", "DB_PASSWORD": "***"}
    assert all("DB_PASSWORD" in response.text for response in others)
    assert not any("variable-canary" in response.text for response in [of_client, *others])


@pytest.mark.parametrize("flag", ["wbe", "db"])
def test_an_unknown_flag_or_a_layer_without_container_is_an_empty_body(
    service: Service, flag: str
) -> None:
    """The second layer of the template has no container."""
    response = get_configuration(service, create_stack(service), flag=flag)

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/plain"), "an empty body is not JSON"


@pytest.mark.parametrize("missing", ["stack_id", "flag"])
def test_a_missing_or_empty_parameter_is_refused(service: Service, missing: str) -> None:
    agent = create_stack(service)
    query = {"stack_id": agent.stack_id, "flag": "web"}
    headers = agent_headers(service, agent)

    empty = service.http.get(CONFIG, params=query | {missing: ""}, headers=headers)
    del query[missing]
    absent = service.http.get(CONFIG, params=query, headers=headers)

    assert absent.status_code == empty.status_code == 400


def test_another_stack_is_not_found(service: Service) -> None:
    mine, other = create_stack(service), create_stack(service)
    headers = agent_headers(service, mine)

    foreign, unknown = (
        get_configuration(service, agent, headers)
        for agent in (other, AgentLogin("stk_unknown", ""))
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["code"] == unknown.json()["code"]


def test_an_api_client_of_another_organisation_is_refused(service: Service) -> None:
    agent = create_stack(service)
    service.organisation = service.new_organisation()

    assert get_configuration(service, agent, client_headers(service)).status_code == 404


def test_a_deleted_stack_has_no_configuration(service: Service) -> None:
    agent = create_stack(service)
    headers = agent_headers(service, agent)
    set_stack_status(service, agent.stack_id, "DELETE_COMPLETE")

    assert get_configuration(service, agent, headers).status_code == 401
    assert get_configuration(service, agent, client_headers(service)).status_code == 404


def date_versions(service: Service, stack_id: str, *times: datetime) -> None:
    """Set when each version of the stack's template was applied, the first version first."""
    versions = legacy_template_versions
    organisation_id = service.organisation.organisation_id

    async def set_times() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            for number, at in enumerate(times, start=1):
                is_version = (versions.c.stack_id == stack_id) & (versions.c.number == number)
                result = await db.execute(
                    sa.update(versions).where(is_version).values(create_time=at)
                )
                assert result.rowcount == 1

    service.run(set_times)


def test_updated_is_when_the_newest_version_was_applied(service: Service) -> None:
    """Neither the time of the request nor that of the stack or of an earlier version."""
    first, second = (datetime(2026, month, 2, 3, 4, 5, 999999, tzinfo=UTC) for month in (3, 4))
    agent = create_stack(service)
    date_versions(service, agent.stack_id, first)

    before = get_configuration(service, agent).json()
    changed = with_container({"image": "i:2", "gitPrivateKey": "***"})
    response = put_template(service, agent.stack_id, build_template(configurations=changed))
    date_versions(service, agent.stack_id, first, second)
    after = get_configuration(service, agent).json()

    assert response.status_code == 202
    assert (before["updated"], after["updated"]) == (1772420645, 1775099045)
    assert (after["image"], after["gitPrivateKey"]) == ("i:2", GIT_KEY)
