"""POST /m/core/ri/purchased/{ri_id}/remove"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    OTHER,
    OWNER,
    PATH,
    deliver,
    fees,
    furnish,
    listed,
    move,
    moved,
    numbers,
    owned,
    remove,
    reservation,
)
from tests.answers import problem_of, violations_of
from tests.people import all_at_once
from tests.running_service import Service


@pytest.fixture
def groups(service: Service) -> dict[str, str]:
    """Two moves, of 4 and of 3."""
    found = furnish(service)
    move(service, 4, DEST)
    move(service, 3, OTHER)
    return found


def test_what_was_moved_is_given_back(service: Service, groups: dict[str, str]) -> None:
    record = moved(service)[0]["id"]

    answer = remove(service, record, headers=service.caller(RoleAction.ModifyRi))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert numbers(service) == [7, 3]
    assert [one["dest_customer_id"] for one in moved(service)] == [OTHER]


def test_undoing_restores_everything_exactly(service: Service) -> None:
    furnish(service)
    before = listed(service)

    for number in (1, 2, 3):
        move(service, number)
    for record in moved(service):
        remove(service, record["id"])

    assert listed(service) == before
    assert fees(service) == []


def test_what_was_given_back_can_be_moved_again(service: Service, groups: dict[str, str]) -> None:
    for record in moved(service):
        remove(service, record["id"])

    assert move(service, 10, OTHER).status_code == 200
    assert numbers(service) == [0, 10]


def test_a_record_that_was_not_moved_is_409(service: Service, groups: dict[str, str]) -> None:
    answer = remove(service, owned(service)["id"])

    assert problem_of(answer, 409)["code"] == "reservation_not_moved"
    assert numbers(service) == [3, 4, 3]


def test_an_unknown_record_and_one_given_back_are_404(
    service: Service, groups: dict[str, str]
) -> None:
    record = moved(service)[0]["id"]
    remove(service, record)

    for ri_id in (record, "ri_never_was"):
        problem_of(remove(service, ri_id), 404)
    assert numbers(service) == [7, 3]


def test_a_reservation_of_azure_is_not_there(service: Service) -> None:
    deliver(service, reservation(reservation_id="rsv-1"), vendor="azure")

    problem_of(remove(service, "rsv-1"), 404)


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=azure", "one of aws"), ("?vendor=gcp", "one of aws")],
)
def test_a_vendor_other_than_aws_is_refused(
    service: Service, groups: dict[str, str], query: str, rule: str
) -> None:
    path = f"{PATH}/{moved(service)[0]['id']}/remove{query}"

    assert violations_of(service.http.post(path, headers=service.root())) == [("vendor", rule)]
    assert numbers(service) == [3, 4, 3]


def test_what_is_hidden_is_not_there(service: Service, groups: dict[str, str]) -> None:
    to_dest, _ = (one["id"] for one in moved(service))
    for seen in ([OWNER], [DEST], [OWNER, OTHER]):
        company_ids = [groups[customer] for customer in seen]
        narrowed = service.caller(RoleAction.ModifyRi, billing_groups=company_ids)
        problem_of(remove(service, to_dest, headers=narrowed), 404)
    blind = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OTHER]])
    problem_of(remove(service, owned(service)["id"], headers=blind), 404)
    assert numbers(service) == [3, 4, 3]

    both = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OWNER], groups[DEST]])
    assert remove(service, to_dest, headers=both).status_code == 200


def test_another_organisations_record_is_not_there(
    service: Service, groups: dict[str, str]
) -> None:
    record = moved(service)[0]["id"]
    other = service.new_organisation()

    problem_of(remove(service, record, headers=service.root(other)), 404)
    assert numbers(service) == [3, 4, 3]


def test_it_is_audited(service: Service, groups: dict[str, str]) -> None:
    record = moved(service)[0]["id"]
    remove(service, record)

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (entry["action"], entry["resource"]) == ("remove_reserved_instance", f"ri/{record}")


def test_of_many_at_once_one_gives_it_back(service: Service, groups: dict[str, str]) -> None:
    record, headers = moved(service)[0]["id"], service.root()

    answers = all_at_once([lambda: remove(service, record, headers=headers) for _ in range(8)])

    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 7
    assert numbers(service) == [7, 3]
