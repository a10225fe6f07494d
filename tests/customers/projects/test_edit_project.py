"""POST /m/core/project/{project_id}"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.stored import PATH as GROUPS
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.projects.projects import PATH, PROJECT, made, projects
from tests.people import all_at_once
from tests.running_service import Service


def edit(service: Service, project_id: str, headers: Any = None, **fields: Any) -> Answer:
    path = f"{PATH}/{project_id}"
    return service.http.post(path, json=PROJECT | fields, headers=headers or service.root())


def test_every_field_can_be_changed_and_groups_show_it(service: Service) -> None:
    project_id = made(service)
    create_group(service, service.root(), billinggroup_id="BG", project_id=project_id)
    changed = {"project_code": "P-002", "project_label": "もみじ", "project_currency": "usd"}

    answer = edit(service, project_id, service.caller(RoleAction.ModifyProject), **changed)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert projects(service) == [{"project_id": project_id, **changed}]
    (group,) = service.http.get(GROUPS, headers=service.root()).json()
    assert {name: group[name] for name in changed} == changed


def test_a_project_may_keep_its_code(service: Service) -> None:
    project_id = made(service)

    assert edit(service, project_id, project_label="new").status_code == 200


def test_every_field_is_sent(service: Service) -> None:
    project_id = made(service)

    for field in PROJECT:
        assert violations_of(edit(service, project_id, **{field: None})) == [(field, "required")]
    assert violations_of(edit(service, project_id, project_code="", project_label="a" * 41)) == [
        ("project_code", "length 1 to 40"),
        ("project_label", "length 1 to 40"),
    ]
    answer = edit(service, project_id, project_currency="eur")
    assert violations_of(answer) == [("project_currency", "one of jpy, usd")]
    assert projects(service) == [{"project_id": project_id, **PROJECT}]


def test_a_code_in_use_is_refused(service: Service) -> None:
    made(service, project_code="taken")
    project_id = made(service)

    answer = edit(service, project_id, project_code="taken")

    assert problem_of(answer, 409)["code"] == "project_code_taken"


def test_of_many_projects_that_take_one_code_at_once_one_gets_it(service: Service) -> None:
    made_ones = [made(service, project_code=f"P-{number}") for number in range(5)]

    answers = all_at_once([partial(edit, service, one, project_code="wanted") for one in made_ones])

    codes = Counter((answer.status_code, answer.json().get("code")) for answer in answers)
    assert codes == {(200, None): 1, (409, "project_code_taken"): 4}


@pytest.mark.parametrize("code", ["P-free", "P-taken"])
def test_unknown_and_foreign_projects_are_not_there(service: Service, code: str) -> None:
    made(service, project_code="P-taken")
    other = service.root(service.new_organisation())
    foreign = made(service, other)

    for project_id in ("prj_never_was", "P-taken", foreign):
        answer = edit(service, project_id, project_code=code)
        assert problem_of(answer, 404)["code"] == "not_found"
    assert projects(service, other) == [{"project_id": foreign, **PROJECT}]
