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


def describe(service: Service, stack_id: str) -> httpx.Response:
    return service.http.get(f"{PATH}/{stack_id}", headers=master_headers(service))


def stacks(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    answer = service.http.get(PATH, headers=headers or master_headers(service))
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def delete(service: Service, stack_id: str) -> httpx.Response:
    return service.http.delete(f"{PATH}/{stack_id}", headers=master_headers(service))


def test_a_stack_has_the_specified_fields(service: Service) -> None:
    answer = apply_template(service, nickname="red-fox")
    stack_id = answer["stack_id"]

    found = describe(service, stack_id).json()

    assert list(found) == [*FIELDS, "reason"]
    assert found["stack_id"] == stack_id
    assert found["version_id"] == answer["version_id"]
    assert found["stack_status"] in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE")
    assert found["configuration"] == read_template(service, stack_id)
    assert found["nickname"] == "red-fox"
    assert found["user_id"] == service.organisation.root_user_id
    assert found["username"] == "root"
    assert found["reason"] is None


def test_the_time_of_creation_carries_its_offset(service: Service) -> None:
    created = describe(service, apply_template(service)["stack_id"]).json()["create_time"]

    at = datetime.fromisoformat(created)
    assert created.endswith("+00:00")
    assert at.utcoffset() == timedelta()
    assert abs((datetime.now(UTC) - at).total_seconds()) < 60


def test_the_configuration_is_the_newest_template(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    newest = put_template(service, stack_id, build_template(label="two")).json()

    found = describe(service, stack_id).json()

    assert found["configuration"]["label"] == "two"
    assert found["version_id"] == newest["version_id"]


def test_who_created_a_stack_is_said_of_subusers_too(service: Service) -> None:
    person = create_subuser(service)
    sent = service.http.post("/v3/alm/template", json=build_template(), headers=person.headers)

    found = describe(service, sent.json()["stack_id"]).json()

    assert (found["user_id"], found["username"]) == (person.user_id, person.username)


def test_the_token_is_shown_to_the_master_account_alone(service: Service) -> None:
    """Even to the subuser who created the stack it is not."""
    person = create_subuser(service)
    sent = service.http.post("/v3/alm/template", json=build_template(), headers=person.headers)
    stack_id = sent.json()["stack_id"]

    shown = describe(service, stack_id).json()["auth_token"]
    hidden = service.http.get(f"{PATH}/{stack_id}", headers=person.headers)

    assert shown.startswith("nb_cs_")
    assert hidden.json()["auth_token"] == "***"
    assert shown not in hidden.text
    assert [one["auth_token"] for one in stacks(service)] == [shown]
    assert [one["auth_token"] for one in stacks(service, person.headers)] == ["***"]


def test_the_token_opens_the_door_of_its_agent(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    token = describe(service, stack_id).json()["auth_token"]

    form = {"grant_type": "client_credentials", "client_id": stack_id, "client_secret": token}
    answer = service.http.post("/v3/access_token", json=form)

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("status", list(StackStatus))
def test_every_state_is_shown(service: Service, status: StackStatus) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, status)

    found = describe(service, stack_id).json()

    if status not in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS"):
        assert found["stack_status"] == status
    assert found["stack_status"] in list(StackStatus)


def test_why_it_failed_is_said(service: Service) -> None:
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

    assert describe(service, stack_id).json()["reason"] == "no such image"


def test_stacks_are_listed_the_oldest_first_and_only_ones_own(service: Service) -> None:
    apply_template(service)
    service.organisation = service.new_organisation()
    assert stacks(service) == []

    made = [apply_template(service)["stack_id"] for _ in range(3)]

    assert [one["stack_id"] for one in stacks(service)] == made
    assert {tuple(one) for one in stacks(service)} == {(*FIELDS, "reason")}


def test_a_list_shows_what_the_scope_allows(service: Service) -> None:
    person = create_subuser(service)
    made = [apply_template(service)["stack_id"] for _ in range(3)]
    resource = f"mrn:alm:stack:{made[1]}"
    grant_scope(
        service,
        person,
        build_statement("Allow", ["stack:describeStacks"], ["mrn:alm:stack:*"]),
        build_statement("Deny", ["stack:*"], [resource]),
    )

    assert [one["stack_id"] for one in stacks(service, person.headers)] == [made[0], made[2]]


def test_a_list_is_refused_where_no_scope_names_it(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement("Allow", ["stack:describeStack"]))

    answer = service.http.get(PATH, headers=person.headers)

    assert read_problem(answer, 403)["code"] == "scope_denied"


@pytest.mark.parametrize(
    ("method", "action"), [("GET", "describeStack"), ("DELETE", "deleteStack")]
)
def test_the_scope_is_asked_before_the_record(service: Service, method: str, action: str) -> None:
    person = create_subuser(service)
    mine, closed = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service, person, build_statement("Allow", [f"stack:{action}"], [f"mrn:alm:stack:{mine}"])
    )

    answers = [
        service.http.request(method, f"{PATH}/{one}", headers=person.headers)
        for one in (mine, closed, new_id("stk"))
    ]

    assert [answer.status_code for answer in answers] == [200, 403, 403]
    assert answers[1].json()["detail"] == answers[2].json()["detail"]


def test_what_is_not_there_is_not_found(service: Service) -> None:
    theirs = apply_template(service)["stack_id"]
    service.organisation = service.new_organisation()

    for stack in (theirs, new_id("stk"), "x"):
        read_problem(describe(service, stack), 404)
        read_problem(delete(service, stack), 404)


# ── deleting ─────────────────────────────────────────────────────────────────────────────────────


def test_deleting_asks_for_the_stack_to_be_ended(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    answer = delete(service, stack_id)

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "success",
        "stack_status": "DELETE_IN_PROGRESS",
        "stack_id": stack_id,
    }
    assert describe(service, stack_id).json()["stack_status"].startswith("DELETE_")


def test_deleting_again_meanwhile_says_the_same(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_IN_PROGRESS")
    before = moves_asked_for(service, stack_id)

    answer = delete(service, stack_id)

    assert (answer.status_code, answer.json()["stack_status"]) == (200, "DELETE_IN_PROGRESS")
    assert moves_asked_for(service, stack_id) <= before


def moves_asked_for(service: Service, stack_id: str) -> int:
    async def count() -> int:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            asked = sa.select(sa.func.count()).where(
                jobs.c.subject == stack_id, jobs.c.state == "waiting"
            )
            return int((await db.execute(asked)).scalar_one())

    return service.run(count)


@pytest.mark.parametrize("status", ["CREATE_FAILED", "UPDATE_COMPLETE", "DELETE_FAILED"])
def test_deleting_is_taken_in_every_state(service: Service, status: str) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, status)

    assert delete(service, stack_id).json()["stack_status"] == "DELETE_IN_PROGRESS"


def test_a_deleted_stack_is_shown_by_its_id_and_listed_nowhere(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_COMPLETE")

    assert describe(service, stack_id).json()["stack_status"] == "DELETE_COMPLETE"
    assert stacks(service) == []
    read_problem(delete(service, stack_id), 404)


def test_a_deleted_stack_has_no_token_to_show(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    async def wipe() -> None:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            await db.execute(sa.update(legacy_stacks).values(encrypted_token=None))

    service.run(wipe)

    assert describe(service, stack_id).json()["auth_token"] == "***"


def test_deleting_leaves_an_audit_row(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    delete(service, stack_id)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()

    assert [row["resource"] for row in rows if row["action"] == "delete_stack"] == [
        f"stack/{stack_id}"
    ]
