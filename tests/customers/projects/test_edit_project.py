"""POST /m/core/project/{project_id}"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import PATH as GROUPS
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.projects.projects import PATH, PROJECT, create_project, list_projects
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently


def edit(service: Service, project_id: str, headers: Any = None, **fields: Any) -> HttpResponse:
    path = f"{PATH}/{project_id}"
    return service.http.post(path, json=PROJECT | fields, headers=headers or service.root())


def test_every_field_can_be_changed_and_groups_show_the_change(service: Service) -> None:
    project_id = create_project(service)
    create_billing_group(service, service.root(), billinggroup_id="BG", project_id=project_id)
    changes = {"project_code": "P-002", "project_label": "もみじ", "project_currency": "usd"}

    response = edit(service, project_id, service.caller(RoleAction.ModifyProject), **changes)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_projects(service) == [{"project_id": project_id, **changes}]
    (group,) = service.http.get(GROUPS, headers=service.root()).json()
    assert {name: group[name] for name in changes} == changes


def test_a_project_may_keep_its_code(service: Service) -> None:
    project_id = create_project(service)

    assert edit(service, project_id, project_label="new").status_code == 200


def test_all_violations_are_reported_at_once_and_nothing_changes(service: Service) -> None:
    project_id = create_project(service)

    response = edit(
        service, project_id, project_code=None, project_label="a" * 41, project_currency="eur"
    )

    assert read_violations(response) == [
        ("project_code", "required"),
        ("project_label", "length 1 to 40"),
        ("project_currency", "one of jpy, usd"),
    ]
    assert list_projects(service) == [{"project_id": project_id, **PROJECT}]


def test_a_duplicate_code_is_refused(service: Service) -> None:
    create_project(service, project_code="used")
    project_id = create_project(service)

    response = edit(service, project_id, project_code="used")

    assert read_problem(response, 409)["code"] == "project_code_taken"


def test_only_one_of_many_concurrent_edits_gets_the_code(service: Service) -> None:
    project_ids = [create_project(service, project_code=f"P-{number}") for number in range(5)]

    responses = run_concurrently(
        [partial(edit, service, project_id, project_code="new") for project_id in project_ids]
    )

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "project_code_taken"): 4}


def test_unknown_and_foreign_projects_are_not_found(service: Service) -> None:
    create_project(service, project_code="P-used")
    other = service.root(service.new_organisation())
    foreign = create_project(service, other)

    for code in ("P-free", "P-used"):
        for project_id in ("prj_unknown", "P-used", foreign):
            response = edit(service, project_id, project_code=code)
            assert read_problem(response, 404)["code"] == "not_found"
    assert list_projects(service, other) == [{"project_id": foreign, **PROJECT}]
