"""POST /m/core/billinggroup/{company_id}"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, add_project, create
from tests.people import all_at_once
from tests.running_service import Service

REQUIRED: dict[str, Any] = {
    "billinggroup_id": "BG-0001",
    "billinggroup_name": "さくら商事",
    "company_name": "株式会社さくら商事",
}
# field of the body: its lengths, and where it stands in the record
LENGTHS = {
    "billinggroup_name": (1, 100, "billinggroup_name"),
    "company_name": (1, 100, "name"),
    "phone": (12, 16, "phone"),
    "postal": (4, 10, "postal"),
    "address": (1, 100, "address"),
    "billing_title": (1, 100, "title"),
    "personal": (1, 100, "contact"),
    "remarks": (1, 100, "remarks"),
}
OPTIONAL_TEXTS = [field for field in LENGTHS if field not in REQUIRED]
EVERYTHING: dict[str, Any] = {
    **REQUIRED,
    "phone": "03‐1234‐5678",  # U+2010 hyphens, as address books write them
    "postal": "100-0001",
    "address": "東京都千代田区千代田1番1号",
    "billing_title": "クラウド利用料",
    "personal": "髙橋 一郎 様",
    "remarks": "月末締め",
    "inv_aggregate": True,
    "language": "ja",
}


@pytest.fixture
def manager(service: Service) -> dict[str, str]:
    return service.caller(RoleAction.ModifyBillingGroup)


@pytest.fixture
def company_id(service: Service) -> str:
    add_project(service, "prj_one")
    settings = {"aws": SOUND_SETTING}
    return create(service, service.root(), **EVERYTHING, project_id="prj_one", invoices=settings)


def update(service: Service, headers: dict[str, str], company_id: str, **fields: Any) -> Answer:
    body = REQUIRED | fields
    return service.http.post(f"{PATH}/{company_id}", json=body, headers=headers)


def read(service: Service, company_id: str) -> dict[str, Any]:
    answer = service.http.get(f"{PATH}/{company_id}/resource", headers=service.root())
    record: dict[str, Any] = answer.json()
    return record


def test_every_field_can_be_changed(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    add_project(service, "prj_two")
    before = read(service, company_id)
    changed = {
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

    answer = update(service, manager, company_id, **changed)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    shown = {LENGTHS[name][2] if name in LENGTHS else name: changed[name] for name in changed}
    assert read(service, company_id) == before | shown | {"project_code": "code of prj_two"}


@pytest.mark.parametrize("value", ["absent", None])
def test_what_is_absent_or_null_stays(
    service: Service, manager: dict[str, str], company_id: str, value: object
) -> None:
    before = read(service, company_id)
    optional = [*OPTIONAL_TEXTS, "inv_aggregate", "project_id", "language"]
    nulls = {} if value == "absent" else dict.fromkeys(optional)

    answer = update(service, manager, company_id, **nulls)

    assert answer.status_code == 200
    assert read(service, company_id) == before


@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_is_required(
    service: Service, manager: dict[str, str], company_id: str, field: str
) -> None:
    without = {name: value for name, value in REQUIRED.items() if name != field}
    path = f"{PATH}/{company_id}"

    absent = service.http.post(path, json=without, headers=manager)
    null = service.http.post(path, json=without | {field: None}, headers=manager)

    assert violations_of(absent) == violations_of(null) == [(field, "required")]


@pytest.mark.parametrize("field", LENGTHS)
def test_a_text_is_taken_at_both_edges_of_its_length(
    service: Service, manager: dict[str, str], company_id: str, field: str
) -> None:
    least, most, shown = LENGTHS[field]
    # one code point each: a letter, three bytes, four bytes, a combining mark
    for character in ("a", "長", "🌸", "\u0301"):
        for length in (least, most):
            sent = {field: character * length}
            assert update(service, manager, company_id, **sent).status_code == 200
            assert read(service, company_id)[shown] == character * length
        for length in (least - 1, most + 1):
            if length > 0:
                answer = update(service, manager, company_id, **{field: character * length})
                assert violations_of(answer) == [(field, f"length {least} to {most}")]


@pytest.mark.parametrize("field", OPTIONAL_TEXTS)
def test_an_empty_text_clears_an_optional_field(
    service: Service, manager: dict[str, str], company_id: str, field: str
) -> None:
    before = read(service, company_id)

    assert update(service, manager, company_id, **{field: ""}).status_code == 200

    assert read(service, company_id) == before | {LENGTHS[field][2]: None}


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ("billinggroup_id", "a text that is not empty"),
        ("billinggroup_name", "length 1 to 100"),
        ("company_name", "length 1 to 100"),
        ("language", "one of ja, en"),
    ],
)
def test_what_is_not_optional_text_cannot_be_cleared(
    service: Service, manager: dict[str, str], company_id: str, field: str, rule: str
) -> None:
    before = read(service, company_id)

    assert violations_of(update(service, manager, company_id, **{field: ""})) == [(field, rule)]
    assert read(service, company_id) == before


def test_an_empty_project_clears_it(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    assert update(service, manager, company_id, project_id="").status_code == 200

    record = read(service, company_id)
    assert [record[name] for name in record if name.startswith("project_")] == [None] * 4


def test_an_unknown_or_foreign_project_is_refused(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    add_project(service, "prj_theirs", service.new_organisation())
    before = read(service, company_id)

    for project_id in ("prj_never_was", "prj_theirs"):
        answer = update(service, manager, company_id, project_id=project_id, remarks="changed")
        assert violations_of(answer) == [("project_id", "an existing project")]
    assert read(service, company_id) == before


@pytest.mark.parametrize("language", ["fr", "JA", "ja "])
def test_other_languages_are_refused(
    service: Service, manager: dict[str, str], company_id: str, language: str
) -> None:
    answer = update(service, manager, company_id, language=language)

    assert violations_of(answer) == [("language", "one of ja, en")]


@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_inv_aggregate_is_true_or_false(
    service: Service, manager: dict[str, str], company_id: str, value: object
) -> None:
    answer = update(service, manager, company_id, inv_aggregate=value)

    assert violations_of(answer) == [("inv_aggregate", "true or false")]


def test_every_broken_rule_is_named_at_once(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    wrong = {"company_name": "", "phone": "03-1234-567", "postal": 1000001, "language": "fr"}

    answer = update(service, manager, company_id, **wrong)

    assert violations_of(answer) == [
        ("company_name", "length 1 to 100"),
        ("phone", "length 12 to 16"),
        ("postal", "length 4 to 10"),
        ("language", "one of ja, en"),
    ]


def test_fields_of_the_create_body_alone_are_ignored(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    before = read(service, company_id)
    others = {
        "invoices": {},
        "invoice_template_id": "tpl_x",
        "custom_fields": {"a": 1},
        "name": "x",
    }

    assert update(service, manager, company_id, **others).status_code == 200
    assert read(service, company_id) == before


# ── its own id ───────────────────────────────────────────────────────────────────────────────────


def test_the_id_may_stay_or_change_to_a_free_one_and_back(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    for billinggroup_id in ("BG-0001", "bg-0001", "長い" * 10_000, "BG-0001"):
        answer = update(service, manager, company_id, billinggroup_id=billinggroup_id)
        assert answer.status_code == 200
        assert read(service, company_id)["billinggroup_id"] == billinggroup_id

    assert create(service, service.root(), billinggroup_id="bg-0001")


def test_an_id_in_use_is_refused_and_nothing_changes(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    create(service, service.root(), billinggroup_id="BG-taken")
    before = read(service, company_id)

    answer = update(service, manager, company_id, billinggroup_id="BG-taken", remarks="changed")

    assert problem_of(answer, 409)["code"] == "billinggroup_id_taken"
    assert read(service, company_id) == before


def test_an_id_in_use_by_a_hidden_group_is_refused_all_the_same(
    service: Service, company_id: str
) -> None:
    create(service, service.root(), billinggroup_id="BG-hidden")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id])

    answer = update(service, narrowed, company_id, billinggroup_id="BG-hidden")

    assert problem_of(answer, 409)["code"] == "billinggroup_id_taken"


def test_an_id_of_another_organisation_is_free(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    other = service.new_organisation()
    create(service, service.root(other), billinggroup_id="BG-theirs")

    answer = update(service, manager, company_id, billinggroup_id="BG-theirs")

    assert answer.status_code == 200


def test_of_many_groups_that_take_one_id_at_once_one_gets_it(service: Service) -> None:
    root = service.root()
    groups = [create(service, root, billinggroup_id=f"BG-{number}") for number in range(6)]

    answers = all_at_once(
        [partial(update, service, root, one, billinggroup_id="BG-wanted") for one in groups]
    )

    codes = Counter((answer.status_code, answer.json().get("code")) for answer in answers)
    assert codes == {(200, None): 1, (409, "billinggroup_id_taken"): 5}


# ── which groups ─────────────────────────────────────────────────────────────────────────────────


def test_unknown_foreign_hidden_and_deleted_groups_are_not_there(
    service: Service, company_id: str
) -> None:
    root = service.root()
    other = service.new_organisation()
    foreign = create(service, service.root(other), billinggroup_id="theirs")
    hidden = create(service, root, billinggroup_id="hidden")
    deleted = create(service, root, billinggroup_id="deleted")
    assert service.http.delete(f"{PATH}/{deleted}", headers=root).status_code == 200
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[company_id, deleted])

    for one in ("cmp_never_was", "BG-0001", foreign, hidden, deleted):
        answer = update(service, narrowed, one, remarks="changed", project_id="prj_never_was")
        assert problem_of(answer, 404)["code"] == "not_found"
    assert read(service, hidden)["remarks"] is None


def test_the_change_is_written_down(
    service: Service, manager: dict[str, str], company_id: str
) -> None:
    update(service, manager, company_id, remarks="changed")

    newest = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert newest["action"] == "update_billing_group"
    assert newest["resource"] == f"billinggroup/{company_id}"
    assert newest["company_id"] == company_id
    assert newest["sent"] == REQUIRED | {"remarks": "changed"}
