"""GET /v3/alm/container/{container_id} and GET /v3/alm/container"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.ids import new_id
from nimbill.legacy.containers.records import legacy_containers
from tests.legacy.agents import create_agent
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import master_headers
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

PATH = "/v3/alm/container"
AT = datetime(2026, 11, 15, 12, 0, 0, 700_000, tzinfo=UTC)


def add_container(service: Service, stack_id: str, container_id: str, **values: Any) -> None:
    organisation_id = service.organisation.organisation_id
    row = {
        "organisation_id": organisation_id,
        "stack_id": stack_id,
        "container_id": container_id,
        "agent_id": "agent-1",
        "instance_id": "i-1",
        "status": "running",
        "update_time": AT,
    }

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(sa.insert(legacy_containers).values(**row | values))

    service.run(insert)


def list_ids(service: Service, **query: str) -> list[str]:
    response = get_containers(service, **query)
    assert response.status_code == 200, response.text
    return [container["container_id"] for container in response.json()]


def get_containers(service: Service, **query: str) -> httpx.Response:
    return service.http.get(PATH, params=query, headers=master_headers(service))


@pytest.fixture
def stack(service: Service) -> str:
    """A stack with two containers on one instance and one on another."""
    stack_id = create_agent(service).stack_id
    add_container(service, stack_id, "c-2", instance_id="i-1")
    add_container(service, stack_id, "c-1", instance_id="i-1")
    add_container(service, stack_id, "c-3", instance_id="i-2")
    return stack_id


def test_a_container_has_the_specified_fields(service: Service, stack: str) -> None:
    response = service.http.get(f"{PATH}/c-1", headers=master_headers(service))

    assert response.status_code == 200
    assert response.json() == {
        "container_id": "c-1",
        "agent_id": "agent-1",
        "update_time": str(int(AT.timestamp())),  # Unix time in seconds, as text
        "stack_id": stack,
        "instance_id": "i-1",
        "status": "running",
    }
    assert list(response.json()) == [
        *("container_id", "agent_id", "update_time", "stack_id", "instance_id", "status"),
    ]


def test_a_container_may_have_the_id_of_its_instance(service: Service, stack: str) -> None:
    add_container(service, stack, "i-9", instance_id=None, status="complete")

    found = service.http.get(f"{PATH}/i-9", headers=master_headers(service)).json()

    assert (found["container_id"], found["instance_id"]) == ("i-9", "")
    assert found["status"] == "complete"


def test_the_containers_of_a_stack_are_listed(service: Service, stack: str) -> None:
    other = create_agent(service).stack_id
    add_container(service, other, "c-0")

    assert list_ids(service, stack_id=stack) == ["c-1", "c-2", "c-3"]
    assert list_ids(service, stack_id=other) == ["c-0"]
    assert list_ids(service, stack_id=stack, instance_id="") == ["c-1", "c-2", "c-3"]


def test_the_containers_of_an_instance_are_listed(service: Service, stack: str) -> None:
    assert list_ids(service, instance_id="i-1") == ["c-1", "c-2"]
    assert list_ids(service, instance_id="i-2") == ["c-3"]


def test_the_stack_is_ignored_if_an_instance_is_given(service: Service, stack: str) -> None:
    assert list_ids(service, stack_id=stack, instance_id="i-2") == ["c-3"]
    assert list_ids(service, stack_id=new_id("stk"), instance_id="i-2") == ["c-3"]
    assert list_ids(service, stack_id=stack, instance_id="i-7") == []


@pytest.mark.parametrize("query", [{}, {"stack_id": ""}, {"stack_id": "", "instance_id": ""}])
def test_a_stack_or_an_instance_is_required(service: Service, query: dict[str, str]) -> None:
    assert read_violations(get_containers(service, **query)) == [
        ("stack_id", "required where instance_id is not given")
    ]


def test_unknown_containers_are_not_found(service: Service, stack: str) -> None:
    assert list_ids(service, stack_id=new_id("stk")) == []
    assert list_ids(service, instance_id="i-404") == []
    read_problem(service.http.get(f"{PATH}/c-404", headers=master_headers(service)), 404)


def test_containers_of_other_organisations_are_not_found(service: Service, stack: str) -> None:
    service.organisation = service.new_organisation()

    assert list_ids(service, stack_id=stack) == []
    assert list_ids(service, instance_id="i-1") == []
    read_problem(service.http.get(f"{PATH}/c-1", headers=master_headers(service)), 404)


def test_container_ids_are_unique_within_an_organisation_only(service: Service, stack: str) -> None:
    service.organisation = service.new_organisation()
    own = create_agent(service).stack_id
    add_container(service, own, "c-1", status="starting")

    assert list_ids(service, instance_id="i-1") == ["c-1"]
    found = service.http.get(f"{PATH}/c-1", headers=master_headers(service)).json()
    assert (found["stack_id"], found["status"]) == (own, "starting")


def test_only_containers_that_the_scope_allows_are_visible(service: Service, stack: str) -> None:
    person = create_subuser(service)
    action = "container:describeContainers"
    grant_scope(
        service,
        person,
        build_statement("Allow", [action], ["mrn:alm:container:c-*"]),
        build_statement("Deny", [action], ["mrn:alm:container:c-2"]),
    )

    def get_status(container: str) -> int:
        return service.http.get(f"{PATH}/{container}", headers=person.headers).status_code

    every = service.http.get(PATH, params={"stack_id": stack}, headers=person.headers)
    assert [each["container_id"] for each in every.json()] == ["c-1", "c-3"]
    assert [get_status(each) for each in ("c-1", "c-2", "c-404", "d-404")] == [200, 403, 404, 403]


def test_the_list_is_refused_if_no_scope_allows_it(service: Service, stack: str) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement("Allow", ["stack:*", "template:*"]))

    response = service.http.get(PATH, params={"stack_id": stack}, headers=person.headers)

    assert read_problem(response, 403)["code"] == "scope_denied"
