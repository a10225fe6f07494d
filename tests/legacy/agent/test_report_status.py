"""POST /v3/alm/agent/agent_status and /v3/alm/agent/container_status"""

from __future__ import annotations

import time

import pytest

from tests.legacy.agent.agent_requests import (
    AGENT_STATUS,
    CONTAINER_STATUS,
    client_headers,
    create_stack,
    post_report,
)
from tests.legacy.agents import AgentLogin, agent_headers, set_stack_status
from tests.legacy.templates.template_requests import master_headers, violated_fields
from tests.problem_responses import read_problem
from tests.running_service import Service

each_path = pytest.mark.parametrize("path", [AGENT_STATUS, CONTAINER_STATUS])


def test_the_first_report_registers_the_agent_and_the_last_one_wins(service: Service) -> None:
    agent = create_stack(service)

    first = post_report(service, AGENT_STATUS, agent, instance_id="i-1", message="up")
    second = post_report(service, AGENT_STATUS, agent, status="installing")

    assert (first.status_code, second.status_code) == (202, 202)
    stored = first.json()
    assert abs(int(stored.pop("create_time")) - time.time()) < 60
    assert abs(int(stored.pop("update_time")) - time.time()) < 60
    assert stored == {
        "agent_id": "agent-1",
        "stack_id": agent.stack_id,
        "instance_id": "i-1",
        "status": "starting",
        "message": "up",
    }
    again = second.json()
    assert again["create_time"] == first.json()["create_time"]
    assert (again["status"], again["message"]) == ("installing", "")
    assert again["instance_id"] == "i-1", "a report without instance id keeps the stored one"


def test_the_first_report_registers_the_container_and_the_last_one_wins(service: Service) -> None:
    agent = create_stack(service)

    for status in ("running", "restarting", "starting"):  # in any order
        response = post_report(service, CONTAINER_STATUS, agent, status=status, instance_id="i-1")
        assert response.status_code == 202

    found = service.http.get("/v3/alm/container/container-1", headers=master_headers(service))
    assert found.json() == response.json()
    assert {**found.json(), "update_time": "*"} == {
        "container_id": "container-1",
        "agent_id": "agent-1",
        "update_time": "*",
        "stack_id": agent.stack_id,
        "instance_id": "i-1",
        "status": "starting",
    }


def test_a_container_may_have_the_id_of_its_instance(service: Service) -> None:
    response = post_report(service, CONTAINER_STATUS, create_stack(service), container_id="i-0123")

    assert response.json()["container_id"] == "i-0123"


@each_path
def test_a_form_is_accepted(service: Service, path: str) -> None:
    agent = create_stack(service)
    form = {
        "stack_id": agent.stack_id,
        "agent_id": "agent-1",
        "container_id": "container-1",
        "status": "starting",
        "instance_id": "",
    }

    response = service.http.post(path, data=form, headers=agent_headers(service, agent))

    assert response.status_code == 202
    assert (response.json()["status"], response.json()["instance_id"]) == ("starting", "")


@each_path
def test_any_status_is_accepted(service: Service, path: str) -> None:
    agent = create_stack(service)

    for status in (
        *("starting", "installing", "error", "notice", "spot_terminate", "完了", "x" * 64),
        *("updating", "restarting", "running", "terminated"),
    ):
        response = post_report(service, path, agent, status=status)
        assert response.json()["status"] == status


@each_path
def test_missing_empty_and_long_fields_are_refused(service: Service, path: str) -> None:
    agent = create_stack(service)
    required = {"stack_id", "agent_id", "status"}
    required |= {"container_id"} if path == CONTAINER_STATUS else set()

    nothing = service.http.post(path, json={}, headers=agent_headers(service, agent))
    too_long = dict.fromkeys(required, "x" * 129) | {"instance_id": "x" * 129}
    long = service.http.post(path, json=too_long, headers=agent_headers(service, agent))
    empty = service.http.post(
        path, json=dict.fromkeys(required, ""), headers=agent_headers(service, agent)
    )

    assert violated_fields(nothing) == required
    assert violated_fields(empty) == required
    assert violated_fields(long) == {*required, "instance_id"}
    assert violated_fields(post_report(service, path, agent, status="x" * 65)) == {"status"}


