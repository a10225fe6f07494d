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


def post_comparison(service: Service, **body: Any) -> httpx.Response:
    return service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))


def build_item(stack_id: str, version: str | None = "latest") -> dict[str, Any]:
    return {stack_id: {"version": version}}


@pytest.fixture
def two(service: Service) -> tuple[str, str, str]:
    """A stack and its two versions with different label, instance count and git key."""
    first = apply_template(service)
    changed = read_template(service, first["stack_id"])
    changed["label"] = "shop 2"
    changed["configurations"][0]["provision"]["instance_count"] = 3
    changed["configurations"][0]["container"]["gitPrivateKey"] = f"{CANARY} key"
    del changed["description"]
    changed["configurations"][1]["container"] = {"image": "db:1"}
    response = put_template(service, first["stack_id"], changed)
    return first["stack_id"], first["version_id"], response.json()["version_id"]


def test_two_stored_versions_are_compared(service: Service, two: tuple[str, str, str]) -> None:
    stack_id, old, new = two

    response = post_comparison(service, id=[build_item(stack_id, old), build_item(stack_id, new)])

    assert response.status_code == 202
    found = response.json()
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
    assert CANARY not in response.text


@pytest.mark.parametrize("version", ["", "latest", None])
def test_the_latest_version_is_compared_without_id_with_an_empty_one_and_by_name(
    service: Service, two: tuple[str, str, str], version: str | None
) -> None:
    stack_id, old, _ = two

    found = post_comparison(
        service, id=[build_item(stack_id, old), build_item(stack_id, version)]
    ).json()
    without = post_comparison(service, id=[build_item(stack_id, old), {stack_id: {}}]).json()

    assert found["target"]["label"] == "shop 2"
    assert without == found


def test_versions_of_two_stacks_are_compared(service: Service) -> None:
    first, other = apply_template(service), apply_template(service, label="other")

    found = post_comparison(
        service, id=[build_item(first["stack_id"]), build_item(other["stack_id"])]
    ).json()

    assert found["diff"] == {
        "new": {},
        "removed": {},
        "edited": {"label": {"oldvalue": "shop", "newvalue": "other"}},
    }


SENT = {
    "a string": json.dumps(TEMPLATE | {"label": "given"}),
    "YAML": yaml.safe_dump(TEMPLATE | {"label": "given"}),
    "an object": TEMPLATE | {"label": "given"},
    "a string in an object": {"body": json.dumps(TEMPLATE | {"label": "given"})},
}


@pytest.mark.parametrize("form", SENT)
def test_a_stored_version_is_compared_with_a_sent_template(service: Service, form: str) -> None:
    stack_id = apply_template(service)["stack_id"]

    response = post_comparison(service, id=[build_item(stack_id)], body=[SENT[form]])

    assert response.status_code == 202, response.text
    assert response.json()["source"]["label"] == "shop"
    assert response.json()["target"]["label"] == "given"
    assert response.json()["diff"] == {
        "new": {},
        "removed": {},
        "edited": {"label": {"oldvalue": "shop", "newvalue": "given"}},
    }
    for secret in (CRED, GIT_KEY.splitlines()[1]):
        assert secret not in response.text


