"""POST /m/core/project and GET /m/core/project"""

from __future__ import annotations

from collections import Counter

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.projects.projects import (
    PROJECT,
    create_project,
    list_projects,
    post_project,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently


def test_a_project_is_created_and_listed(service: Service) -> None:
    response = post_project(service, service.caller(RoleAction.ModifyProject))

    assert response.status_code == 200
    assert set(response.json()) == {"status", "project_id"}
    assert response.json()["status"] == "success"
    projects = list_projects(service, service.caller(RoleAction.ReadProject))
    assert projects == [{"project_id": response.json()["project_id"], **PROJECT}]


def test_projects_are_ordered_by_code(service: Service) -> None:
    for code in ("b", "A", "a2", "さ", "a10"):
        create_project(service, project_code=code)

    codes = [project["project_code"] for project in list_projects(service)]
    assert codes == ["A", "a10", "a2", "b", "さ"]


def test_texts_at_the_limits_and_currencies_are_stored_unchanged(service: Service) -> None:
    variants = [
        {"project_code": "a", "project_label": "a", "project_currency": "jpy"},
        {"project_code": "長" * 40, "project_label": "長" * 40, "project_currency": "usd"},
        {"project_code": "🌸" * 40, "project_label": "🌸" * 40, "project_currency": "jpy"},
    ]

    for fields in variants:
        project_id = create_project(service, **fields)
        assert {"project_id": project_id, **fields} in list_projects(service)


def test_all_violations_are_reported_at_once(service: Service) -> None:
    response = post_project(service, project_code="", project_label=None, project_currency="eur")

    assert read_violations(response) == [
        ("project_code", "length 1 to 40"),
        ("project_label", "required"),
        ("project_currency", "one of jpy, usd"),
    ]
    assert list_projects(service) == []


def test_a_duplicate_code_is_refused(service: Service) -> None:
    create_project(service)

    response = post_project(service, project_label="another")

    assert read_problem(response, 409)["code"] == "project_code_taken"
    assert len(list_projects(service)) == 1
    assert post_project(service, project_code="p-001").status_code == 200


def test_another_organisation_may_use_the_same_code_and_is_not_listed(service: Service) -> None:
    create_project(service)
    other = service.root(service.new_organisation())

    assert post_project(service, other).status_code == 200
    assert len(list_projects(service)) == len(list_projects(service, other)) == 1


def test_only_one_of_many_concurrent_requests_gets_the_code(service: Service) -> None:
    responses = run_concurrently([lambda: post_project(service)] * 6)

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "project_code_taken"): 5}
    assert len(list_projects(service)) == 1


def test_restricted_callers_see_all_projects_of_the_organisation(service: Service) -> None:
    create_project(service)
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    restricted = service.caller(RoleAction.ReadProject, billing_groups=[company_id])

    assert list_projects(service, restricted) == list_projects(service)
