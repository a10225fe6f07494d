"""POST /m/core/ri/purchased/{ri_id}"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    MONTH,
    OTHER,
    OWNER,
    PATH,
    PAYER,
    deliver,
    furnish,
    listed,
    move,
    moved,
    numbers,
    owned,
    remove,
    reservation,
)
from tests.answers import Answer, problem_of, violations_of
from tests.costs.months.closing import close, inside
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.people import all_at_once
from tests.running_service import Service


@pytest.fixture
def groups(service: Service) -> dict[str, str]:
    return furnish(service)


def test_some_instances_are_split_off(service: Service, groups: dict[str, str]) -> None:
    answer = move(service, 4, headers=service.caller(RoleAction.ModifyRi))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert numbers(service) == [6, 4]
    (record,) = moved(service)
    assert (record["customer_id"], record["dest_customer_id"]) == (OWNER, DEST)
    assert owned(service)["dest_customer_id"] == ""


def test_all_of_them_can_be_moved(service: Service, groups: dict[str, str]) -> None:
    assert move(service, 10).status_code == 200

    assert numbers(service) == [0, 10]


def test_every_move_is_a_record_of_its_own(service: Service, groups: dict[str, str]) -> None:
    for number, customer_id in ((1, DEST), (2, OTHER), (3, DEST)):
        assert move(service, number, customer_id).status_code == 200

    assert numbers(service) == [4, 1, 2, 3]
    assert [one["dest_customer_id"] for one in moved(service)] == [DEST, OTHER, DEST]
    assert len({one["id"] for one in listed(service)}) == 4


@pytest.mark.parametrize("number", [11, 10**29])
def test_no_more_than_remain(service: Service, groups: dict[str, str], number: int) -> None:
    assert problem_of(move(service, number), 409)["code"] == "too_few_remain"
    assert numbers(service) == [10]
    move(service, 8)
    assert problem_of(move(service, 3), 409)["code"] == "too_few_remain"
    assert move(service, 2).status_code == 200
    assert problem_of(move(service, 1), 409)["code"] == "too_few_remain"
    assert numbers(service) == [0, 8, 2]


def test_not_to_its_owner(service: Service, groups: dict[str, str]) -> None:
    for number in (1, 11):
        answer = move(service, number, OWNER)
        assert problem_of(answer, 409)["code"] == "reservation_of_customer"
    assert numbers(service) == [10]


def test_what_was_moved_is_not_moved_on(service: Service, groups: dict[str, str]) -> None:
    move(service, 4)
    record = moved(service)[0]["id"]

    for customer_id in (OTHER, OWNER, DEST):
        answer = move(service, 1, customer_id, ri_id=record)
        assert problem_of(answer, 409)["code"] == "reservation_moved"
    assert numbers(service) == [6, 4]
    remove(service, record)
    problem_of(move(service, 1, ri_id=record), 404)


@pytest.mark.parametrize("customer_id", ["000000000009", "", "BG-012345678901", "x\u00e9"])
def test_an_unknown_customer_is_404(
    service: Service, groups: dict[str, str], customer_id: str
) -> None:
    problem_of(move(service, 1, customer_id), 404)
    assert numbers(service) == [10]


def test_a_customer_of_another_vendor_is_unknown(service: Service, groups: dict[str, str]) -> None:
    add_account(service, groups[OTHER], **AZURE)

    problem_of(move(service, 1, AZURE["customer_id"]), 404)


def test_an_unknown_record_is_404(service: Service, groups: dict[str, str]) -> None:
    for ri_id in ("ri_never_was", "x", "%20"):
        problem_of(move(service, 1, ri_id=ri_id), 404)


def test_a_reservation_of_azure_is_not_there(service: Service, groups: dict[str, str]) -> None:
    deliver(service, reservation(reservation_id="rsv-1"), vendor="azure")

    problem_of(move(service, 1, ri_id="rsv-1"), 404)


def test_an_ended_one_can_still_be_moved(service: Service) -> None:
    """Its fees of months that are not closed."""
    furnish(service, reservation(end="2020-01-01T00:00:00Z"))

    assert move(service, 4).status_code == 200


def test_an_owner_in_no_group_can_give(service: Service) -> None:
    furnish(service, reservation(customer_id="000000000009"))

    assert move(service, 4).status_code == 200
    assert numbers(service) == [6, 4]


# ── who may know what ────────────────────────────────────────────────────────────────────────────


def test_a_hidden_owner_and_a_hidden_customer_are_not_there(
    service: Service, groups: dict[str, str]
) -> None:
    for seen in ([OWNER], [DEST], [OTHER]):
        company_ids = [groups[customer] for customer in seen]
        narrowed = service.caller(RoleAction.ModifyRi, billing_groups=company_ids)
        for number in (1, 11):
            problem_of(move(service, number, headers=narrowed), 404)
    assert numbers(service) == [10]

    both = service.caller(RoleAction.ModifyRi, billing_groups=[groups[OWNER], groups[DEST]])
    assert move(service, 1, headers=both).status_code == 200


def test_a_hidden_move_is_not_there(service: Service, groups: dict[str, str]) -> None:
    move(service, 4)
    record = moved(service)[0]["id"]

    for seen in (OWNER, DEST):
        narrowed = service.caller(RoleAction.ModifyRi, billing_groups=[groups[seen]])
        problem_of(move(service, 1, OTHER, ri_id=record, headers=narrowed), 404)


def test_another_organisations_record_is_not_there(
    service: Service, groups: dict[str, str]
) -> None:
    ours = owned(service)["id"]

    service.organisation = service.new_organisation()
    furnish(service)

    problem_of(move(service, 1, ri_id=ours), 404)


# ── the body ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("vendor", ["azure", "gcp", "AWS", "", 1])
def test_a_vendor_other_than_aws_is_refused(
    service: Service, groups: dict[str, str], vendor: Any
) -> None:
    assert violations_of(move(service, 1, vendor=vendor)) == [("vendor", "one of aws")]


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
def test_a_number_is_a_whole_one_from_1(
    service: Service, groups: dict[str, str], number: Any, rule: str
) -> None:
    assert violations_of(move(service, number)) == [("number", rule)]
    assert numbers(service) == [10]


@pytest.mark.parametrize("field", ["customer_id", "number", "vendor"])
def test_every_field_is_required(service: Service, groups: dict[str, str], field: str) -> None:
    body = {"customer_id": DEST, "number": 1, "vendor": "aws"}
    path = f"{PATH}/{owned(service)['id']}"

    for sent in ({k: v for k, v in body.items() if k != field}, body | {field: None}):
        answer = service.http.post(path, json=sent, headers=service.root())
        assert violations_of(answer) == [(field, "required")]


# ── accounts, audit, several at once ─────────────────────────────────────────────────────────────


def test_an_account_that_holds_something_moved_cannot_be_deleted(
    service: Service, groups: dict[str, str]
) -> None:
    path = f"{ACCOUNTS}/aws/{DEST}|{PAYER}"
    move(service, 4)

    assert problem_of(service.http.delete(path, headers=service.root()), 409)["code"] == "conflict"
    remove(service, moved(service)[0]["id"])
    assert service.http.delete(path, headers=service.root()).status_code == 200
    assert numbers(service) == [10]


def test_it_is_audited(service: Service, groups: dict[str, str]) -> None:
    move(service, 4)

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert entry["action"] == "move_reserved_instance"
    assert entry["resource"] == f"ri/{owned(service)['id']}"
    assert entry["sent"] == {"customer_id": DEST, "number": 4, "vendor": "aws"}


def test_a_closing_that_waits_for_an_import_keeps_nobody_from_moving(
    service: Service, groups: dict[str, str]
) -> None:
    headers, ri_id = service.root(), owned(service)["id"]

    with ThreadPoolExecutor(1) as aside:

        async def while_importing(db: AsyncConnection, scope: TenantScope) -> Future[Answer]:
            await lock_month(db, scope, BillingPeriod(MONTH, "aws"))
            closing = aside.submit(close, service, MONTH, headers=headers)
            await asyncio.sleep(0.5)
            assert not closing.done()
            answer = await asyncio.to_thread(move, service, 3, ri_id=ri_id, headers=headers)
            assert answer.status_code == 200
            assert not closing.done()
            return closing

        assert inside(service, while_importing).result().status_code == 200
    assert numbers(service) == [7, 3]


def test_many_at_once_never_get_more_than_there_are(
    service: Service, groups: dict[str, str]
) -> None:
    ri_id, headers = owned(service)["id"], service.root()

    answers = all_at_once(
        [lambda: move(service, 3, ri_id=ri_id, headers=headers) for _ in range(12)]
    )

    assert sorted(answer.status_code for answer in answers) == [200] * 3 + [409] * 9
    refused = [answer.json()["code"] for answer in answers if answer.status_code == 409]
    assert refused == ["too_few_remain"] * 9
    assert numbers(service) == [1, 3, 3, 3]
