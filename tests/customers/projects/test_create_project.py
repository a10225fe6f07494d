"""POST /m/core/project and GET /m/core/project"""

from __future__ import annotations

from collections import Counter

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.projects.projects import PATH, PROJECT, create, made, projects
from tests.people import all_at_once
from tests.running_service import Service


def test_a_project_is_made_and_listed(service: Service) -> None:
    answer = create(service, service.caller(RoleAction.ModifyProject))

    assert answer.status_code == 200
    assert set(answer.json()) == {"status", "project_id"}
    assert answer.json()["status"] == "success"
    listed = projects(service, service.caller(RoleAction.ReadProject))
    assert listed == [{"project_id": answer.json()["project_id"], **PROJECT}]


def test_projects_come_by_code(service: Service) -> None:
    for code in ("b", "A", "a2", "さ", "a10"):
        made(service, project_code=code)

    assert [one["project_code"] for one in projects(service)] == ["A", "a10", "a2", "b", "さ"]


@pytest.mark.parametrize("field", PROJECT)
def test_a_required_field_is_required(service: Service, field: str) -> None:
    without = {name: value for name, value in PROJECT.items() if name != field}

    for body in (without, without | {field: None}):
        answer = service.http.post(PATH, json=body, headers=service.root())
        assert violations_of(answer) == [(field, "required")]
    assert projects(service) == []


@pytest.mark.parametrize("field", ["project_code", "project_label"])
def test_a_text_is_taken_at_both_edges_of_its_length(service: Service, field: str) -> None:
    for number, text in enumerate(("a", "長" * 40, "🌸" * 40)):
        fields = {"project_code": f"P-{number}", field: text}
        project_id = made(service, **fields)
        stored = {one["project_id"]: one for one in projects(service)}[project_id]
        assert stored[field] == text
    for text in ("", "長" * 41):
        assert violations_of(create(service, **{field: text})) == [(field, "length 1 to 40")]


def test_the_currencies_are_jpy_and_usd(service: Service) -> None:
    for currency in ("jpy", "usd"):
        made(service, project_code=currency, project_currency=currency)
    assert [one["project_currency"] for one in projects(service)] == ["jpy", "usd"]

    for currency in ("eur", "JPY", "", "jpy "):
        answer = create(service, project_currency=currency)
        assert violations_of(answer) == [("project_currency", "one of jpy, usd")]


def test_a_code_in_use_is_refused(service: Service) -> None:
    made(service)

    answer = create(service, project_label="another")

    assert problem_of(answer, 409)["code"] == "project_code_taken"
    assert len(projects(service)) == 1
    assert create(service, project_code="p-001").status_code == 200


def test_another_organisation_may_use_the_same_code_and_is_not_listed(service: Service) -> None:
    made(service)
    other = service.root(service.new_organisation())

    assert create(service, other).status_code == 200
    assert len(projects(service)) == len(projects(service, other)) == 1


def test_of_many_that_make_the_same_code_at_once_one_succeeds(service: Service) -> None:
    answers = all_at_once([lambda: create(service)] * 6)

    codes = Counter((answer.status_code, answer.json().get("code")) for answer in answers)
    assert codes == {(200, None): 1, (409, "project_code_taken"): 5}
    assert len(projects(service)) == 1


def test_projects_are_the_organisations_and_no_filter_hides_them(service: Service) -> None:
    made(service)
    seen = create_group(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ReadProject, billing_groups=[seen])

    assert projects(service, narrowed) == projects(service)
