"""What moving adds to and takes from customers' fees, month by month, to the last digit."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest

from nimbill.adjustments.reserved_instances.operations import moved_fees
from nimbill.database.tenant_scope import TenantScope
from tests.adjustments.reserved_instances.reservations import (
    ARN,
    DEST,
    EARLIER,
    LATER,
    MONTH,
    OTHER,
    OWNER,
    by_customer,
    deliver,
    fees,
    furnish,
    move,
    moved,
    owned,
    remove,
    reservation,
)
from tests.costs.months.closing import close, inside, reopen
from tests.running_service import Service

PAGE = (Path(__file__).parents[3] / "docs/recalculation-and-reservations.md").read_text()


def test_without_a_move_nothing_is_moved(service: Service) -> None:
    furnish(service)

    assert fees(service) == []


def test_a_move_is_two_amounts_that_cancel_each_other(service: Service) -> None:
    furnish(service)
    move(service, 3)

    given, taken = fees(service)

    assert (given.customer_id, given.amount) == (DEST, Decimal("44.9326137"))
    assert (taken.customer_id, taken.amount) == (OWNER, Decimal("-44.9326137"))
    for one in (given, taken):
        assert (one.reservation_id, one.service, one.currency) == (ARN, "AmazonEC2", "USD")
        assert one.move_id == moved(service)[0]["id"]


def test_the_rest_of_the_rounding_stays_with_the_owner(service: Service) -> None:
    """A hundred among three, of which each gets a third that cannot be written down."""
    furnish(service, reservation(fee=Decimal(100), number=3))
    for customer_id in (DEST, OTHER, DEST):
        move(service, 1, customer_id)

    found = by_customer(service)

    assert found == {
        DEST: Decimal("66.6666666666"),
        OTHER: Decimal("33.3333333333"),
        OWNER: Decimal("-99.9999999999"),
    }
    assert Decimal(100) + found[OWNER] == Decimal("0.0000000001")


def test_the_example_of_the_page_is_so(service: Service) -> None:
    rows = re.findall(r"^\| (?:as|one|and) .*? \| (.*?) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    furnish(service, reservation(fee=Decimal(100), number=3))
    found = []
    for customer_id in (None, DEST, OTHER):
        if customer_id is not None:
            move(service, 1, customer_id)
        charged = {OWNER: Decimal(100), DEST: Decimal(0), OTHER: Decimal(0)}
        for one, amount in by_customer(service).items():
            charged[one] += amount
        found.append(tuple(charged.values()))

    assert found == [tuple(Decimal(cell) for cell in row) for row in rows]
    assert len(rows) == 3


def test_digits_beyond_the_tenth_stay_with_the_owner(service: Service) -> None:
    fee = Decimal("1234567890123456.0123456789012345678901")
    furnish(service, reservation(fee=fee, number=2))
    move(service, 2)

    given, taken = fees(service)

    assert str(given.amount) == "1234567890123456.0123456789"
    assert str(taken.amount) == "-1234567890123456.0123456789"


def test_it_holds_for_every_month_there_is(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100)))
    for month, fee in ((EARLIER, 50), (LATER, 200)):
        deliver(service, reservation(fee=Decimal(fee)), month=month)
    move(service, 5)

    found = {month: by_customer(service, month)[DEST] for month in (EARLIER, MONTH, LATER)}

    assert found == {EARLIER: 25, MONTH: 50, LATER: 100}
    assert fees(service, "2027-01") == []


def test_what_was_given_back_is_not_moved(service: Service) -> None:
    furnish(service)
    move(service, 3)
    move(service, 2, OTHER)
    remove(service, moved(service)[0]["id"])

    assert by_customer(service).keys() == {OTHER, OWNER}


def test_a_reservation_that_cost_nothing_moves_nothing(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(0)))
    move(service, 3)

    assert fees(service) == []


def test_who_asks_makes_no_difference(service: Service) -> None:
    """An invoice counts what was moved from groups that its maker may not see."""
    groups = furnish(service)
    move(service, 3)

    narrowed = TenantScope(service.organisation.organisation_id, frozenset([groups[OTHER]]))
    found = inside(service, lambda db, _: moved_fees(db, narrowed, "aws", MONTH))

    assert found == fees(service)


# ── closed months ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def closed(service: Service) -> Service:
    """Two months of 100 with 4 of 10 moved; the first of them is closed."""
    furnish(service, reservation(fee=Decimal(100)))
    deliver(service, reservation(fee=Decimal(100)), month=LATER)
    move(service, 4)
    assert close(service, MONTH).status_code == 200
    return service


def test_a_closed_month_keeps_its_split_when_more_is_moved(closed: Service) -> None:
    move(closed, 2, OTHER)

    assert by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert by_customer(closed, LATER) == {DEST: 40, OTHER: 20, OWNER: -60}


def test_a_closed_month_keeps_its_split_when_it_is_given_back(closed: Service) -> None:
    remove(closed, moved(closed)[0]["id"])

    assert by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert by_customer(closed, LATER) == {}


def test_a_closed_month_keeps_its_split_when_the_reservation_changes(closed: Service) -> None:
    deliver(closed, reservation(fee=Decimal(10), number=1), month=LATER)

    assert by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    deliver(closed, month=LATER)
    assert by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}


def test_a_reopened_month_has_what_is_moved_by_then(closed: Service) -> None:
    remove(closed, moved(closed)[0]["id"])
    move(closed, 1, OTHER)

    reopen(closed, MONTH)

    assert by_customer(closed, MONTH) == {OTHER: 10, OWNER: -10}


def test_a_month_closed_again_keeps_its_newest_split(closed: Service) -> None:
    move(closed, 1, OTHER)
    reopen(closed, MONTH)
    close(closed, MONTH)

    move(closed, 2, OTHER)
    remove(closed, moved(closed)[0]["id"])

    assert by_customer(closed, MONTH) == {DEST: 40, OTHER: 10, OWNER: -50}
    assert by_customer(closed, LATER) == {OTHER: 30, OWNER: -30}


def test_each_closed_month_keeps_its_own_split(closed: Service) -> None:
    move(closed, 1, OTHER)
    close(closed, LATER)
    remove(closed, moved(closed)[0]["id"])
    deliver(closed, reservation(fee=Decimal(100)), month="2026-03")

    assert by_customer(closed, MONTH) == {DEST: 40, OWNER: -40}
    assert by_customer(closed, LATER) == {DEST: 40, OTHER: 10, OWNER: -50}
    assert by_customer(closed, "2026-03") == {OTHER: 10, OWNER: -10}


def test_another_vendors_closing_changes_nothing(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100)))
    close(service, MONTH, "azure")
    move(service, 4)

    assert by_customer(service) == {DEST: 40, OWNER: -40}


# ── whatever is done ─────────────────────────────────────────────────────────────────────────────


def test_whatever_is_done_amounts_add_up_to_nothing(service: Service) -> None:
    random = Random(20260115)
    fee = Decimal("149.7753790000123456789")
    furnish(service, reservation(fee=fee, number=7))
    ri_id = owned(service)["id"]
    for _ in range(40):
        there = moved(service)
        if there and random.random() < 0.4:
            remove(service, random.choice(there)["id"])
        else:
            move(service, random.randint(1, 4), random.choice([DEST, OTHER]), ri_id=ri_id)
        if random.random() < 0.2:
            deliver(service, reservation(fee=fee, number=random.randint(1, 9)))

        found = fees(service)

        assert sum((one.amount for one in found), Decimal(0)) == 0
        records = [(one["dest_customer_id"], one["number"]) for one in moved(service)]
        assert owned(service)["number"] >= 0
        assert len(found) == 2 * len([number for _, number in records if number])
