"""POST and DELETE /m/core/billinggroup/{company_id}/freeformat[/{vendor}]"""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    create_billing_group,
    read_billing_group,
)
from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM as ITEM
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service


@pytest.fixture
def company_id(service: Service) -> str:
    return create_billing_group(service, service.root(), billinggroup_id="BG")


def replace(
    service: Service, company_id: str, vendor: str, items: Any, headers: Any = None
) -> HttpResponse:
    return service.http.post(
        f"{PATH}/{company_id}/freeformat/{vendor}",
        json={"additional_items": items},
        headers=headers or service.root(),
    )


def delete(
    service: Service, company_id: str, vendor: str = "", headers: Any = None
) -> HttpResponse:
    path = f"{PATH}/{company_id}/freeformat" + (f"/{vendor}" if vendor else "")
    return service.http.delete(path, headers=headers or service.root())


def read_items(service: Service, company_id: str) -> Any:
    return read_billing_group(service, company_id)["additional_items"]


def test_items_keep_the_order_in_which_they_were_sent(service: Service, company_id: str) -> None:
    items = [ITEM | {"label": label, "enabled": label != "b"} for label in ("c", "a", "b", "a")]

    response = replace(service, company_id, "aws", items)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert read_items(service, company_id) == {"aws": items}


def test_only_items_of_the_same_group_and_vendor_are_replaced(
    service: Service, company_id: str
) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="other")
    for group in (company_id, other):
        replace(service, group, "aws", [ITEM, ITEM, ITEM])
        replace(service, group, "azure", [ITEM])

    replace(service, company_id, "aws", [ITEM | {"label": "new"}])

    assert read_items(service, company_id) == {"aws": [ITEM | {"label": "new"}], "azure": [ITEM]}
    assert read_items(service, other) == {"aws": [ITEM] * 3, "azure": [ITEM]}


def test_an_empty_list_removes_the_items_of_the_vendor(service: Service, company_id: str) -> None:
    replace(service, company_id, "aws", [ITEM])
    replace(service, company_id, "azure", [ITEM])

    assert replace(service, company_id, "aws", []).status_code == 200

    assert read_items(service, company_id) == {"azure": [ITEM]}


def test_the_longest_labels_are_stored(service: Service, company_id: str) -> None:
    items = [ITEM | {"label": label} for label in ("a", "長" * 60, "🌸" * 60)]

    assert replace(service, company_id, "aws", items).status_code == 200

    assert read_items(service, company_id) == {"aws": items}


def test_numbers_keep_their_digits(service: Service, company_id: str) -> None:
    sent_and_stored = [
        ("0.10", "0.10"),
        ("1500", "1500"),
        ("1500.000", "1500.000"),
        ("-3000.5", "-3000.5"),
        ("0.123456789012345678901234567", "0.123456789012345678901234567"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
    ]
    template = json.dumps(ITEM | dict.fromkeys(("unit_cost", "quantity", "total"), "?"))
    items = ", ".join(template.replace('"?"', sent) for sent, _ in sent_and_stored)
    headers = service.root() | {"Content-Type": "application/json"}

    response = service.http.post(
        f"{PATH}/{company_id}/freeformat/aws",
        content=f'{{"additional_items": [{items}]}}',
        headers=headers,
    )

    assert response.status_code == 200
    record = service.http.get(f"{PATH}/{company_id}/resource", headers=headers).text
    for _, stored in sent_and_stored:
        assert f'"unit_cost":{stored},"quantity":{stored},"total":{stored}}}' in record


def test_the_total_need_not_be_the_product_of_unit_cost_and_quantity(
    service: Service, company_id: str
) -> None:
    """The specification has the total as a field of its own."""
    items = [ITEM | {"total": 2999}]

    assert replace(service, company_id, "aws", items).status_code == 200

    assert read_items(service, company_id) == {"aws": items}


def test_a_refused_list_changes_nothing(service: Service, company_id: str) -> None:
    replace(service, company_id, "aws", [ITEM])

    response = replace(service, company_id, "aws", [ITEM, ITEM | {"label": "", "total": "1"}])

    assert read_violations(response) == [
        ("additional_items[1].label", "length 1 to 60"),
        ("additional_items[1].total", "a number"),
    ]
    assert read_items(service, company_id) == {"aws": [ITEM]}


def test_a_list_of_2000_items_is_stored(service: Service, company_id: str) -> None:
    items = [ITEM | {"label": str(number)} for number in range(2_000)]

    assert replace(service, company_id, "azure", items).status_code == 200

    assert read_items(service, company_id) == {"azure": items}


def test_more_than_2000_items_are_refused(service: Service, company_id: str) -> None:
    replace(service, company_id, "azure", [ITEM])

    response = replace(service, company_id, "azure", [ITEM] * 2_001)

    assert read_violations(response) == [("additional_items", "at most 2000 items")]
    assert read_items(service, company_id) == {"azure": [ITEM]}


def test_all_items_of_only_this_group_are_deleted(service: Service, company_id: str) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="other")
    for group in (company_id, other):
        replace(service, group, "aws", [ITEM])
        replace(service, group, "azure", [ITEM])

    response = delete(service, company_id)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert read_items(service, company_id) == {}
    assert read_items(service, other) == {"aws": [ITEM], "azure": [ITEM]}


def test_items_of_one_vendor_are_deleted(service: Service, company_id: str) -> None:
    replace(service, company_id, "aws", [ITEM])
    replace(service, company_id, "azure", [ITEM])

    assert delete(service, company_id, "aws").status_code == 200

    assert read_items(service, company_id) == {"azure": [ITEM]}


def test_deleting_succeeds_when_there_are_no_items(service: Service, company_id: str) -> None:
    assert delete(service, company_id).status_code == 200
    assert delete(service, company_id, "azure").status_code == 200


def test_an_unknown_vendor_is_refused(service: Service, company_id: str) -> None:
    replace(service, company_id, "aws", [ITEM])

    for vendor in ("gcp", "AWS", "aws "):
        for response in (
            replace(service, company_id, vendor, []),
            delete(service, company_id, vendor),
        ):
            assert read_violations(response) == [("vendor", "one of aws, azure")]
    assert read_items(service, company_id) == {"aws": [ITEM]}


def test_unknown_foreign_and_hidden_groups_are_not_found(service: Service) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    replace(service, hidden, "aws", [ITEM])
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[visible])

    for company_id in ("cmp_unknown", foreign, hidden):
        read_problem(replace(service, company_id, "aws", [], restricted), 404)
        read_problem(delete(service, company_id, headers=restricted), 404)
        read_problem(delete(service, company_id, "aws", headers=restricted), 404)
    assert read_items(service, hidden) == {"aws": [ITEM]}
    assert replace(service, visible, "aws", [ITEM], restricted).status_code == 200
    assert delete(service, visible, headers=restricted).status_code == 200


def test_each_change_adds_an_audit_row(service: Service, company_id: str) -> None:
    replace(service, company_id, "aws", [ITEM])
    delete(service, company_id, "aws")
    delete(service, company_id)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()[:3]
    resource = f"billinggroup/{company_id}/freeformat"
    assert [(row["action"], row["resource"], row["company_id"]) for row in rows] == [
        ("delete_free_format", resource, company_id),
        ("delete_free_format_of_vendor", f"{resource}/aws", company_id),
        ("update_free_format", f"{resource}/aws", company_id),
    ]
