"""Fees that moves shift between customers, month by month and exact."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from nimbill.adjustments.reserved_instances.moved_fees import list_moved_fees
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.reserved_instances.reservations import (
    ARN,
    DEST,
    EARLIER,
    LATER,
    MONTH,
    OTHER,
    OWNER,
    build_reservation,
    create_customers,
    import_reservations,
    list_fees,
    list_moved_records,
    list_records,
    move_instances,
    remove_move,
    sum_fees_by_customer,
)
from tests.costs.months.month_requests import close_month, reopen_month, run_in_transaction
from tests.running_service import Service

DOCUMENTATION = (Path(__file__).parents[3] / "docs/recalculation-and-reservations.md").read_text()


def test_without_a_move_there_are_no_moved_fees(service: Service) -> None:
    create_customers(service)

    assert list_fees(service) == []


def test_a_move_creates_two_fees_that_add_up_to_zero(service: Service) -> None:
    create_customers(service)
    move_instances(service, 3)

    given, taken = list_fees(service)

    assert (given.customer_id, given.amount) == (DEST, Decimal("44.9326137"))
    assert (taken.customer_id, taken.amount) == (OWNER, Decimal("-44.9326137"))
    for fee in (given, taken):
        assert (fee.reservation_id, fee.service, fee.currency) == (ARN, "AmazonEC2", "USD")
        assert fee.move_id == list_moved_records(service)[0]["id"]


def test_the_owner_keeps_what_rounding_leaves_over(service: Service) -> None:
    """A fee of 100 split among three customers has no exact third."""
    create_customers(service, build_reservation(fee=Decimal(100), number=3))
    for customer_id in (DEST, OTHER, DEST):
        move_instances(service, 1, customer_id)

    sums = sum_fees_by_customer(service)

    assert sums == {
        DEST: Decimal("66.6666666666"),
        OTHER: Decimal("33.3333333333"),
        OWNER: Decimal("-99.9999999999"),
    }
    assert Decimal(100) + sums[OWNER] == Decimal("0.0000000001")


def test_the_documented_example_is_correct(service: Service) -> None:
    rows = re.findall(
        r"^\| (?:as|one|and) .*? \| (.*?) \| (.*?) \| (.*?) \|$", DOCUMENTATION, re.MULTILINE
    )
    create_customers(service, build_reservation(fee=Decimal(100), number=3))
    calculated = []
    for customer_id in (None, DEST, OTHER):
        if customer_id is not None:
            move_instances(service, 1, customer_id)
        charged = {OWNER: Decimal(100), DEST: Decimal(0), OTHER: Decimal(0)}
        for customer, amount in sum_fees_by_customer(service).items():
            charged[customer] += amount
        calculated.append(tuple(charged.values()))

    assert calculated == [tuple(Decimal(cell) for cell in row) for row in rows]
    assert len(rows) == 3


def test_the_owner_keeps_digits_beyond_the_tenth_decimal(service: Service) -> None:
    fee = Decimal("1234567890123456.0123456789012345678901")
    create_customers(service, build_reservation(fee=fee, number=2))
    move_instances(service, 2)

    given, taken = list_fees(service)

    assert str(given.amount) == "1234567890123456.0123456789"
    assert str(taken.amount) == "-1234567890123456.0123456789"


def test_a_move_applies_to_every_open_month(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100)))
    for month, fee in ((EARLIER, 50), (LATER, 200)):
        import_reservations(service, build_reservation(fee=Decimal(fee)), month=month)
    move_instances(service, 5)

    found = {month: sum_fees_by_customer(service, month)[DEST] for month in (EARLIER, MONTH, LATER)}

    assert found == {EARLIER: 25, MONTH: 50, LATER: 100}
    assert list_fees(service, "2027-01") == []


def test_a_removed_move_moves_no_fees(service: Service) -> None:
    create_customers(service)
    move_instances(service, 3)
    move_instances(service, 2, OTHER)
    remove_move(service, list_moved_records(service)[0]["id"])

    assert sum_fees_by_customer(service).keys() == {OTHER, OWNER}


def test_a_reservation_without_fee_moves_no_fees(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(0)))
    move_instances(service, 3)

    assert list_fees(service) == []


def test_moved_fees_do_not_depend_on_the_callers_billing_groups(service: Service) -> None:
    """An invoice includes moves from groups that its creator cannot see."""
    groups = create_customers(service)
    move_instances(service, 3)

    restricted = TenantScope(service.organisation.organisation_id, frozenset([groups[OTHER]]))
    period = BillingPeriod(MONTH, "aws")
    open_month = MonthState(closed=False, closing_number=0, parked_reasons={})
    fees = run_in_transaction(
        service, lambda db, _: list_moved_fees(db, restricted, period, open_month)
    )

    assert fees == list_fees(service)


# ── closed months ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def closed(service: Service) -> Service:
    """Two months with a fee of 100 and 4 of 10 instances moved; the first month is closed."""
    create_customers(service, build_reservation(fee=Decimal(100)))
    import_reservations(service, build_reservation(fee=Decimal(100)), month=LATER)
    move_instances(service, 4)
    assert close_month(service, MONTH).status_code == 200
    return service


def test_a_closed_month_keeps_its_split_after_another_move(closed: Service) -> None:
    move_instances(closed, 2, OTHER)

    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert sum_fees_by_customer(closed, LATER) == {DEST: 40, OTHER: 20, OWNER: -60}


def test_a_closed_month_keeps_its_split_after_a_move_is_removed(closed: Service) -> None:
    remove_move(closed, list_moved_records(closed)[0]["id"])

    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert sum_fees_by_customer(closed, LATER) == {}


def test_a_closed_month_keeps_its_split_when_the_reservation_changes(closed: Service) -> None:
    import_reservations(closed, build_reservation(fee=Decimal(10), number=1), month=LATER)

    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    import_reservations(closed, month=LATER)
    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}


def test_a_reopened_month_uses_the_current_moves(closed: Service) -> None:
    remove_move(closed, list_moved_records(closed)[0]["id"])
    move_instances(closed, 1, OTHER)

    reopen_month(closed, MONTH)

    assert sum_fees_by_customer(closed, MONTH) == {OTHER: 10, OWNER: -10}


def test_a_month_closed_again_keeps_the_split_of_its_latest_closing(closed: Service) -> None:
    move_instances(closed, 1, OTHER)
    reopen_month(closed, MONTH)
    close_month(closed, MONTH)

    move_instances(closed, 2, OTHER)
    remove_move(closed, list_moved_records(closed)[0]["id"])

    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OTHER: 10, OWNER: -50}
    assert sum_fees_by_customer(closed, LATER) == {OTHER: 30, OWNER: -30}


def test_each_closed_month_keeps_its_own_split(closed: Service) -> None:
    move_instances(closed, 1, OTHER)
    close_month(closed, LATER)
    remove_move(closed, list_moved_records(closed)[0]["id"])
    import_reservations(closed, build_reservation(fee=Decimal(100)), month="2026-03")

    assert sum_fees_by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert sum_fees_by_customer(closed, LATER) == {DEST: 40, OTHER: 10, OWNER: -50}
    assert sum_fees_by_customer(closed, "2026-03") == {OTHER: 10, OWNER: -10}


def test_closing_a_month_of_another_vendor_changes_nothing(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100)))
    close_month(service, MONTH, "azure")
    move_instances(service, 4)

    assert sum_fees_by_customer(service) == {DEST: 40, OWNER: -40}


# ── random operations ─────────────────────────────────────────────────────────────────────────────


def test_moved_fees_always_add_up_to_zero(service: Service) -> None:
    random = Random(20260115)
    fee = Decimal("149.7753790000123456789")
    create_customers(service, build_reservation(fee=fee, number=7))
    headers, (owner, *moves) = service.root(), list_records(service)
    for _ in range(40):
        if moves and random.random() < 0.4:
            remove_move(service, random.choice(moves)["id"], headers=headers)
        else:
            number, customer_id = random.randint(1, 4), random.choice([DEST, OTHER])
            move_instances(service, number, customer_id, ri_id=owner["id"], headers=headers)
        if random.random() < 0.2:
            import_reservations(service, build_reservation(fee=fee, number=random.randint(1, 9)))

        fees = list_fees(service)
        owner, *moves = list_records(service, headers=headers)

        assert sum((fee.amount for fee in fees), Decimal(0)) == 0
        assert owner["number"] >= 0
        assert len(fees) == 2 * len([move for move in moves if move["number"]])
