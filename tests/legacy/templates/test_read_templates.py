"""GET /v3/alm/template?stack_id= and GET /v3/alm/template/{stack_id}?version_id="""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from nimbill.foundation import exact_json
from nimbill.foundation.ids import new_id
from tests.legacy.agents import set_stack_status
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import (
    PATH,
    apply_template,
    build_template,
    master_headers,
    put_template,
    read_template,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


def list_versions(service: Service, stack_id: str) -> list[dict[str, object]]:
    response = service.http.get(
        PATH, params={"stack_id": stack_id}, headers=master_headers(service)
    )
    assert response.status_code == 200, response.text
    found: list[dict[str, object]] = response.json()
    return found


def test_a_version_has_the_specified_fields(service: Service) -> None:
    response = apply_template(service)

    (version,) = list_versions(service, response["stack_id"])

    assert list(version) == ["version_id", "latest", "last_modified", "size"]
    assert version["version_id"] == response["version_id"]
    assert version["latest"] is True
    at = datetime.fromisoformat(str(version["last_modified"]))
    assert str(version["last_modified"]).endswith("Z")
    assert abs((datetime.now(UTC) - at).total_seconds()) < 60


def test_the_size_is_that_of_the_masked_template(service: Service) -> None:
    stack_id = apply_template(service, description="é" * 10)["stack_id"]

    (version,) = list_versions(service, stack_id)

    assert version["size"] == str(len(exact_json.encode(read_template(service, stack_id))))


def test_versions_are_listed_newest_first_and_only_the_first_is_latest(service: Service) -> None:
    first = apply_template(service)
    second = put_template(service, first["stack_id"]).json()
    third = put_template(service, first["stack_id"]).json()

    found = list_versions(service, first["stack_id"])

    assert [each["version_id"] for each in found] == [
        third["version_id"],
        second["version_id"],
        first["version_id"],
    ]
    assert [each["latest"] for each in found] == [True, False, False]


def test_the_latest_version_is_read_without_id_with_an_empty_one_and_by_name(
    service: Service,
) -> None:
    first = apply_template(service)
    stack_id = first["stack_id"]
    put_template(service, stack_id, build_template(label="two"))

    assert read_template(service, stack_id, version_id=first["version_id"])["label"] == "shop"
    assert read_template(service, stack_id)["label"] == "two"
    assert read_template(service, stack_id, version_id="")["label"] == "two"
    assert read_template(service, stack_id, version_id="latest")["label"] == "two"


def test_numbers_are_returned_exactly(service: Service) -> None:
    body = exact_json.encode(build_template()).replace(
        b'"label":"shop"', b'"label":"shop","price":0.10,"big":123456789012345678901234567890'
    )
    headers = {**master_headers(service), "Content-Type": "application/json"}
    stack_id = service.http.post(PATH, content=body, headers=headers).json()["stack_id"]

    response = service.http.get(f"{PATH}/{stack_id}", headers=master_headers(service))

    assert '"price":0.10,"big":123456789012345678901234567890' in response.text


def test_the_stack_id_is_required(service: Service) -> None:
    response = service.http.get(PATH, headers=master_headers(service))

    assert read_violations(response) == [("stack_id", "required")]


def test_unknown_stacks_and_versions_are_not_found(service: Service) -> None:
    ours, other = apply_template(service), apply_template(service)
    headers = master_headers(service)

    for version in (new_id("ver"), other["version_id"], "LATEST"):
        address, query = f"{PATH}/{ours['stack_id']}", {"version_id": version}
        read_problem(service.http.get(address, params=query, headers=headers), 404)
    for stack in (new_id("stk"), "compare2"):
        read_problem(service.http.get(f"{PATH}/{stack}", headers=headers), 404)
        read_problem(service.http.get(PATH, params={"stack_id": stack}, headers=headers), 404)


def test_templates_of_other_organisations_are_not_found(service: Service) -> None:
    theirs = apply_template(service)
    service.organisation = service.new_organisation()
    ours = apply_template(service)
    headers = master_headers(service)

    read_problem(service.http.get(f"{PATH}/{theirs['stack_id']}", headers=headers), 404)
    read_problem(
        service.http.get(PATH, params={"stack_id": theirs["stack_id"]}, headers=headers), 404
    )
    query = {"version_id": theirs["version_id"]}
    read_problem(service.http.get(f"{PATH}/{ours['stack_id']}", params=query, headers=headers), 404)


def test_templates_of_a_deleted_stack_can_be_read(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    set_stack_status(service, stack_id, "DELETE_COMPLETE")

    assert read_template(service, stack_id)["label"] == "shop"
    assert len(list_versions(service, stack_id)) == 1


@pytest.mark.parametrize("by", ["path", "query"])
def test_only_templates_that_the_scope_allows_are_visible(service: Service, by: str) -> None:
    person = create_subuser(service)
    allowed, denied = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service,
        person,
        build_statement("Allow", ["template:describeTemplate"], [f"mrn:alm:template:{allowed}"]),
    )

    def get_status(stack: str) -> int:
        path, query = (PATH, {"stack_id": stack}) if by == "query" else (f"{PATH}/{stack}", {})
        return service.http.get(path, params=query, headers=person.headers).status_code

    assert [get_status(each) for each in (allowed, denied, new_id("stk"))] == [200, 403, 403]
