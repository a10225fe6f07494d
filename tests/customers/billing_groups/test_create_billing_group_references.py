"""POST /m/core/billinggroup: references, restricted callers, the audit row and concurrency."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    add_invoice_template,
    add_project,
    create_billing_group,
    list_group_ids,
    read_billing_group,
)
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service


def test_an_existing_project_and_template_are_linked(service: Service) -> None:
    add_project(service, "prj_one")
    add_invoice_template(service, "tpl_one")
    references = {"project_id": "prj_one", "invoice_template_id": "tpl_one"}

    company_id = create_billing_group(service, service.root(), billinggroup_id="BG", **references)

    record = read_billing_group(service, company_id)
    assert record["project_id"] == "prj_one"
    assert record["project_code"] == "code of prj_one"
    assert record["project_label"] == "さくら移行"
    assert record["project_currency"] == "jpy"
    assert record["invoice_template_id"] == "tpl_one"


def test_all_unknown_references_are_reported_at_once(service: Service) -> None:
    body = REQUIRED_FIELDS | {"project_id": "prj_none", "invoice_template_id": "tpl_none"}

    response = service.http.post(PATH, json=body, headers=service.root())

    assert read_violations(response) == [
        ("project_id", "an existing project"),
        ("invoice_template_id", "an existing invoice template"),
    ]


def test_records_of_another_organisation_are_unknown(service: Service) -> None:
    other = service.new_organisation()
    add_project(service, "prj_other", other)
    add_invoice_template(service, "tpl_other", other)

    for field, value in (("project_id", "prj_other"), ("invoice_template_id", "tpl_other")):
        foreign = service.http.post(
            PATH, json=REQUIRED_FIELDS | {field: value}, headers=service.root()
        )
        unknown = service.http.post(
            PATH, json=REQUIRED_FIELDS | {field: "unknown"}, headers=service.root()
        )
        assert read_violations(foreign) == read_violations(unknown)


@pytest.mark.parametrize("field", ["project_id", "invoice_template_id"])
def test_an_empty_reference_is_stored_as_null(service: Service, field: str) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG", **{field: ""})

    assert read_billing_group(service, company_id)[field] is None


def test_a_restricted_caller_cannot_create_groups(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG-visible")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id])

    response = service.http.post(PATH, json=REQUIRED_FIELDS, headers=restricted)

    assert read_problem(response, 403)["code"] == "narrowed_caller"
    assert list_group_ids(service) == ["BG-visible"]


def test_the_audit_row_shows_the_caller_and_the_body(service: Service) -> None:
    setting = json.dumps(VALID_SETTING).replace('"tax_rate": 0.1', '"tax_rate": 0.10')
    body = json.dumps(REQUIRED_FIELDS)[:-1] + f', "invoices": {{"aws": {setting}}}}}'
    headers = service.root() | {"Content-Type": "application/json"}

    response = service.http.post(PATH, content=body, headers=headers)

    audit = service.http.get("/m/core/audit", headers=service.root())
    newest, oldest = audit.json()
    company_id = response.json()["company_id"]
    assert oldest["action"] == "create_organisation"
    assert newest["seq"] == 2
    assert newest["action"] == "create_billing_group"
    assert newest["resource"] == f"billinggroup/{company_id}"
    assert newest["company_id"] == company_id
    assert newest["actor"] == service.organisation.root_user_id
    assert newest["actor_name"] == "root"
    assert newest["client_id"] == service.organisation.client_id
    assert newest["request_id"] == response.headers["x-request-id"]
    assert newest["sent"] == json.loads(body)
    assert '"tax_rate":0.10' in audit.text


def test_only_one_of_many_concurrent_requests_gets_the_id(service: Service) -> None:
    callers, rounds = 8, 5
    headers = service.root()
    barrier = Barrier(callers)

    def attempt(billinggroup_id: str) -> tuple[int, str]:
        barrier.wait()
        body = REQUIRED_FIELDS | {"billinggroup_id": billinggroup_id}
        response = service.http.post(PATH, json=body, headers=headers)
        return response.status_code, response.json().get("code", "")

    with ThreadPoolExecutor(callers) as pool:
        for number in range(rounds):
            outcomes = Counter(pool.map(attempt, [f"BG-{number}"] * callers))
            assert outcomes == {(200, ""): 1, (409, "billinggroup_id_taken"): callers - 1}

    assert len(list_group_ids(service)) == rounds
    actions = [row["action"] for row in service.http.get("/m/core/audit", headers=headers).json()]
    assert Counter(actions) == {"create_billing_group": rounds, "create_organisation": 1}


def test_concurrent_requests_with_different_ids_all_succeed(service: Service) -> None:
    headers = service.root()

    def attempt(number: int) -> int:
        body = REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"}
        return service.http.post(PATH, json=body, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(attempt, range(32))) == {200}

    rows = service.http.get("/m/core/audit", headers=headers).json()
    assert [row["seq"] for row in rows] == list(range(33, 0, -1))
