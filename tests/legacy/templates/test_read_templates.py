"""GET /v3/alm/template?stack_id= and GET /v3/alm/template/{stack_id}?version_id="""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nimbill.foundation import exact_json
from nimbill.foundation.ids import new_id
from tests.answers import problem_of, violations_of
from tests.legacy.agents import put_stack_status
from tests.legacy.roles.acting import give, new_subuser, statement
from tests.legacy.templates.sound import PATH, applied, master, read, template, update
from tests.running_service import Service


def versions(service: Service, stack_id: str) -> list[dict[str, object]]:
    answer = service.http.get(PATH, params={"stack_id": stack_id}, headers=master(service))
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = answer.json()
    return found


def test_a_version_has_the_specified_fields(service: Service) -> None:
    answer = applied(service)

    (version,) = versions(service, answer["stack_id"])

    assert list(version) == ["version_id", "latest", "last_modified", "size"]
    assert version["version_id"] == answer["version_id"]
    assert version["latest"] is True
    at = datetime.fromisoformat(str(version["last_modified"]))
    assert str(version["last_modified"]).endswith("Z")
    assert abs((datetime.now(UTC) - at).total_seconds()) < 60


def test_the_size_is_that_of_the_template_as_it_is_shown(service: Service) -> None:
    stack_id = applied(service, description="é" * 10)["stack_id"]

    (version,) = versions(service, stack_id)

    assert version["size"] == str(len(exact_json.write(read(service, stack_id))))


def test_the_newest_version_comes_first_and_alone_is_the_latest(service: Service) -> None:
    first = applied(service)
    second = update(service, first["stack_id"]).json()
    third = update(service, first["stack_id"]).json()

    found = versions(service, first["stack_id"])

    assert [each["version_id"] for each in found] == [
        third["version_id"],
        second["version_id"],
        first["version_id"],
    ]
    assert [each["latest"] for each in found] == [True, False, False]


def test_a_version_by_its_id_and_the_most_recent_one_by_three_names(service: Service) -> None:
    first = applied(service)
    stack_id = first["stack_id"]
    update(service, stack_id, template(label="two"))

    assert read(service, stack_id, version_id=first["version_id"])["label"] == "shop"
    assert read(service, stack_id)["label"] == "two"
    assert read(service, stack_id, version_id="")["label"] == "two"
    assert read(service, stack_id, version_id="latest")["label"] == "two"


def test_numbers_come_back_exactly_as_they_were_sent(service: Service) -> None:
    body = exact_json.write(template()).replace(
        b'"label":"shop"', b'"label":"shop","price":0.10,"big":123456789012345678901234567890'
    )
    headers = {**master(service), "Content-Type": "application/json"}
    stack_id = service.http.post(PATH, content=body, headers=headers).json()["stack_id"]

    answer = service.http.get(f"{PATH}/{stack_id}", headers=master(service))

    assert '"price":0.10,"big":123456789012345678901234567890' in answer.text


def test_the_stack_id_is_required(service: Service) -> None:
    answer = service.http.get(PATH, headers=master(service))

    assert violations_of(answer) == [("stack_id", "required")]


def test_what_is_not_there_is_not_found(service: Service) -> None:
    ours, other = applied(service), applied(service)
    headers = master(service)

    for version in (new_id("ver"), other["version_id"], "LATEST"):
        address, query = f"{PATH}/{ours['stack_id']}", {"version_id": version}
        problem_of(service.http.get(address, params=query, headers=headers), 404)
    for stack in (new_id("stk"), "compare2"):
        problem_of(service.http.get(f"{PATH}/{stack}", headers=headers), 404)
        problem_of(service.http.get(PATH, params={"stack_id": stack}, headers=headers), 404)


def test_templates_of_others_are_not_found(service: Service) -> None:
    theirs = applied(service)
    service.organisation = service.new_organisation()
    ours = applied(service)
    headers = master(service)

    problem_of(service.http.get(f"{PATH}/{theirs['stack_id']}", headers=headers), 404)
    problem_of(
        service.http.get(PATH, params={"stack_id": theirs["stack_id"]}, headers=headers), 404
    )
    query = {"version_id": theirs["version_id"]}
    problem_of(service.http.get(f"{PATH}/{ours['stack_id']}", params=query, headers=headers), 404)


def test_templates_of_a_deleted_stack_can_still_be_read(service: Service) -> None:
    stack_id = applied(service)["stack_id"]
    put_stack_status(service, stack_id, "DELETE_COMPLETE")

    assert read(service, stack_id)["label"] == "shop"
    assert len(versions(service, stack_id)) == 1


@pytest.mark.parametrize("by", ["path", "query"])
def test_the_scope_decides_which(service: Service, by: str) -> None:
    person = new_subuser(service)
    mine, closed = applied(service)["stack_id"], applied(service)["stack_id"]
    give(
        service,
        person,
        statement("Allow", ["template:describeTemplate"], [f"mrn:alm:template:{mine}"]),
    )

    def asked(stack: str) -> int:
        address, query = (PATH, {"stack_id": stack}) if by == "query" else (f"{PATH}/{stack}", {})
        return service.http.get(address, params=query, headers=person.headers).status_code

    assert [asked(mine), asked(closed), asked(new_id("stk"))] == [200, 403, 403]
