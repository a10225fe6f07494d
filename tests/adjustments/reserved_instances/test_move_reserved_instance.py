"""POST /m/core/ri/purchased/{ri_id}"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.reserved_instances.bodies import ReservedInstanceMove
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    MONTH,
    OTHER,
    OWNER,
    PAYER,
    build_reservation,
    create_customers,
    get_owner_record,
    import_reservations,
    list_moved_records,
    list_numbers,
    list_records,
    move_instances,
    remove_move,
)
from tests.body_violations import find_body_violations
from tests.costs.months.month_requests import close_month
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.held_locks import call_while_locked
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently

BODY = {"customer_id": DEST, "number": 1, "vendor": "aws"}


@pytest.fixture
def groups(service: Service) -> dict[str, str]:
    return create_customers(service)


def test_moved_instances_become_a_new_record(service: Service, groups: dict[str, str]) -> None:
    response = move_instances(service, 4, headers=service.caller(RoleAction.ModifyRi))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_numbers(service) == [6, 4]
    (record,) = list_moved_records(service)
    assert (record["customer_id"], record["dest_customer_id"]) == (OWNER, DEST)
    assert get_owner_record(service)["dest_customer_id"] == ""


def test_all_instances_can_be_moved(service: Service, groups: dict[str, str]) -> None:
    assert move_instances(service, 10).status_code == 200

    assert list_numbers(service) == [0, 10]


def test_every_move_creates_its_own_record(service: Service, groups: dict[str, str]) -> None:
    for number, customer_id in ((1, DEST), (2, OTHER), (3, DEST)):
        assert move_instances(service, number, customer_id).status_code == 200

    assert list_numbers(service) == [4, 1, 2, 3]
    assert [record["dest_customer_id"] for record in list_moved_records(service)] == [
        DEST,
        OTHER,
        DEST,
    ]
    assert len({record["id"] for record in list_records(service)}) == 4


@pytest.mark.parametrize("number", [11, 10**29])
def test_more_instances_than_remain_cannot_be_moved(
    service: Service, groups: dict[str, str], number: int
) -> None:
    assert read_problem(move_instances(service, number), 409)["code"] == "too_few_remain"
    assert list_numbers(service) == [10]
    move_instances(service, 8)
    assert read_problem(move_instances(service, 3), 409)["code"] == "too_few_remain"
    assert move_instances(service, 2).status_code == 200
    assert read_problem(move_instances(service, 1), 409)["code"] == "too_few_remain"
    assert list_numbers(service) == [0, 8, 2]


def test_instances_cannot_be_moved_to_their_owner(service: Service, groups: dict[str, str]) -> None:
    for number in (1, 11):
        response = move_instances(service, number, OWNER)
        assert read_problem(response, 409)["code"] == "reservation_of_customer"
    assert list_numbers(service) == [10]


def test_a_moved_record_cannot_be_moved_again(service: Service, groups: dict[str, str]) -> None:
    move_instances(service, 4)
    record = list_moved_records(service)[0]["id"]

    for customer_id in (OTHER, OWNER, DEST):
        response = move_instances(service, 1, customer_id, ri_id=record)
        assert read_problem(response, 409)["code"] == "reservation_moved"
    assert list_numbers(service) == [6, 4]
    remove_move(service, record)
    read_problem(move_instances(service, 1, ri_id=record), 404)


@pytest.mark.parametrize("customer_id", ["000000000009", "", "BG-012345678901", "x\u00e9"])
def test_an_unknown_customer_is_not_found(
    service: Service, groups: dict[str, str], customer_id: str
) -> None:
    read_problem(move_instances(service, 1, customer_id), 404)
    assert list_numbers(service) == [10]


def test_a_customer_of_another_vendor_is_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    add_account(service, groups[OTHER], **AZURE)

    read_problem(move_instances(service, 1, AZURE["customer_id"]), 404)


def test_an_unknown_record_is_not_found(service: Service, groups: dict[str, str]) -> None:
    for ri_id in ("ri_never_was", "x", "%20"):
        read_problem(move_instances(service, 1, ri_id=ri_id), 404)


def test_a_reservation_of_azure_is_not_found(service: Service, groups: dict[str, str]) -> None:
    import_reservations(service, build_reservation(reservation_id="rsv-1"), vendor="azure")

    read_problem(move_instances(service, 1, ri_id="rsv-1"), 404)


def test_an_expired_reservation_can_still_be_moved(service: Service) -> None:
    """The move applies to its fees of months that are not closed."""
    create_customers(service, build_reservation(end="2020-01-01T00:00:00Z"))

    assert move_instances(service, 4).status_code == 200


def test_an_owner_in_no_billing_group_can_move_instances(service: Service) -> None:
    create_customers(service, build_reservation(customer_id="000000000009"))

    assert move_instances(service, 4).status_code == 200
    assert list_numbers(service) == [6, 4]


# ── visibility ────────────────────────────────────────────────────────────────────────────────────


def test_owner_and_customer_must_both_be_visible_to_the_caller(
    service: Service, groups: dict[str, str]
) -> None:
    for seen in ([OWNER], [DEST], [OTHER]):
        company_ids = [groups[customer] for customer in seen]
        restricted = service.caller(RoleAction.ModifyRi, billing_groups=company_ids)
        for number in (1, 11):
            read_problem(move_instances(service, number, headers=restricted), 404)
    assert list_numbers(service) == [10]

    both = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OWNER], groups[DEST]])
    assert move_instances(service, 1, headers=both).status_code == 200


def test_a_moved_record_outside_the_callers_billing_groups_is_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    move_instances(service, 4)
    record = list_moved_records(service)[0]["id"]

    for seen in (OWNER, DEST):
        restricted = service.caller(RoleAction.ModifyRi, billing_groups=[groups[seen]])
        read_problem(move_instances(service, 1, OTHER, ri_id=record, headers=restricted), 404)


def test_a_record_of_another_organisation_is_not_found(
    service: Service, groups: dict[str, str]
) -> None:
    ours = get_owner_record(service)["id"]

    service.organisation = service.new_organisation()
    create_customers(service)

    read_problem(move_instances(service, 1, ri_id=ours), 404)


# ── request body ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("vendor", ["azure", "gcp", "AWS", "", 1])
def test_a_vendor_other_than_aws_is_refused(vendor: Any) -> None:
    violations = find_body_violations(ReservedInstanceMove, BODY | {"vendor": vendor})

    assert violations == [("vendor", "one of aws")]


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (0, "1 or more"),
        (-1, "1 or more"),
        (1.5, "a whole number"),
        ("1", "a whole number"),
        (True, "a whole number"),
    ],
)
def test_the_number_must_be_an_integer_of_at_least_1(number: Any, rule: str) -> None:
    violations = find_body_violations(ReservedInstanceMove, BODY | {"number": number})

    assert violations == [("number", rule)]


@pytest.mark.parametrize("field", BODY)
def test_every_field_is_required(field: str) -> None:
    without_field = {name: value for name, value in BODY.items() if name != field}

    for body in (without_field, BODY | {field: None}):
        assert find_body_violations(ReservedInstanceMove, body) == [(field, "required")]


def test_an_invalid_body_moves_nothing(service: Service, groups: dict[str, str]) -> None:
    response = move_instances(service, 0, vendor="azure")

    assert read_violations(response) == [("vendor", "one of aws"), ("number", "1 or more")]
    assert list_numbers(service) == [10]


# ── accounts, audit and concurrency ───────────────────────────────────────────────────────────────


def test_an_account_with_moved_instances_cannot_be_deleted(
    service: Service, groups: dict[str, str]
) -> None:
    path = f"{ACCOUNTS}/aws/{DEST}|{PAYER}"
    move_instances(service, 4)

    problem = read_problem(service.http.delete(path, headers=service.root()), 409)
    assert problem["code"] == "account_holds_reservation"
    assert problem["detail"] == (
        "Reserved instances were moved to this account. Remove these moves first."
    )
    remove_move(service, list_moved_records(service)[0]["id"])
    assert service.http.delete(path, headers=service.root()).status_code == 200
    assert list_numbers(service) == [10]


def test_moving_is_audited(service: Service, groups: dict[str, str]) -> None:
    move_instances(service, 4)

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert entry["action"] == "move_reserved_instance"
    assert entry["resource"] == f"ri/{get_owner_record(service)['id']}"
    assert entry["sent"] == {"customer_id": DEST, "number": 4, "vendor": "aws"}


def test_closing_a_month_that_waits_for_an_import_does_not_block_moves(
    service: Service, groups: dict[str, str]
) -> None:
    headers, ri_id = service.root(), get_owner_record(service)["id"]

    async def start_importing(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_month(db, scope, BillingPeriod(MONTH, "aws"))

    async def move(*_: object) -> None:
        response = await asyncio.to_thread(move_instances, service, 3, ri_id=ri_id, headers=headers)
        assert response.status_code == 200

    closing = call_while_locked(
        service,
        start_importing,
        lambda: close_month(service, MONTH, headers=headers),
        change=move,
    )

    assert closing.waited
    assert closing.result.status_code == 200
    assert list_numbers(service) == [7, 3]


def test_concurrent_moves_never_exceed_the_number_of_instances(
    service: Service, groups: dict[str, str]
) -> None:
    ri_id, headers = get_owner_record(service)["id"], service.root()

    responses = run_concurrently(
        [lambda: move_instances(service, 3, ri_id=ri_id, headers=headers) for _ in range(12)]
    )

    assert sorted(response.status_code for response in responses) == [200] * 3 + [409] * 9
    refused = [response.json()["code"] for response in responses if response.status_code == 409]
    assert refused == ["too_few_remain"] * 9
    assert list_numbers(service) == [1, 3, 3, 3]
