"""POST /m/core/ri/purchased/{ri_id}/remove"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    OTHER,
    OWNER,
    PATH,
    build_reservation,
    create_customers,
    get_owner_record,
    import_reservations,
    list_fees,
    list_moved_records,
    list_numbers,
    list_records,
    move_instances,
    remove_move,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently


@pytest.fixture
def groups(service: Service) -> dict[str, str]:
    """Create two moves, of 4 and of 3 instances."""
    found = create_customers(service)
    move_instances(service, 4, DEST)
    move_instances(service, 3, OTHER)
    return found


def test_a_removed_record_returns_its_instances(service: Service, groups: dict[str, str]) -> None:
    record = list_moved_records(service)[0]["id"]

    response = remove_move(service, record, headers=service.caller(RoleAction.ModifyRi))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_numbers(service) == [7, 3]
    assert [record["dest_customer_id"] for record in list_moved_records(service)] == [OTHER]


def test_removing_all_moves_restores_the_original_state(service: Service) -> None:
    create_customers(service)
    before = list_records(service)

    for number in (1, 2, 3):
        move_instances(service, number)
    for record in list_moved_records(service):
        remove_move(service, record["id"])

    assert list_records(service) == before
    assert list_fees(service) == []


def test_returned_instances_can_be_moved_again(service: Service, groups: dict[str, str]) -> None:
    for record in list_moved_records(service):
        remove_move(service, record["id"])

    assert move_instances(service, 10, OTHER).status_code == 200
    assert list_numbers(service) == [0, 10]


def test_an_original_record_cannot_be_removed(service: Service, groups: dict[str, str]) -> None:
    response = remove_move(service, get_owner_record(service)["id"])

    assert read_problem(response, 409)["code"] == "reservation_not_moved"
    assert list_numbers(service) == [3, 4, 3]


def test_unknown_and_removed_records_are_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    record = list_moved_records(service)[0]["id"]
    remove_move(service, record)

    for ri_id in (record, "ri_never_was"):
        read_problem(remove_move(service, ri_id), 404)
    assert list_numbers(service) == [7, 3]


def test_a_reservation_of_azure_is_not_found(service: Service) -> None:
    import_reservations(service, build_reservation(reservation_id="rsv-1"), vendor="azure")

    read_problem(remove_move(service, "rsv-1"), 404)


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=azure", "one of aws"), ("?vendor=gcp", "one of aws")],
)
def test_a_vendor_other_than_aws_is_refused(
    service: Service, groups: dict[str, str], query: str, rule: str
) -> None:
    path = f"{PATH}/{list_moved_records(service)[0]['id']}/remove{query}"

    assert read_violations(service.http.post(path, headers=service.root())) == [("vendor", rule)]
    assert list_numbers(service) == [3, 4, 3]


def test_a_record_outside_the_callers_billing_groups_is_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    to_dest, _ = (record["id"] for record in list_moved_records(service))
    for seen in ([OWNER], [DEST], [OWNER, OTHER]):
        company_ids = [groups[customer] for customer in seen]
        restricted = service.caller(RoleAction.ModifyRi, billing_groups=company_ids)
        read_problem(remove_move(service, to_dest, headers=restricted), 404)
    restricted = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OTHER]])
    read_problem(remove_move(service, get_owner_record(service)["id"], headers=restricted), 404)
    assert list_numbers(service) == [3, 4, 3]

    both = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OWNER], groups[DEST]])
    assert remove_move(service, to_dest, headers=both).status_code == 200


def test_a_record_of_another_organisation_is_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    record = list_moved_records(service)[0]["id"]
    other = service.new_organisation()

    read_problem(remove_move(service, record, headers=service.root(other)), 404)
    assert list_numbers(service) == [3, 4, 3]


def test_removing_is_audited(service: Service, groups: dict[str, str]) -> None:
    record = list_moved_records(service)[0]["id"]
    remove_move(service, record)

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (entry["action"], entry["resource"]) == ("remove_reserved_instance", f"ri/{record}")


def test_only_one_of_several_concurrent_requests_removes_the_move(
    service: Service, groups: dict[str, str]
) -> None:
    record, headers = list_moved_records(service)[0]["id"], service.root()

    responses = run_concurrently(
        [lambda: remove_move(service, record, headers=headers) for _ in range(8)]
    )

    assert sorted(response.status_code for response in responses) == [200] + [404] * 7
    assert list_numbers(service) == [7, 3]
