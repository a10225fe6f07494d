"""POST /v3/alm/template/compare"""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
import yaml

from nimbill.foundation.ids import new_id
from tests.legacy.roles.role_requests import build_statement, create_subuser, grant_scope
from tests.legacy.templates.template_requests import (
    CRED,
    GIT_KEY,
    PATH,
    TEMPLATE,
    apply_template,
    build_template,
    master_headers,
    put_template,
    read_template,
)
from tests.problem_responses import CANARY, read_problem, read_violations
from tests.running_service import Service


def compare(service: Service, **body: Any) -> httpx.Response:
    return service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))


def at(stack_id: str, version: str | None = "latest") -> dict[str, Any]:
    return {stack_id: {"version": version}}


@pytest.fixture
def two(service: Service) -> tuple[str, str, str]:
    """A stack and its two versions: another label, one instance more, another git key."""
    first = apply_template(service)
    changed = read_template(service, first["stack_id"])
    changed["label"] = "shop 2"
    changed["configurations"][0]["provision"]["instance_count"] = 3
    changed["configurations"][0]["container"]["gitPrivateKey"] = f"{CANARY} key"
    del changed["description"]
    changed["configurations"][1]["container"] = {"image": "db:1"}
    answer = put_template(service, first["stack_id"], changed)
    return first["stack_id"], first["version_id"], answer.json()["version_id"]


def test_two_stored_versions(service: Service, two: tuple[str, str, str]) -> None:
    stack_id, old, new = two

    answer = compare(service, id=[at(stack_id, old), at(stack_id, new)])

    assert answer.status_code == 202
    found = answer.json()
    assert list(found) == ["status", "source", "target", "diff"]
    assert found["status"] == "success"
    assert found["source"] == read_template(service, stack_id, version_id=old)
    assert found["target"] == read_template(service, stack_id, version_id=new)
    assert list(found["diff"]) == ["new", "removed", "edited"]
    assert found["diff"] == {
        "new": {"configurations/1/container": {"image": "db:1"}},
        "removed": {"description": "a shop with two layers"},
        "edited": {
            "label": {"oldvalue": "shop", "newvalue": "shop 2"},
            "configurations/0/provision/instance_count": {"oldvalue": 2, "newvalue": 3},
            "configurations/0/container/gitPrivateKey": {"oldvalue": "***", "newvalue": "***"},
        },
    }
    assert CANARY not in answer.text


@pytest.mark.parametrize("version", ["", "latest", None])
def test_the_most_recent_version_has_three_names(
    service: Service, two: tuple[str, str, str], version: str | None
) -> None:
    stack_id, old, _ = two

    found = compare(service, id=[at(stack_id, old), at(stack_id, version)]).json()
    without = compare(service, id=[at(stack_id, old), {stack_id: {}}]).json()

    assert found["target"]["label"] == "shop 2"
    assert without == found


def test_versions_of_two_stacks(service: Service) -> None:
    one, other = apply_template(service), apply_template(service, label="other")

    found = compare(service, id=[at(one["stack_id"]), at(other["stack_id"])]).json()

    assert found["diff"] == {
        "new": {},
        "removed": {},
        "edited": {"label": {"oldvalue": "shop", "newvalue": "other"}},
    }


GIVEN = {
    "a string": json.dumps(TEMPLATE | {"label": "given"}),
    "YAML": yaml.safe_dump(TEMPLATE | {"label": "given"}),
    "an object": TEMPLATE | {"label": "given"},
    "a string in an object": {"body": json.dumps(TEMPLATE | {"label": "given"})},
}


@pytest.mark.parametrize("form", GIVEN)
def test_a_stored_version_and_a_given_body(service: Service, form: str) -> None:
    stack_id = apply_template(service)["stack_id"]

    answer = compare(service, id=[at(stack_id)], body=[GIVEN[form]])

    assert answer.status_code == 202, answer.text
    assert answer.json()["source"]["label"] == "shop"
    assert answer.json()["target"]["label"] == "given"
    assert answer.json()["diff"] == {
        "new": {},
        "removed": {},
        "edited": {"label": {"oldvalue": "shop", "newvalue": "given"}},
    }
    for secret in (CRED, GIT_KEY.splitlines()[1]):
        assert secret not in answer.text