@pytest.mark.parametrize("form", [False, True], ids=["json", "form"])
def test_a_long_message_is_cut_and_the_report_is_kept(service: Service, form: bool) -> None:
    """A refused report would be lost, and with it the error of the machine."""
    agent = create_stack(service)
    report = {
        "stack_id": agent.stack_id,
        "agent_id": "agent-1",
        "status": "error",
        "message": "始" + "x" * 50_000,
    }

    response = service.http.post(
        AGENT_STATUS,
        headers=agent_headers(service, agent),
        **({"data": report} if form else {"json": report}),  # type: ignore[arg-type]
    )

    assert response.status_code == 202, response.text
    assert response.json()["message"] == "始" + "x" * 1_999


@pytest.mark.parametrize("path", [AGENT_STATUS, CONTAINER_STATUS])
def test_a_repeat_with_the_same_idempotency_key_receives_the_first_response(
    service: Service, path: str
) -> None:
    agent = create_stack(service)
    headers = agent_headers(service, agent) | {"Idempotency-Key": "report-1"}

    first = post_report(service, path, agent, headers, status="starting")
    post_report(service, path, agent, status="running")
    repeat = post_report(service, path, agent, headers, status="starting")
    other = post_report(service, path, agent, headers, status="running")

    assert first.status_code == repeat.status_code == 202
    assert repeat.content == first.content
    assert repeat.headers["idempotent-replayed"] == "true"
    assert read_problem(other, 409)["code"] == "idempotency_key_reused"


@each_path
def test_an_agent_reports_for_its_own_stack_only(service: Service, path: str) -> None:
    mine, other = create_stack(service), create_stack(service)

    foreign = post_report(service, path, other, agent_headers(service, mine))
    unknown = post_report(
        service, path, AgentLogin("stk_unknown", ""), agent_headers(service, mine)
    )

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["code"] == unknown.json()["code"] == "not_found"


@each_path
def test_an_api_client_reports_for_the_stacks_of_its_organisation(
    service: Service, path: str
) -> None:
    mine, headers = create_stack(service), client_headers(service)
    service.organisation = service.new_organisation()
    foreign = create_stack(service)

    assert post_report(service, path, mine, headers).status_code == 202
    assert post_report(service, path, foreign, headers).status_code == 404


@each_path
def test_a_deleted_stack_accepts_no_reports(service: Service, path: str) -> None:
    agent = create_stack(service)
    headers = agent_headers(service, agent)
    set_stack_status(service, agent.stack_id, "DELETE_COMPLETE")

    assert post_report(service, path, agent, headers).status_code == 401
    assert post_report(service, path, agent, client_headers(service)).status_code == 404


def test_a_stack_that_is_being_deleted_accepts_reports(service: Service) -> None:
    agent = create_stack(service)
    set_stack_status(service, agent.stack_id, "DELETE_FAILED")

    assert post_report(service, CONTAINER_STATUS, agent, status="terminated").status_code == 202


def test_a_container_id_belongs_to_one_stack_until_that_is_deleted(
    service: Service,
) -> None:
    first, second = create_stack(service), create_stack(service)
    post_report(service, CONTAINER_STATUS, first, instance_id="i-1")

    taken = post_report(service, CONTAINER_STATUS, second)
    assert (taken.status_code, taken.json()["code"]) == (409, "container_of_other_stack")

    set_stack_status(service, first.stack_id, "DELETE_COMPLETE")
    free = post_report(service, CONTAINER_STATUS, second)
    assert (free.status_code, free.json()["stack_id"]) == (202, second.stack_id)
    assert free.json()["instance_id"] == "", "the instance id of the other stack is not kept"


def test_container_ids_are_unique_within_an_organisation_only(service: Service) -> None:
    post_report(service, CONTAINER_STATUS, create_stack(service))
    service.organisation = service.new_organisation()

    assert post_report(service, CONTAINER_STATUS, create_stack(service)).status_code == 202


def test_a_user_cannot_report(service: Service) -> None:
    response = post_report(service, AGENT_STATUS, create_stack(service), master_headers(service))

    assert (response.status_code, response.json()["code"]) == (403, "grant_not_admitted")
