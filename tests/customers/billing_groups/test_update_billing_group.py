"""POST /m/core/billinggroup/{company_id}"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    add_project,
    create_billing_group,
    read_billing_group,
)
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently

REQUIRED: dict[str, Any] = {
    "billinggroup_id": "BG-0001",
    "billinggroup_name": "さくら商事",
    "company_name": "株式会社さくら商事",
}
OPTIONAL_TEXTS: dict[str, str] = {
    "phone": "03‐1234‐5678",  # U+2010 hyphens, as address books write them
    "postal": "100-0001",
    "address": "東京都千代田区千代田1番1号",
    "billing_title": "クラウド利用料",
    "personal": "髙橋 一郎 様",
    "remarks": "月末締め",
}
LONGEST = {"phone": 16, "postal": 10}
# fields of the update body that have another name in the record
RECORD_NAMES = {"company_name": "name", "billing_title": "title", "personal": "contact"}


@pytest.fixture
def manager(service: Service) -> dict[str, str]:
    return service.caller(RoleAction.ModifyBillingGroup)


@pytest.fixture
def company_id(service: Service) -> str:
    """A group that has a value in every field."""
    add_project(service, "prj_one")
    return create_billing_group(
        service,
        service.root(),
        **REQUIRED,
        **OPTIONAL_TEXTS,
        inv_aggregate=True,
        language="ja",
        project_id="prj_one",
        invoices={"aws": VALID_SETTING},
    )


def update(
    service: Service, headers: dict[str, str], company_id: str, **fields: Any
) -> HttpResponse:
    body = REQUIRED | fields
    return service.http.post(f"{PATH}/{company_id}", json=body, headers=headers)


def to_record(fields: dict[str, Any]) -> dict[str, Any]:
    return {RECORD_NAMES.get(name, name): value for name, value in fields.items()}


def test_every_field_can_be_changed(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    add_project(service, "prj_two")
    before = read_billing_group(service, company_id)
    changes = {
        "billinggroup_id": "BG-0002",
        "billinggroup_name": "もみじ商事",
        "company_name": "株式会社もみじ商事",
        "phone": "+81-3-1234-567",
        "postal": "5300001",
        "address": "大阪市北区",
        "billing_title": "ご請求書",
        "personal": "山田 花子 様",
        "remarks": "二十日締め",
        "inv_aggregate": False,
        "project_id": "prj_two",
        "language": "en",
    }

    response = update(service, manager, company_id, **changes)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    expected = before | to_record(changes) | {"project_code": "code of prj_two"}
    assert read_billing_group(service, company_id) == expected


@pytest.mark.parametrize("value", ["absent", None])
def test_absent_and_null_fields_are_not_changed(
    service: Service, manager: dict[str, str], company_id: str, value: object
) -> None:
    before = read_billing_group(service, company_id)
    optional = [*OPTIONAL_TEXTS, "inv_aggregate", "project_id", "language"]
    nulls = {} if value == "absent" else dict.fromkeys(optional)

    response = update(service, manager, company_id, **nulls)

    assert response.status_code == 200
    assert read_billing_group(service, company_id) == before


@pytest.mark.parametrize("character", ["a", "長", "🌸", "\u0301"])
def test_texts_of_the_maximum_length_are_stored(
    service: Service, manager: dict[str, str], company_id: str, character: str
) -> None:
    names = ["billinggroup_name", "company_name", *OPTIONAL_TEXTS]
    texts = {name: character * LONGEST.get(name, 100) for name in names}

    assert update(service, manager, company_id, **texts).status_code == 200

    assert read_billing_group(service, company_id).items() >= to_record(texts).items()


def test_an_empty_text_clears_only_that_optional_field(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    expected = read_billing_group(service, company_id)

    for field in OPTIONAL_TEXTS:
        assert update(service, manager, company_id, **{field: ""}).status_code == 200

        expected |= to_record({field: None})
        assert read_billing_group(service, company_id) == expected


def test_an_empty_project_id_clears_the_project(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    assert update(service, manager, company_id, project_id="").status_code == 200

    record = read_billing_group(service, company_id)
    assert [record[name] for name in record if name.startswith("project_")] == [None] * 4


def test_an_unknown_or_foreign_project_is_refused(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    add_project(service, "prj_foreign", service.new_organisation())
    before = read_billing_group(service, company_id)

    for project_id in ("prj_unknown", "prj_foreign"):
        response = update(service, manager, company_id, project_id=project_id, remarks="changed")
        assert read_violations(response) == [("project_id", "an existing project")]
    assert read_billing_group(service, company_id) == before


def test_all_violations_are_reported_at_once_and_nothing_changes(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    before = read_billing_group(service, company_id)
    invalid = {"company_name": "", "phone": "03-1234-567", "postal": 1000001, "language": "fr"}

    response = update(service, manager, company_id, remarks="changed", **invalid)

    assert read_violations(response) == [
        ("company_name", "length 1 to 100"),
        ("phone", "length 12 to 16"),
        ("postal", "length 4 to 10"),
        ("language", "one of ja, en, empty text"),
    ]
    assert read_billing_group(service, company_id) == before


def test_fields_that_only_create_accepts_are_ignored(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    before = read_billing_group(service, company_id)
    ignored = {
        "invoices": {},
        "invoice_template_id": "tpl_x",
        "custom_fields": {"a": 1},
        "name": "x",
    }

    assert update(service, manager, company_id, **ignored).status_code == 200

    assert read_billing_group(service, company_id) == before


# ── the billinggroup_id ──────────────────────────────────────────────────────────────────────────


def test_the_id_can_be_kept_changed_and_restored(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    for billinggroup_id in ("BG-0001", "bg-0001", "長い" * 5_000, "BG-0001"):
        response = update(service, manager, company_id, billinggroup_id=billinggroup_id)
        assert response.status_code == 200
        assert read_billing_group(service, company_id)["billinggroup_id"] == billinggroup_id

    assert create_billing_group(service, service.root(), billinggroup_id="bg-0001")


def test_an_id_has_the_maximum_length_of_a_new_group(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    path = f"{PATH}/{company_id}"

    refused, longest = (
        service.http.post(path, json=REQUIRED | {"billinggroup_id": text}, headers=manager)
        for text in ("長" * 10_001, "長" * 10_000)
    )

    assert read_violations(refused) == [("billinggroup_id", "length up to 10000")]
    assert longest.status_code == 200


def test_a_duplicate_id_is_refused_and_nothing_changes(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-used")
    before = read_billing_group(service, company_id)

    response = update(service, manager, company_id, billinggroup_id="BG-used", remarks="changed")

    assert read_problem(response, 409)["code"] == "billinggroup_id_taken"
    assert read_billing_group(service, company_id) == before


def test_the_id_of_a_hidden_group_is_refused_too(service: Service, company_id: str) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-hidden")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id])

    response = update(service, restricted, company_id, billinggroup_id="BG-hidden")

    assert read_problem(response, 409)["code"] == "billinggroup_id_taken"


def test_the_id_of_a_foreign_group_can_be_used(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    foreign_root = service.root(service.new_organisation())
    create_billing_group(service, foreign_root, billinggroup_id="BG-foreign")

    response = update(service, manager, company_id, billinggroup_id="BG-foreign")

    assert response.status_code == 200


def test_only_one_of_many_concurrent_updates_gets_the_id(service: Service) -> None:
    root = service.root()
    groups = [
        create_billing_group(service, root, billinggroup_id=f"BG-{number}") for number in range(6)
    ]

    responses = run_concurrently(
        [partial(update, service, root, group, billinggroup_id="BG-new") for group in groups]
    )

    outcomes = Counter(
        (response.status_code, response.json().get("code")) for response in responses
    )
    assert outcomes == {(200, None): 1, (409, "billinggroup_id_taken"): 5}


# ── visibility and audit ─────────────────────────────────────────────────────────────────────────


def test_unknown_foreign_hidden_and_deleted_groups_are_not_found(
    service: Service, company_id: str
) -> None:
    root = service.root()
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, root, billinggroup_id="hidden")
    deleted = create_billing_group(service, root, billinggroup_id="deleted")
    assert service.http.delete(f"{PATH}/{deleted}", headers=root).status_code == 200
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id, deleted])

    for invisible in ("cmp_unknown", "BG-0001", foreign, hidden, deleted):
        response = update(
            service, restricted, invisible, remarks="changed", project_id="prj_unknown"
        )
        assert read_problem(response, 404)["code"] == "not_found"
    assert read_billing_group(service, hidden)["remarks"] is None


def test_the_change_adds_an_audit_row(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    update(service, manager, company_id, remarks="changed")

    newest = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert newest["action"] == "update_billing_group"
    assert newest["resource"] == f"billinggroup/{company_id}"
    assert newest["company_id"] == company_id
    assert newest["sent"] == REQUIRED | {"remarks": "changed"}


def test_an_empty_language_clears_it(service: Service) -> None:
    required = {"billinggroup_name": "n", "company_name": "c"}
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG", language="en")

    response = service.http.post(
        f"{PATH}/{company_id}",
        json={"billinggroup_id": "BG", "language": "", **required},
        headers=service.root(),
    )

    assert response.status_code == 200, response.text
    assert read_billing_group(service, company_id)["language"] is None