def test_a_mask_in_a_given_body_is_what_is_stored(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    masked = read_template(service, stack_id)

    same = compare(service, id=[at(stack_id)], body=[masked]).json()["diff"]
    masked["vendor"]["aws"]["cred"] = CANARY
    other = compare(service, id=[at(stack_id)], body=[masked])

    assert same == {"new": {}, "removed": {}, "edited": {}}
    assert other.json()["diff"]["edited"] == {
        "vendor/aws/cred": {"oldvalue": "***", "newvalue": "***"}
    }
    assert CANARY not in other.text


def test_a_draft_need_not_be_finished(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    answer = compare(service, id=[at(stack_id)], body=['{"label": "draft", "a/b": {"~": 1}}'])

    assert answer.status_code == 202
    assert answer.json()["target"] == {"label": "draft", "a/b": {"~": 1}}
    assert answer.json()["diff"]["new"] == {"a~1b": {"~": 1}}


def test_only_two_templates_can_be_compared(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    one, text = at(stack_id), json.dumps(TEMPLATE)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"id": [one]}, "two items, or one item and one in body"),
        ({"id": [one], "body": []}, "two items, or one item and one in body"),
        ({"id": [one], "body": None}, "two items, or one item and one in body"),
        ({"id": [one, one, one]}, "two items, or one item and one in body"),
        ({"id": [one, one], "body": [text]}, "two items, or one item and one in body"),
        ({"id": [one], "body": [text, text]}, "two items, or one item and one in body"),
        ({"id": [], "body": [text, text]}, "at least one item"),
        ({"id": [], "body": [text]}, "at least one item"),
        ({"id": []}, "at least one item"),
    ]

    for body, rule in refused:
        assert read_violations(compare(service, **body)) == [("id", rule)], body
    assert read_violations(compare(service, body=[text])) == [("id", "required")]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"id": "stk_a"}, "id"),
        ({"id": {"stk_a": {"version": ""}}}, "id"),
        ({"id": ["stk_a", "stk_b"]}, "id[0]"),
        ({"id": [{}, {"stk_b": {}}]}, "id[0]"),
        ({"id": [{"stk_a": {}, "stk_b": {}}, {"stk_c": {}}]}, "id[0]"),
        ({"id": [{"stk_a": "latest"}, {"stk_b": {}}]}, "id[0]"),
        ({"id": [{"stk_a": {"version": 3}}, {"stk_b": {}}]}, "id[0]"),
        ({"id": [{"stk_a": {}}], "body": "text"}, "body"),
    ],
)
def test_what_is_no_comparison_is_named(service: Service, wrong: Any, field: str) -> None:
    found = read_violations(compare(service, **wrong))

    assert found[0][0].startswith(field)
    assert "stk_" not in json.dumps(found)


@pytest.mark.parametrize("given", [3, None, "", "only words", "[]", "- a", ["x"]])
def test_a_given_body_is_a_template(service: Service, given: Any) -> None:
    stack_id = apply_template(service)["stack_id"]

    answer = compare(service, id=[at(stack_id)], body=[given])

    assert [field for field, _ in read_violations(answer)] == ["body[0]"]


@pytest.mark.parametrize("given", ['{"a": NaN}', '{"a": 1, "a": 2}', "a: &x 1", '{"a": '])
def test_a_given_body_that_cannot_be_read_is_400(service: Service, given: str) -> None:
    stack_id = apply_template(service)["stack_id"]

    answer = compare(service, id=[at(stack_id)], body=[given])

    assert read_problem(answer, 400)["code"] == "malformed_body"


def test_what_is_not_there_is_named_by_its_place(service: Service) -> None:
    first, other = apply_template(service), apply_template(service)
    rule = "an existing stack and version"

    for missing in (
        at(new_id("stk")),
        at(first["stack_id"], new_id("ver")),
        at(first["stack_id"], other["version_id"]),
    ):
        answer = compare(service, id=[at(first["stack_id"]), missing])

        assert read_violations(answer) == [("id[1]", rule)]


def test_a_stack_of_another_organisation_is_not_there(service: Service) -> None:
    theirs = apply_template(service)["stack_id"]
    service.organisation = service.new_organisation()
    ours = apply_template(service)["stack_id"]

    foreign = compare(service, id=[at(ours), at(theirs)])
    unknown = compare(service, id=[at(ours), at(new_id("stk"))])

    assert read_violations(foreign) == read_violations(unknown)


def test_the_scope_is_asked_for_every_stack_before_any_is_looked_for(service: Service) -> None:
    person = create_subuser(service)
    mine, closed = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service,
        person,
        build_statement("Allow", ["template:compareTemplate"], [f"mrn:alm:template:{mine}"]),
    )

    def asked(*stacks: str) -> int:
        body = {"id": [at(one) for one in stacks]}
        answer = service.http.post(f"{PATH}/compare", json=body, headers=person.headers)
        return answer.status_code

    assert asked(mine, mine) == 202
    assert asked(mine, closed) == asked(closed, mine) == asked(mine, new_id("stk")) == 403


def test_comparing_changes_nothing(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    audit = len(service.http.get("/m/core/audit", headers=service.root()).json())

    compare(service, id=[at(stack_id)], body=[build_template(label="x")])

    assert len(service.http.get("/m/core/audit", headers=service.root()).json()) == audit
    versions = service.http.get(
        PATH, params={"stack_id": stack_id}, headers=master_headers(service)
    )
    assert len(versions.json()) == 1
