"""GET /v3/alm/stack, GET and DELETE /v3/alm/stack/{stack_id}"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.ids import new_id
from nimbill.jobs.records import jobs
from nimbill.legacy.stacks.records import legacy_stacks
from nimbill.legacy.stacks.stack_transitions import StackStatus
from tests.legacy.agent.agent_requests import create_stack
from tests.legacy.agents import set_stack_status
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import (
    apply_template,
    build_template,
    master_headers,
    put_template,
    read_template,
)
from tests.problem_responses import read_problem
from tests.running_service import Service

PATH = "/v3/alm/stack"

FIELDS = [
    *("stack_id", "version_id", "stack_status", "configuration", "nickname"),
    *("create_time", "user_id", "username", "auth_token"),
]


def get_stack(service: Service, stack_id: str) -> httpx.Response:
    return service.http.get(f"{PATH}/{stack_id}", headers=master_headers(service))


def list_stacks(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    response = service.http.get(PATH, headers=headers or master_headers(service))
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def delete_stack(service: Service, stack_id: str) -> httpx.Response:
    return service.http.delete(f"{PATH}/{stack_id}", headers=master_headers(service))


def test_a_stack_has_the_specified_fields(service: Service) -> None:
    response = apply_template(service, nickname="red-fox")
    stack_id = response["stack_id"]

    found = get_stack(service, stack_id).json()

    assert list(found) == [*FIELDS, "reason", "instances"]
    assert found["stack_id"] == stack_id
    assert found["version_id"] == response["version_id"]
    assert found["stack_status"] in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE")
    assert found["configuration"] == read_template(service, stack_id)
    assert found["nickname"] == "red-fox"
    assert found["user_id"] == service.organisation.root_user_id
    assert found["username"] == "root"
    assert found["reason"] is None


def test_a_layer_without_instances_has_an_empty_list(service: Service) -> None:
    agent = create_stack(service, configurations=[{"role": "r", "flag": "web"}])

    assert get_stack(service, agent.stack_id).json()["instances"] == {"web": []}
    assert "instances" not in list_stacks(service)[0], "only a described stack has them"


def test_the_creation_time_has_an_offset(service: Service) -> None:
    created = get_stack(service, apply_template(service)["stack_id"]).json()["create_time"]

    at = datetime.fromisoformat(created)
    assert created.endswith("+00:00")
    assert at.utcoffset() == timedelta()
    assert abs((datetime.now(UTC) - at).total_seconds()) < 60


def test_the_configuration_is_the_newest_template(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    newest = put_template(service, stack_id, build_template(label="two")).json()

    found = get_stack(service, stack_id).json()

    assert found["configuration"]["label"] == "two"
    assert found["version_id"] == newest["version_id"]


def test_the_creator_may_be_a_subuser(service: Service) -> None:
    person = create_subuser(service)
    sent = service.http.post("/v3/alm/template", json=build_template(), headers=person.headers)

    found = get_stack(service, sent.json()["stack_id"]).json()

    assert (found["user_id"], found["username"]) == (person.user_id, person.username)


def test_only_the_master_account_sees_the_token(service: Service) -> None:
    """Not even the subuser who created the stack sees it."""
    person = create_subuser(service)
    sent = service.http.post("/v3/alm/template", json=build_template(), headers=person.headers)
    stack_id = sent.json()["stack_id"]

    shown = get_stack(service, stack_id).json()["auth_token"]
    hidden = service.http.get(f"{PATH}/{stack_id}", headers=person.headers)

    assert shown.startswith("nb_cs_")
    assert hidden.json()["auth_token"] == "***"
    assert shown not in hidden.text
    assert [stack["auth_token"] for stack in list_stacks(service)] == [shown]
    assert [stack["auth_token"] for stack in list_stacks(service, person.headers)] == ["***"]


def test_an_agent_can_log_in_with_the_token(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    token = get_stack(service, stack_id).json()["auth_token"]

    form = {"grant_type": "client_credentials", "client_id": stack_id, "client_secret": token}
    response = service.http.post("/v3/access_token", json=form)

    assert response.status_code == 200, response.text


@pytest.mark.parametrize("status", list(StackStatus))
def test_every_state_is_shown(service: Service, status: StackStatus) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, status)

    found = get_stack(service, stack_id).json()

    if status not in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS"):
        assert found["stack_status"] == status
    assert found["stack_status"] in list(StackStatus)


def test_the_reason_of_a_failure_is_shown(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    async def fail() -> None:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            await db.execute(
                sa.update(legacy_stacks)
                .where(legacy_stacks.c.stack_id == stack_id)
                .values(stack_status="CREATE_FAILED", reason="no such image")
            )

    service.run(fail)

    assert get_stack(service, stack_id).json()["reason"] == "no such image"


def test_stacks_of_the_organisation_are_listed_oldest_first(service: Service) -> None:
    apply_template(service)
    service.organisation = service.new_organisation()
    assert list_stacks(service) == []

    made = [apply_template(service)["stack_id"] for _ in range(3)]

    assert [stack["stack_id"] for stack in list_stacks(service)] == made
    assert {tuple(stack) for stack in list_stacks(service)} == {(*FIELDS, "reason")}


def test_the_list_contains_the_stacks_that_the_scope_allows(service: Service) -> None:
    person = create_subuser(service)
    made = [apply_template(service)["stack_id"] for _ in range(3)]
    resource = f"mrn:alm:stack:{made[1]}"
    grant_scope(
        service,
        person,
        build_statement("Allow", ["stack:describeStacks"], ["mrn:alm:stack:*"]),
        build_statement("Deny", ["stack:*"], [resource]),
    )

    assert [stack["stack_id"] for stack in list_stacks(service, person.headers)] == [
        made[0],
        made[2],
    ]


def test_the_list_is_refused_if_no_scope_allows_it(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement("Allow", ["stack:describeStack"]))

    response = service.http.get(PATH, headers=person.headers)

    assert read_problem(response, 403)["code"] == "scope_denied"


@pytest.mark.parametrize(
    ("method", "action"), [("GET", "describeStack"), ("DELETE", "deleteStack")]
)
def test_the_scope_is_checked_before_the_stack_is_looked_up(
    service: Service, method: str, action: str
) -> None:
    person = create_subuser(service)
    mine, closed = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service, person, build_statement("Allow", [f"stack:{action}"], [f"mrn:alm:stack:{mine}"])
    )

    responses = [
        service.http.request(method, f"{PATH}/{stack_id}", headers=person.headers)
        for stack_id in (mine, closed, new_id("stk"))
    ]

    assert [response.status_code for response in responses] == [200, 403, 403]
    assert responses[1].json()["detail"] == responses[2].json()["detail"]


def test_unknown_and_foreign_stacks_are_not_found(service: Service) -> None:
    theirs = apply_template(service)["stack_id"]
    service.organisation = service.new_organisation()

    for stack in (theirs, new_id("stk"), "x"):
        read_problem(get_stack(service, stack), 404)
        read_problem(delete_stack(service, stack), 404)


# ── deletion ─────────────────────────────────────────────────────────────────────────────────────


def test_a_deletion_is_started(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    response = delete_stack(service, stack_id)

    assert response.status_code == 200
    assert response.json() == {
        "status": "success",
        "stack_status": "DELETE_IN_PROGRESS",
        "stack_id": stack_id,
    }
    assert get_stack(service, stack_id).json()["stack_status"].startswith("DELETE_")


def test_a_repeated_deletion_gives_the_same_response(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_IN_PROGRESS")
    before = count_waiting_jobs(service, stack_id)

    response = delete_stack(service, stack_id)

    assert (response.status_code, response.json()["stack_status"]) == (200, "DELETE_IN_PROGRESS")
    assert count_waiting_jobs(service, stack_id) <= before


def count_waiting_jobs(service: Service, stack_id: str) -> int:
    async def count() -> int:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            stmt = sa.select(sa.func.count()).where(
                jobs.c.subject == stack_id, jobs.c.state == "waiting"
            )
            return int((await db.execute(stmt)).scalar_one())

    return service.run(count)


@pytest.mark.parametrize("status", ["CREATE_FAILED", "UPDATE_COMPLETE", "DELETE_FAILED"])
def test_a_deletion_is_allowed_in_every_state(service: Service, status: str) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, status)

    assert delete_stack(service, stack_id).json()["stack_status"] == "DELETE_IN_PROGRESS"


def test_a_deleted_stack_can_be_read_but_is_not_listed(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_COMPLETE")

    assert get_stack(service, stack_id).json()["stack_status"] == "DELETE_COMPLETE"
    assert list_stacks(service) == []
    read_problem(delete_stack(service, stack_id), 404)


def test_a_deleted_stack_has_no_token(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    async def delete_token() -> None:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            await db.execute(sa.update(legacy_stacks).values(encrypted_token=None))

    service.run(delete_token)

    assert get_stack(service, stack_id).json()["auth_token"] == "***"


def test_a_deletion_is_in_the_audit_log(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    delete_stack(service, stack_id)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()

    assert [row["resource"] for row in rows if row["action"] == "delete_stack"] == [
        f"stack/{stack_id}"
    ]
