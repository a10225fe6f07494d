"""DELETE /m/core/project/{project_id}"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of
from tests.customers.billing_groups.stored import PATH as GROUPS
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.projects.projects import PATH, made, projects
from tests.people import all_at_once
from tests.running_service import Service


def delete(service: Service, project_id: str, headers: Any = None) -> Answer:
    return service.http.delete(f"{PATH}/{project_id}", headers=headers or service.root())


def test_a_project_that_nobody_uses_is_deleted(service: Service) -> None:
    project_id = made(service)

    answer = delete(service, project_id, service.caller(RoleAction.ModifyProject))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert projects(service) == []
    assert made(service) != project_id  # and its code is free again


def test_refused_while_a_group_uses_it(service: Service) -> None:
    project_id = made(service)
    company_id = create_group(service, service.root(), billinggroup_id="BG", project_id=project_id)

    assert problem_of(delete(service, project_id), 409)["code"] == "project_in_use"
    assert len(projects(service)) == 1

    service.http.delete(f"{GROUPS}/{company_id}", headers=service.root())
    assert delete(service, project_id).status_code == 200


def test_unknown_foreign_and_deleted_projects_are_not_there(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign, deleted = made(service, other), made(service)
    delete(service, deleted)

    for project_id in ("prj_never_was", foreign, deleted):
        assert problem_of(delete(service, project_id), 404)["code"] == "not_found"
    assert len(projects(service, other)) == 1


def test_of_two_that_delete_it_at_once_one_finds_it_gone(service: Service) -> None:
    project_id = made(service)

    answers = all_at_once([lambda: delete(service, project_id)] * 4)

    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404]