def test_a_mask_in_a_sent_template_stands_for_the_stored_secret(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    masked = read_template(service, stack_id)

    same = post_comparison(service, id=[build_item(stack_id)], body=[masked]).json()["diff"]
    masked["vendor"]["aws"]["cred"] = CANARY
    other = post_comparison(service, id=[build_item(stack_id)], body=[masked])

    assert same == {"new": {}, "removed": {}, "edited": {}}
    assert other.json()["diff"]["edited"] == {
        "vendor/aws/cred": {"oldvalue": "***", "newvalue": "***"}
    }
    assert CANARY not in other.text


def test_a_sent_template_may_be_incomplete(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    response = post_comparison(
        service, id=[build_item(stack_id)], body=['{"label": "draft", "a/b": {"~": 1}}']
    )

    assert response.status_code == 202
    assert response.json()["target"] == {"label": "draft", "a/b": {"~": 1}}
    assert response.json()["diff"]["new"] == {"a~1b": {"~": 1}}


def test_exactly_two_templates_are_compared(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    item, text = build_item(stack_id), json.dumps(TEMPLATE)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"id": [item]}, "two items, or one item and one in body"),
        ({"id": [item], "body": []}, "two items, or one item and one in body"),
        ({"id": [item], "body": None}, "two items, or one item and one in body"),
        ({"id": [item, item, item]}, "two items, or one item and one in body"),
        ({"id": [item, item], "body": [text]}, "two items, or one item and one in body"),
        ({"id": [item], "body": [text, text]}, "two items, or one item and one in body"),
        ({"id": [], "body": [text, text]}, "at least one item"),
        ({"id": [], "body": [text]}, "at least one item"),
        ({"id": []}, "at least one item"),
    ]

    for body, rule in refused:
        assert read_violations(post_comparison(service, **body)) == [("id", rule)], body
    assert read_violations(post_comparison(service, body=[text])) == [("id", "required")]


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
def test_a_malformed_comparison_is_refused(service: Service, wrong: Any, field: str) -> None:
    found = read_violations(post_comparison(service, **wrong))

    assert found[0][0].startswith(field)
    assert "stk_" not in json.dumps(found)


def test_a_sent_template_that_is_not_a_template_is_a_violation(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    for sent in (3, None, "", "only words", "[]", "- a", ["x"]):
        response = post_comparison(service, id=[build_item(stack_id)], body=[sent])

        assert [field for field, _ in read_violations(response)] == ["body[0]"], sent


def test_a_malformed_sent_template_is_refused(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]

    for sent in ('{"a": NaN}', '{"a": 1, "a": 2}', "a: &x 1", '{"a": '):
        response = post_comparison(service, id=[build_item(stack_id)], body=[sent])

        assert read_problem(response, 400)["code"] == "malformed_body", sent


def test_unknown_stacks_and_versions_are_violations(service: Service) -> None:
    first, other = apply_template(service), apply_template(service)
    rule = "an existing stack and version"

    for missing in (
        build_item(new_id("stk")),
        build_item(first["stack_id"], new_id("ver")),
        build_item(first["stack_id"], other["version_id"]),
    ):
        response = post_comparison(service, id=[build_item(first["stack_id"]), missing])

        assert read_violations(response) == [("id[1]", rule)]


def test_a_stack_of_another_organisation_is_unknown(service: Service) -> None:
    theirs = apply_template(service)["stack_id"]
    service.organisation = service.new_organisation()
    ours = apply_template(service)["stack_id"]

    foreign = post_comparison(service, id=[build_item(ours), build_item(theirs)])
    unknown = post_comparison(service, id=[build_item(ours), build_item(new_id("stk"))])

    assert read_violations(foreign) == read_violations(unknown)


def test_the_scope_must_allow_every_stack(service: Service) -> None:
    person = create_subuser(service)
    allowed, denied = apply_template(service)["stack_id"], apply_template(service)["stack_id"]
    grant_scope(
        service,
        person,
        build_statement("Allow", ["template:compareTemplate"], [f"mrn:alm:template:{allowed}"]),
    )

    def get_status(*stacks: str) -> int:
        body = {"id": [build_item(stack_id) for stack_id in stacks]}
        response = service.http.post(f"{PATH}/compare", json=body, headers=person.headers)
        return response.status_code

    assert get_status(allowed, allowed) == 202
    assert get_status(allowed, denied) == 403
    assert get_status(denied, allowed) == 403
    assert get_status(allowed, new_id("stk")) == 403


def test_a_comparison_changes_nothing(service: Service) -> None:
    stack_id = apply_template(service)["stack_id"]
    audit = len(service.http.get("/m/core/audit", headers=service.root()).json())

    post_comparison(service, id=[build_item(stack_id)], body=[build_template(label="x")])

    assert len(service.http.get("/m/core/audit", headers=service.root()).json()) == audit
    versions = service.http.get(
        PATH, params={"stack_id": stack_id}, headers=master_headers(service)
    )
    assert len(versions.json()) == 1
