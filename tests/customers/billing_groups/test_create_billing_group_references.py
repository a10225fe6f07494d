"""POST /m/core/billinggroup: what it refers to, who may, what it writes down, many at once."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, add_invoice_template, add_project, create
from tests.running_service import Service


def test_an_existing_project_and_template_are_linked(service: Service) -> None:
    add_project(service, "prj_one")
    add_invoice_template(service, "tpl_one")
    linked = {"project_id": "prj_one", "invoice_template_id": "tpl_one"}

    company_id = create(service, service.root(), billinggroup_id="BG", **linked)

    record = service.http.get(f"{PATH}/{company_id}/resource", headers=service.root()).json()
    assert record["project_id"] == "prj_one"
    assert record["project_code"] == "code of prj_one"
    assert record["project_label"] == "さくら移行"
    assert record["project_currency"] == "jpy"
    assert record["invoice_template_id"] == "tpl_one"


def test_what_does_not_exist_is_refused_all_at_once(service: Service) -> None:
    body = REQUIRED_FIELDS | {"project_id": "prj_none", "invoice_template_id": "tpl_none"}

    answer = service.http.post(PATH, json=body, headers=service.root())

    assert violations_of(answer) == [
        ("project_id", "an existing project"),
        ("invoice_template_id", "an existing invoice template"),
    ]


def test_what_another_organisation_has_does_not_exist(service: Service) -> None:
    other = service.new_organisation()
    add_project(service, "prj_other", other)
    add_invoice_template(service, "tpl_other", other)

    for field, value in (("project_id", "prj_other"), ("invoice_template_id", "tpl_other")):
        foreign = service.http.post(
            PATH, json=REQUIRED_FIELDS | {field: value}, headers=service.root()
        )
        unknown = service.http.post(
            PATH, json=REQUIRED_FIELDS | {field: "never was"}, headers=service.root()
        )
        assert violations_of(foreign) == violations_of(unknown)


@pytest.mark.parametrize("field", ["project_id", "invoice_template_id"])
def test_an_empty_reference_names_nothing(service: Service, field: str) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG", **{field: ""})

    record = service.http.get(f"{PATH}/{company_id}/resource", headers=service.root()).json()

    assert record[field] is None


def test_a_narrowed_caller_adds_no_groups(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG-seen")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id])

    answer = service.http.post(PATH, json=REQUIRED_FIELDS, headers=narrowed)

    assert problem_of(answer, 403)["code"] == "narrowed_caller"
    assert len(service.http.get(PATH, headers=service.root()).json()) == 1


def test_one_audit_row_tells_who_did_what_with_which_body(service: Service) -> None:
    setting = json.dumps(SOUND_SETTING).replace('"tax_rate": 0.1', '"tax_rate": 0.10')
    raw = json.dumps(REQUIRED_FIELDS)[:-1] + f', "invoices": {{"aws": {setting}}}}}'
    headers = service.root() | {"Content-Type": "application/json"}

    answer = service.http.post(PATH, content=raw, headers=headers)

    listed = service.http.get("/m/core/audit", headers=service.root())
    newest, oldest = listed.json()
    company_id = answer.json()["company_id"]
    assert oldest["action"] == "create_organisation"
    assert newest["seq"] == 2
    assert newest["action"] == "create_billing_group"
    assert newest["resource"] == f"billinggroup/{company_id}"
    assert newest["company_id"] == company_id
    assert newest["actor"] == service.organisation.root_user_id
    assert newest["actor_name"] == "root"
    assert newest["client_id"] == service.organisation.client_id
    assert newest["request_id"] == answer.headers["x-request-id"]
    assert newest["sent"] == json.loads(raw)
    assert '"tax_rate":0.10' in listed.text


def test_of_many_that_create_the_same_id_at_once_one_succeeds(service: Service) -> None:
    callers, rounds = 8, 5
    headers = service.root()
    barrier = Barrier(callers)

    def attempt(billinggroup_id: str) -> tuple[int, str]:
        barrier.wait()
        body = REQUIRED_FIELDS | {"billinggroup_id": billinggroup_id}
        answer = service.http.post(PATH, json=body, headers=headers)
        return answer.status_code, answer.json().get("code", "")

    with ThreadPoolExecutor(callers) as pool:
        for number in range(rounds):
            answers = Counter(pool.map(attempt, [f"BG-{number}"] * callers))
            assert answers == {(200, ""): 1, (409, "billinggroup_id_taken"): callers - 1}

    assert len(service.http.get(PATH, headers=headers).json()) == rounds
    actions = [row["action"] for row in service.http.get("/m/core/audit", headers=headers).json()]
    assert Counter(actions) == {"create_billing_group": rounds, "create_organisation": 1}


def test_of_many_that_create_other_ids_at_once_all_succeed(service: Service) -> None:
    headers = service.root()

    def attempt(number: int) -> int:
        body = REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"}
        return service.http.post(PATH, json=body, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(attempt, range(32))) == {200}

    rows = service.http.get("/m/core/audit", headers=headers).json()
    assert [row["seq"] for row in rows] == list(range(33, 0, -1))
