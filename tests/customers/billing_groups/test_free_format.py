"""POST and DELETE /m/core/billinggroup/{company_id}/freeformat[/{vendor}]"""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.stored import PATH, create
from tests.running_service import Service

ITEM: dict[str, Any] = {
    "enabled": True,
    "label": "運用代行",
    "unit_cost": 1500,
    "quantity": 2,
    "total": 3000,
}


@pytest.fixture
def company_id(service: Service) -> str:
    return create(service, service.root(), billinggroup_id="BG")


def put(service: Service, company_id: str, vendor: str, items: Any, headers: Any = None) -> Answer:
    return service.http.post(
        f"{PATH}/{company_id}/freeformat/{vendor}",
        json={"additional_items": items},
        headers=headers or service.root(),
    )


def remove(service: Service, company_id: str, vendor: str = "", headers: Any = None) -> Answer:
    path = f"{PATH}/{company_id}/freeformat" + (f"/{vendor}" if vendor else "")
    return service.http.delete(path, headers=headers or service.root())


def items(service: Service, company_id: str) -> Any:
    path = f"{PATH}/{company_id}/resource"
    return service.http.get(path, headers=service.root()).json()["additional_items"]


def test_items_are_kept_in_the_order_sent(service: Service, company_id: str) -> None:
    sent = [ITEM | {"label": label, "enabled": label != "b"} for label in ("c", "a", "b", "a")]

    answer = put(service, company_id, "aws", sent)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert items(service, company_id) == {"aws": sent}


def test_items_replace_that_vendors_and_no_others(service: Service, company_id: str) -> None:
    other = create(service, service.root(), billinggroup_id="other")
    for one in (company_id, other):
        put(service, one, "aws", [ITEM, ITEM, ITEM])
        put(service, one, "azure", [ITEM])

    put(service, company_id, "aws", [ITEM | {"label": "new"}])

    assert items(service, company_id) == {"aws": [ITEM | {"label": "new"}], "azure": [ITEM]}
    assert items(service, other) == {"aws": [ITEM] * 3, "azure": [ITEM]}


def test_an_empty_list_leaves_none_of_that_vendor(service: Service, company_id: str) -> None:
    put(service, company_id, "aws", [ITEM])
    put(service, company_id, "azure", [ITEM])

    assert put(service, company_id, "aws", []).status_code == 200

    assert items(service, company_id) == {"azure": [ITEM]}


def test_a_label_is_taken_at_both_edges_of_its_length(service: Service, company_id: str) -> None:
    for label in ("a", "長" * 60, "🌸" * 60):
        assert put(service, company_id, "aws", [ITEM | {"label": label}]).status_code == 200
        assert items(service, company_id)["aws"][0]["label"] == label
    for label in ("", "長" * 61):
        answer = put(service, company_id, "aws", [ITEM, ITEM | {"label": label}])
        assert violations_of(answer) == [("additional_items[1].label", "length 1 to 60")]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0.10", "0.10"),
        ("1500", "1500"),
        ("1500.000", "1500.000"),
        ("-3000.5", "-3000.5"),
        ("0.123456789012345678901234567", "0.123456789012345678901234567"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
    ],
)
def test_numbers_are_kept_digit_for_digit(
    service: Service, company_id: str, written: str, read: str
) -> None:
    numbers = ("unit_cost", "quantity", "total")
    item = json.dumps(ITEM | dict.fromkeys(numbers, "?")).replace('"?"', written)
    headers = service.root() | {"Content-Type": "application/json"}

    answer = service.http.post(
        f"{PATH}/{company_id}/freeformat/aws",
        content=f'{{"additional_items": [{item}]}}',
        headers=headers,
    )

    assert answer.status_code == 200
    shown = service.http.get(f"{PATH}/{company_id}/resource", headers=headers).text
    assert f'"unit_cost":{read},"quantity":{read},"total":{read}}}' in shown


def test_the_total_is_the_senders_own(service: Service, company_id: str) -> None:
    """Stated as a field of its own: it need not be the product of the two others."""
    sent = [ITEM | {"total": 2999}]

    assert put(service, company_id, "aws", sent).status_code == 200
    assert items(service, company_id) == {"aws": sent}


