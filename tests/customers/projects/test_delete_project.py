"""DELETE /m/core/project/{project_id}"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import PATH as GROUPS
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.projects.projects import PATH, create_project, list_projects
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service
from tests.subusers import run_concurrently


def delete(service: Service, project_id: str, headers: Any = None) -> HttpResponse:
    return service.http.delete(f"{PATH}/{project_id}", headers=headers or service.root())


def test_an_unused_project_is_deleted_and_its_code_can_be_used_again(service: Service) -> None:
    project_id = create_project(service)

    response = delete(service, project_id, service.caller(RoleAction.ModifyProject))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_projects(service) == []
    assert create_project(service) != project_id


def test_a_project_of_a_billing_group_cannot_be_deleted(service: Service) -> None:
    project_id = create_project(service)
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="BG", project_id=project_id
    )

    assert read_problem(delete(service, project_id), 409)["code"] == "project_in_use"
    assert len(list_projects(service)) == 1

    service.http.delete(f"{GROUPS}/{company_id}", headers=service.root())
    assert delete(service, project_id).status_code == 200


def test_unknown_foreign_and_deleted_projects_are_not_found(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign, deleted = create_project(service, other), create_project(service)
    delete(service, deleted)

    for project_id in ("prj_unknown", foreign, deleted):
        assert read_problem(delete(service, project_id), 404)["code"] == "not_found"
    assert len(list_projects(service, other)) == 1


def test_only_one_of_many_concurrent_deletions_succeeds(service: Service) -> None:
    project_id = create_project(service)

    responses = run_concurrently([lambda: delete(service, project_id)] * 4)

    assert sorted(response.status_code for response in responses) == [200, 404, 404, 404]
