"""What an import does to the entries of a payer and month: replaced as a whole, decisions kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from nimbill.adjustments.recalculation.records import NewEntry
from nimbill.foundation.errors import Conflict
from tests.adjustments.recalculation.entries import (
    CREDIT,
    CUSTOMER,
    FEE,
    LATER,
    MONTH,
    apply,
    customer_of_group,
    deliver,
    listed,
    only,
)
from tests.costs.months.closing import close
from tests.running_service import Service


def counts(found: Any) -> tuple[int, int, int]:
    return found.added, found.kept, found.removed


def ids(service: Service, month: str = MONTH) -> list[str]:
    return [entry["id"] for entry in listed(service, month)]


def test_the_same_delivery_changes_nothing(service: Service) -> None:
    customer_of_group(service)
    assert counts(deliver(service, FEE, CREDIT)) == (2, 0, 0)
    apply(service, ids(service)[:1], exchange_rate=150, tax_free=True)
    before = listed(service)

    assert counts(deliver(service, CREDIT, FEE)) == (0, 2, 0)

    assert listed(service) == before


def test_equal_entries_are_as_many_as_were_delivered(service: Service) -> None:
    assert counts(deliver(service, FEE, FEE, FEE)) == (3, 0, 0)
    three = ids(service)
    assert len(set(three)) == 3

    assert counts(deliver(service, FEE, FEE)) == (0, 2, 1)
    assert set(ids(service)) < set(three)
    assert counts(deliver(service, FEE, FEE, FEE)) == (1, 2, 0)
    assert ids(service) == three


def test_new_ones_come_and_old_ones_go(service: Service) -> None:
    deliver(service, FEE)

    assert counts(deliver(service, CREDIT)) == (1, 0, 1)

    assert only(service)["calc_type"] == "Credit"


def test_the_number_of_the_invoice_comes_later_and_the_entry_stays(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE)
    apply(service, ids(service))

    found = deliver(service, replace(FEE, invoice_id="INV-1"))

    assert counts(found) == (0, 1, 0)
    assert only(service)["apply"] is True


def test_amounts_that_are_equal_are_the_same_entry(service: Service) -> None:
    deliver(service, FEE)

    for written in ("672", "672.00", "6.72E+2"):
        assert counts(deliver(service, replace(FEE, unblended_cost=Decimal(written)))) == (0, 1, 0)


OTHERWISE: dict[str, Any] = {
    "customer_id": "000000000009",
    "calc_type": "Refund",
    "platform_type": "AWS Marketplace",
    "description": "another",
    "product_name": "another",
    "product_code": "AmazonS3",
    "currency_code": "JPY",
    "unblended_cost": Decimal("672.0000000001"),
    "time_interval": "2026-01-02T00:00:00Z/2026-01-03T00:00:00Z",
    "usage_start": FEE.usage_start + timedelta(seconds=1),
}


@pytest.mark.parametrize("field", OTHERWISE)
def test_whatever_else_differs_makes_another_entry(service: Service, field: str) -> None:
    deliver(service, FEE)

    changed = replace(FEE, **{field: OTHERWISE[field]})

    assert counts(deliver(service, changed)) == (1, 0, 1)


def test_nothing_else_makes_an_entry_another_one() -> None:
    assert OTHERWISE.keys() | {"payer_id", "invoice_id"} == asdict(FEE).keys()


def test_another_payer_month_or_vendor_is_not_touched(service: Service) -> None:
    other = replace(FEE, payer_id="000000000077")
    deliver(service, FEE)
    deliver(service, other, payer_id=other.payer_id)
    deliver(service, FEE, month=LATER)
    deliver(service, FEE, vendor="azure")

    assert counts(deliver(service)) == (0, 0, 1)

    assert [entry["account_id"] for entry in listed(service)] == [other.payer_id]
    assert len(listed(service, LATER)) == 1
    assert len(listed(service, vendor="azure")) == 1


def test_an_applied_entry_that_vanished_stays_and_is_reported(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE, CREDIT)
    fee = next(entry["id"] for entry in listed(service) if entry["calc_type"] == "Fee")
    apply(service, [fee], month=LATER, exchange_rate=150)

    found = deliver(service, CREDIT)

    assert counts(found) == (0, 1, 0)
    assert [asdict(one) for one in found.vanished] == [
        {
            "entry_id": fee,
            "applied_month": LATER,
            "customer_id": CUSTOMER,
            "description": FEE.description,
            "currency_code": "USD",
            "unblended_cost": "672",
        }
    ]
    assert only(service, LATER)["id"] == fee
    assert [one.entry_id for one in deliver(service, CREDIT).vanished] == [fee]


def test_a_vanished_entry_that_is_taken_back_is_forgotten(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE)
    fee = only(service)["id"]
    apply(service, [fee])
    deliver(service)

    assert apply(service, [fee], apply=False).status_code == 200

    assert listed(service) == []
    assert apply(service, [fee]).status_code == 404


def test_a_vanished_entry_that_comes_back_is_the_one_it_was(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE)
    fee = only(service)["id"]
    apply(service, [fee], exchange_rate=150)
    deliver(service)

    found = deliver(service, FEE)

    assert (counts(found), found.vanished) == ((0, 1, 0), ())
    assert (only(service)["id"], only(service)["exchange_rate"]) == (fee, 150)
    apply(service, [fee], apply=False)
    assert only(service)["apply"] is False


def test_two_organisations_have_ids_of_their_own(service: Service) -> None:
    deliver(service, FEE)
    ours = only(service)["id"]

    service.organisation = service.new_organisation()
    deliver(service, FEE)

    assert only(service)["id"] != ours


def test_a_closed_month_is_not_replaced(service: Service) -> None:
    deliver(service, FEE)
    close(service, MONTH)

    with pytest.raises(Conflict, match="month_closed"):
        deliver(service, CREDIT)

    assert only(service)["calc_type"] == "Fee"


def test_an_entry_of_another_payer_is_a_mistake_of_the_import(service: Service) -> None:
    stray: NewEntry = replace(FEE, payer_id="000000000077")

    with pytest.raises(ValueError, match="another payer"):
        deliver(service, stray)


def test_thousands_of_entries_are_replaced_at_once(service: Service) -> None:
    many = [replace(FEE, description=f"line {number}") for number in range(3000)]

    assert counts(deliver(service, *many)) == (3000, 0, 0)
    assert counts(deliver(service, *many[1000:], FEE)) == (1, 2000, 1000)
    assert len(listed(service)) == 2001