def test_every_field_is_required(service: Service, company_id: str) -> None:
    for field in ITEM:
        without = {name: value for name, value in ITEM.items() if name != field}
        for item in (without, without | {field: None}):
            answer = put(service, company_id, "aws", [item])
            assert violations_of(answer) == [(f"additional_items[0].{field}", "required")]


@pytest.mark.parametrize(
    ("sent", "broken"),
    [
        ({}, [("additional_items", "required")]),
        ({"additional_items": None}, [("additional_items", "required")]),
        ({"additional_items": ITEM}, [("additional_items", "a list")]),
        ({"additional_items": ["x"]}, [("additional_items[0]", "an object")]),
        (
            {"additional_items": [ITEM | {"enabled": 1, "total": "3000", "quantity": True}]},
            [
                ("additional_items[0].enabled", "true or false"),
                ("additional_items[0].quantity", "a number"),
                ("additional_items[0].total", "a number"),
            ],
        ),
    ],
)
def test_what_is_no_list_of_items_is_refused(
    service: Service, company_id: str, sent: Any, broken: list[tuple[str, str]]
) -> None:
    put(service, company_id, "aws", [ITEM])
    path = f"{PATH}/{company_id}/freeformat/aws"

    answer = service.http.post(path, json=sent, headers=service.root())

    assert violations_of(answer) == broken
    assert items(service, company_id) == {"aws": [ITEM]}


def test_thousands_of_items_are_taken(service: Service, company_id: str) -> None:
    sent = [ITEM | {"label": str(number)} for number in range(2_000)]

    assert put(service, company_id, "azure", sent).status_code == 200
    assert items(service, company_id) == {"azure": sent}


def test_all_items_of_the_group_are_removed(service: Service, company_id: str) -> None:
    other = create(service, service.root(), billinggroup_id="other")
    for one in (company_id, other):
        put(service, one, "aws", [ITEM])
        put(service, one, "azure", [ITEM])

    answer = remove(service, company_id)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert items(service, company_id) == {}
    assert items(service, other) == {"aws": [ITEM], "azure": [ITEM]}


def test_items_of_one_vendor_are_removed(service: Service, company_id: str) -> None:
    put(service, company_id, "aws", [ITEM])
    put(service, company_id, "azure", [ITEM])

    assert remove(service, company_id, "aws").status_code == 200

    assert items(service, company_id) == {"azure": [ITEM]}


def test_where_there_are_none_nothing_is_to_be_refused(service: Service, company_id: str) -> None:
    assert remove(service, company_id).status_code == 200
    assert remove(service, company_id, "azure").status_code == 200


@pytest.mark.parametrize("vendor", ["gcp", "AWS", "aws "])
def test_another_vendor_is_refused(service: Service, company_id: str, vendor: str) -> None:
    put(service, company_id, "aws", [ITEM])

    for answer in (put(service, company_id, vendor, []), remove(service, company_id, vendor)):
        assert violations_of(answer) == [("vendor", "one of aws, azure")]
    assert items(service, company_id) == {"aws": [ITEM]}


def test_unknown_foreign_and_hidden_groups_are_not_there(service: Service) -> None:
    other = service.new_organisation()
    foreign = create(service, service.root(other), billinggroup_id="theirs")
    hidden = create(service, service.root(), billinggroup_id="hidden")
    seen = create(service, service.root(), billinggroup_id="seen")
    put(service, hidden, "aws", [ITEM])
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    for company_id in ("cmp_never_was", foreign, hidden):
        problem_of(put(service, company_id, "aws", [], narrowed), 404)
        problem_of(remove(service, company_id, headers=narrowed), 404)
        problem_of(remove(service, company_id, "aws", headers=narrowed), 404)
    assert items(service, hidden) == {"aws": [ITEM]}
    assert put(service, seen, "aws", [ITEM], narrowed).status_code == 200
    assert remove(service, seen, headers=narrowed).status_code == 200


def test_each_change_is_written_down(service: Service, company_id: str) -> None:
    put(service, company_id, "aws", [ITEM])
    remove(service, company_id, "aws")
    remove(service, company_id)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()[:3]
    group = f"billinggroup/{company_id}/freeformat"
    assert [(row["action"], row["resource"], row["company_id"]) for row in rows] == [
        ("delete_free_format", group, company_id),
        ("delete_free_format_of_vendor", f"{group}/aws", company_id),
        ("update_free_format", f"{group}/aws", company_id),
    ]
