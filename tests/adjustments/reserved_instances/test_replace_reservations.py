"""What an import does to reservations: they live on over months, and so do moves."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest

from nimbill.adjustments.reserved_instances.operations import ReservationOfMonth
from nimbill.foundation.errors import Conflict
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    EARLIER,
    LATER,
    MONTH,
    OTHER,
    OWNER,
    by_customer,
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
from tests.costs.months.closing import close
from tests.running_service import Service


def test_the_same_delivery_changes_nothing(service: Service) -> None:
    furnish(service)
    move(service, 4)
    before = (listed(service), by_customer(service))

    deliver(service, reservation())

    assert (listed(service), by_customer(service)) == before


def test_another_month_is_the_same_reservation(service: Service) -> None:
    furnish(service)
    move(service, 4)
    before = listed(service)

    deliver(service, reservation(fee=Decimal(100)), month=LATER)

    assert listed(service) == before
    assert by_customer(service, LATER) == {DEST: 40, OWNER: -40}


def test_what_it_is_like_is_taken_from_its_newest_month(service: Service) -> None:
    deliver(service, reservation(modification_status="Original", number=10))
    ri_id = owned(service)["id"]

    deliver(service, reservation(modification_status="Modified", number=7), month=LATER)
    assert (owned(service)["modification_status"], owned(service)["number"]) == ("Modified", 7)

    for earlier in (EARLIER, MONTH):
        deliver(service, reservation(modification_status="Other", number=3), month=earlier)
        assert (owned(service)["modification_status"], owned(service)["number"]) == ("Modified", 7)
    assert owned(service)["id"] == ri_id


def test_every_field_can_change_but_whose_it_is(service: Service) -> None:
    deliver(service, reservation())
    texts = {
        one.name
        for one in fields(ReservationOfMonth)
        if one.default == "" and one.name not in ("start", "end")
    }
    figures = {"normalization_factor", "unblended_rate", "upfront_value"}
    changed: dict[str, Any] = dict.fromkeys(texts, "anew") | dict.fromkeys(figures, "77")
    changed |= {"start": "2001-01-01T00:00:00Z", "end": "2002-02-02T00:00:00Z", "number": 5}

    deliver(service, reservation(**changed))

    record = owned(service)
    assert {name: record[name] for name in texts - figures} == dict.fromkeys(
        texts - figures, "anew"
    )
    assert {record[name] for name in figures} == {77}
    assert (record["start"], record["end"]) == ("2001-01-01T00:00:00Z", "2002-02-02T00:00:00Z")
    assert (record["number"], record["customer_id"]) == (5, OWNER)


def test_one_that_was_never_there_after_all_is_forgotten(service: Service) -> None:
    deliver(service, reservation(), reservation(customer_id=DEST))

    deliver(service, reservation(customer_id=DEST))

    assert [one["customer_id"] for one in listed(service)] == [DEST]
    deliver(service)
    assert listed(service) == []


def test_one_that_other_months_still_have_is_kept(service: Service) -> None:
    deliver(service, reservation(number=10))
    deliver(service, reservation(number=7), month=LATER)

    deliver(service, month=LATER)

    assert owned(service)["number"] == 10


def test_another_payer_or_vendor_is_not_touched(service: Service) -> None:
    deliver(service, reservation())
    other = "000000000077"
    deliver(service, reservation(customer_id=DEST, payer_id=other), payer_id=other)
    deliver(service, reservation(), vendor="azure")

    deliver(service)

    assert [one["customer_id"] for one in listed(service)] == [DEST]
    assert len(listed(service, "azure")) == 1


def test_the_fee_of_a_month_is_replaced(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100)))
    move(service, 5)
    assert by_customer(service) == {DEST: 50, OWNER: -50}

    deliver(service, reservation(fee=Decimal(80)))

    assert by_customer(service) == {DEST: 40, OWNER: -40}


def test_a_fee_in_two_currencies_is_split_in_each(service: Service) -> None:
    yen = reservation(currency="JPY", fee=Decimal(1000))
    furnish(service, reservation(fee=Decimal(100)), yen)
    move(service, 5)

    assert numbers(service) == [5, 5]
    assert by_customer(service) == {DEST: 550, OWNER: -550}


def test_a_reservation_that_changed_its_payer_is_split_for_each(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100)))
    other = "000000000077"
    deliver(service, reservation(fee=Decimal(10), payer_id=other), payer_id=other)

    move(service, 5)

    assert numbers(service) == [5, 5]
    assert by_customer(service) == {DEST: 55, OWNER: -55}


# ── a reservation that shrinks ───────────────────────────────────────────────────────────────────


def test_the_oldest_moves_are_honoured_first_when_it_shrinks(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100)))
    move(service, 4, DEST)
    move(service, 4, OTHER)

    deliver(service, reservation(fee=Decimal(60), number=6))

    assert numbers(service) == [0, 4, 2]
    assert [one["disabled"] for one in listed(service)] == [True, False, False]
    assert by_customer(service) == {DEST: 40, OTHER: 20, OWNER: -60}


def test_a_move_of_which_nothing_is_left_is_disabled_and_stays(service: Service) -> None:
    furnish(service)
    move(service, 4, DEST)
    move(service, 4, OTHER)

    deliver(service, reservation(number=3))

    assert numbers(service) == [0, 3, 0]
    assert [one["disabled"] for one in moved(service)] == [False, True]
    assert OTHER not in by_customer(service)


def test_moves_count_again_in_full_when_it_grows(service: Service) -> None:
    furnish(service)
    move(service, 4, DEST)
    move(service, 4, OTHER)
    before = listed(service)
    deliver(service, reservation(number=3))

    deliver(service, reservation(number=10))

    assert listed(service) == before


def test_nothing_more_is_moved_of_one_that_shrank(service: Service) -> None:
    furnish(service)
    move(service, 8)
    deliver(service, reservation(number=6))

    assert move(service, 1, OTHER).status_code == 409
    assert remove(service, moved(service)[0]["id"]).status_code == 200
    assert numbers(service) == [6]


def test_one_that_vanished_keeps_its_moves(service: Service) -> None:
    furnish(service)
    move(service, 4)

    deliver(service)

    assert numbers(service) == [0, 0]
    assert by_customer(service) == {}
    deliver(service, reservation())
    assert numbers(service) == [6, 4]


def test_a_month_with_fewer_instances_is_split_by_its_own_number(service: Service) -> None:
    furnish(service, reservation(fee=Decimal(100), number=10))
    deliver(service, reservation(fee=Decimal(30), number=3), month=EARLIER)
    move(service, 4)

    assert numbers(service) == [6, 4]
    assert by_customer(service, MONTH) == {DEST: 40, OWNER: -40}
    assert by_customer(service, EARLIER) == {DEST: 30, OWNER: -30}


# ── what imports may not do ──────────────────────────────────────────────────────────────────────


def test_a_closed_month_is_not_replaced(service: Service) -> None:
    deliver(service, reservation())
    close(service, MONTH)

    with pytest.raises(Conflict, match="month_closed"):
        deliver(service, reservation(number=3))

    assert owned(service)["number"] == 10
    deliver(service, reservation(number=3), month=LATER)
    assert owned(service)["number"] == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([reservation(payer_id="000000000077")], "another payer"),
        ([reservation(), reservation()], "given twice"),
    ],
)
def test_what_cannot_be_is_a_mistake_of_the_import(
    service: Service, given: list[ReservationOfMonth], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        deliver(service, *given)

    assert listed(service) == []


def test_thousands_of_reservations_are_replaced_at_once(service: Service) -> None:
    many = [reservation(reservation_id=f"r{number}") for number in range(2000)]

    deliver(service, *many)
    deliver(service, *many[500:])

    assert len(listed(service)) == 1500
