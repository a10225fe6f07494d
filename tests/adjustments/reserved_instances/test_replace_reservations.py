"""An import replaces the reservation fees of a month; reservations and moves span months."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest

from nimbill.adjustments.reserved_instances.operations import MonthlyReservation
from nimbill.foundation.errors import Conflict
from tests.adjustments.reserved_instances.reservations import (
    DEST,
    EARLIER,
    LATER,
    MONTH,
    OTHER,
    OWNER,
    build_reservation,
    create_customers,
    get_owner_record,
    import_reservations,
    list_moved_records,
    list_numbers,
    list_records,
    move_instances,
    remove_move,
    sum_fees_by_customer,
)
from tests.costs.months.month_requests import close_month
from tests.running_service import Service


def test_importing_the_same_reservations_again_changes_nothing(service: Service) -> None:
    create_customers(service)
    move_instances(service, 4)
    before = (list_records(service), sum_fees_by_customer(service))

    import_reservations(service, build_reservation())

    assert (list_records(service), sum_fees_by_customer(service)) == before


def test_another_month_belongs_to_the_same_reservation(service: Service) -> None:
    create_customers(service)
    move_instances(service, 4)
    before = list_records(service)

    import_reservations(service, build_reservation(fee=Decimal(100)), month=LATER)

    assert list_records(service) == before
    assert sum_fees_by_customer(service, LATER) == {DEST: 40, OWNER: -40}


def test_the_description_comes_from_the_newest_month(service: Service) -> None:
    import_reservations(service, build_reservation(modification_status="Original", number=10))
    ri_id = get_owner_record(service)["id"]

    import_reservations(
        service, build_reservation(modification_status="Modified", number=7), month=LATER
    )
    assert (
        get_owner_record(service)["modification_status"],
        get_owner_record(service)["number"],
    ) == ("Modified", 7)

    for earlier in (EARLIER, MONTH):
        import_reservations(
            service, build_reservation(modification_status="Other", number=3), month=earlier
        )
        assert (
            get_owner_record(service)["modification_status"],
            get_owner_record(service)["number"],
        ) == ("Modified", 7)
    assert get_owner_record(service)["id"] == ri_id


def test_every_field_except_the_owner_can_change(service: Service) -> None:
    import_reservations(service, build_reservation())
    text_fields = {
        field.name
        for field in fields(MonthlyReservation)
        if field.default == "" and field.name not in ("start", "end")
    }
    number_fields = {"normalization_factor", "unblended_rate", "upfront_value"}
    changed: dict[str, Any] = dict.fromkeys(text_fields, "changed") | dict.fromkeys(
        number_fields, "77"
    )
    changed |= {"start": "2001-01-01T00:00:00Z", "end": "2002-02-02T00:00:00Z", "number": 5}

    import_reservations(service, build_reservation(**changed))

    record = get_owner_record(service)
    assert {name: record[name] for name in text_fields - number_fields} == dict.fromkeys(
        text_fields - number_fields, "changed"
    )
    assert {record[name] for name in number_fields} == {77}
    assert (record["start"], record["end"]) == ("2001-01-01T00:00:00Z", "2002-02-02T00:00:00Z")
    assert (record["number"], record["customer_id"]) == (5, OWNER)


def test_a_reservation_without_any_month_is_deleted(service: Service) -> None:
    import_reservations(service, build_reservation(), build_reservation(customer_id=DEST))

    import_reservations(service, build_reservation(customer_id=DEST))

    assert [record["customer_id"] for record in list_records(service)] == [DEST]
    import_reservations(service)
    assert list_records(service) == []


def test_a_reservation_with_other_months_is_kept(service: Service) -> None:
    import_reservations(service, build_reservation(number=10))
    import_reservations(service, build_reservation(number=7), month=LATER)

    import_reservations(service, month=LATER)

    assert get_owner_record(service)["number"] == 10


def test_other_payers_and_vendors_are_unchanged(service: Service) -> None:
    import_reservations(service, build_reservation())
    other = "000000000077"
    import_reservations(
        service, build_reservation(customer_id=DEST, payer_id=other), payer_id=other
    )
    import_reservations(service, build_reservation(), vendor="azure")

    import_reservations(service)

    assert [record["customer_id"] for record in list_records(service)] == [DEST]
    assert len(list_records(service, "azure")) == 1


def test_the_fee_of_a_month_is_replaced(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100)))
    move_instances(service, 5)
    assert sum_fees_by_customer(service) == {DEST: 50, OWNER: -50}

    import_reservations(service, build_reservation(fee=Decimal(80)))

    assert sum_fees_by_customer(service) == {DEST: 40, OWNER: -40}


def test_a_fee_in_two_currencies_is_split_in_each_currency(service: Service) -> None:
    yen = build_reservation(currency="JPY", fee=Decimal(1000))
    create_customers(service, build_reservation(fee=Decimal(100)), yen)
    move_instances(service, 5)

    assert list_numbers(service) == [5, 5]
    assert sum_fees_by_customer(service) == {DEST: 550, OWNER: -550}


def test_fees_of_two_payers_are_split_for_each_payer(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100)))
    other = "000000000077"
    import_reservations(service, build_reservation(fee=Decimal(10), payer_id=other), payer_id=other)

    move_instances(service, 5)

    assert list_numbers(service) == [5, 5]
    assert sum_fees_by_customer(service) == {DEST: 55, OWNER: -55}


# ── a reservation that shrinks ────────────────────────────────────────────────────────────────────


def test_the_oldest_moves_are_served_first_when_a_reservation_shrinks(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100)))
    move_instances(service, 4, DEST)
    move_instances(service, 4, OTHER)

    import_reservations(service, build_reservation(fee=Decimal(60), number=6))

    assert list_numbers(service) == [0, 4, 2]
    assert [record["disabled"] for record in list_records(service)] == [True, False, False]
    assert sum_fees_by_customer(service) == {DEST: 40, OTHER: 20, OWNER: -60}


def test_a_move_without_remaining_instances_is_disabled_but_kept(service: Service) -> None:
    create_customers(service)
    move_instances(service, 4, DEST)
    move_instances(service, 4, OTHER)

    import_reservations(service, build_reservation(number=3))

    assert list_numbers(service) == [0, 3, 0]
    assert [record["disabled"] for record in list_moved_records(service)] == [False, True]
    assert OTHER not in sum_fees_by_customer(service)


def test_moves_are_restored_when_the_reservation_grows_again(service: Service) -> None:
    create_customers(service)
    move_instances(service, 4, DEST)
    move_instances(service, 4, OTHER)
    before = list_records(service)
    import_reservations(service, build_reservation(number=3))

    import_reservations(service, build_reservation(number=10))

    assert list_records(service) == before


def test_a_shrunken_reservation_allows_no_more_moves(service: Service) -> None:
    create_customers(service)
    move_instances(service, 8)
    import_reservations(service, build_reservation(number=6))

    assert move_instances(service, 1, OTHER).status_code == 409
    assert remove_move(service, list_moved_records(service)[0]["id"]).status_code == 200
    assert list_numbers(service) == [6]


def test_a_reservation_missing_from_the_import_keeps_its_moves(service: Service) -> None:
    create_customers(service)
    move_instances(service, 4)

    import_reservations(service)

    assert list_numbers(service) == [0, 0]
    assert sum_fees_by_customer(service) == {}
    import_reservations(service, build_reservation())
    assert list_numbers(service) == [6, 4]


def test_each_month_is_split_by_its_own_number_of_instances(service: Service) -> None:
    create_customers(service, build_reservation(fee=Decimal(100), number=10))
    import_reservations(service, build_reservation(fee=Decimal(30), number=3), month=EARLIER)
    move_instances(service, 4)

    assert list_numbers(service) == [6, 4]
    assert sum_fees_by_customer(service, MONTH) == {DEST: 40, OWNER: -40}
    assert sum_fees_by_customer(service, EARLIER) == {DEST: 30, OWNER: -30}


# ── refused imports ───────────────────────────────────────────────────────────────────────────────


def test_reservations_of_a_closed_month_cannot_be_replaced(service: Service) -> None:
    import_reservations(service, build_reservation())
    close_month(service, MONTH)

    with pytest.raises(Conflict, match="month_closed"):
        import_reservations(service, build_reservation(number=3))

    assert get_owner_record(service)["number"] == 10
    import_reservations(service, build_reservation(number=3), month=LATER)
    assert get_owner_record(service)["number"] == 3


@pytest.mark.parametrize(
    ("reservations", "message"),
    [
        ([build_reservation(payer_id="000000000077")], "another payer"),
        ([build_reservation(), build_reservation()], "two fees in one currency"),
    ],
)
def test_inconsistent_reservations_are_refused(
    service: Service, reservations: list[MonthlyReservation], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        import_reservations(service, *reservations)

    assert list_records(service) == []


def test_thousands_of_reservations_are_replaced_at_once(service: Service) -> None:
    many = [build_reservation(reservation_id=f"r{number}") for number in range(2000)]

    import_reservations(service, *many)
    import_reservations(service, *many[500:])

    assert len(list_records(service)) == 1500
