"""An import replaces all entries of a payer and month; applied entries stay applied."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from nimbill.adjustments.recalculation.operations import EntryReplacement
from nimbill.adjustments.recalculation.records import NewRecalculationEntry
from nimbill.foundation.errors import Conflict
from tests.adjustments.recalculation.entries import (
    CREDIT,
    CUSTOMER,
    FEE,
    LATER,
    MONTH,
    apply_entries,
    create_group_with_account,
    get_only_entry,
    import_entries,
    list_entries,
)
from tests.costs.months.month_requests import close_month
from tests.running_service import Service


def counts(replacement: EntryReplacement) -> tuple[int, int, int]:
    return replacement.added, replacement.unchanged, replacement.removed


def list_ids(service: Service, month: str = MONTH) -> list[str]:
    return [entry["id"] for entry in list_entries(service, month)]


def test_importing_the_same_entries_again_changes_nothing(service: Service) -> None:
    create_group_with_account(service)
    assert counts(import_entries(service, FEE, CREDIT)) == (2, 0, 0)
    apply_entries(service, list_ids(service)[:1], exchange_rate=150, tax_free=True)
    before = list_entries(service)

    assert counts(import_entries(service, CREDIT, FEE)) == (0, 2, 0)

    assert list_entries(service) == before


def test_entries_of_equal_content_are_stored_as_often_as_imported(service: Service) -> None:
    assert counts(import_entries(service, FEE, FEE, FEE)) == (3, 0, 0)
    three = list_ids(service)
    assert len(set(three)) == 3

    assert counts(import_entries(service, FEE, FEE)) == (0, 2, 1)
    assert set(list_ids(service)) < set(three)
    assert counts(import_entries(service, FEE, FEE, FEE)) == (1, 2, 0)
    assert list_ids(service) == three


def test_missing_entries_are_removed_and_new_entries_added(service: Service) -> None:
    import_entries(service, FEE)

    assert counts(import_entries(service, CREDIT)) == (1, 0, 1)

    assert get_only_entry(service)["calc_type"] == "Credit"


def test_an_invoice_id_added_later_keeps_the_entry(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE)
    apply_entries(service, list_ids(service))

    replacement = import_entries(service, replace(FEE, invoice_id="INV-1"))

    assert counts(replacement) == (0, 1, 0)
    assert get_only_entry(service)["apply"] is True


def test_equal_amounts_with_different_digits_are_the_same_entry(service: Service) -> None:
    import_entries(service, FEE)

    for digits in ("672", "672.00", "6.72E+2"):
        assert counts(import_entries(service, replace(FEE, unblended_cost=Decimal(digits)))) == (
            0,
            1,
            0,
        )


OTHER_VALUES: dict[str, Any] = {
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


def test_a_difference_in_any_content_field_makes_another_entry(service: Service) -> None:
    import_entries(service, FEE)

    for field, value in OTHER_VALUES.items():
        changed = replace(FEE, **{field: value})
        assert counts(import_entries(service, changed)) == (1, 0, 1), field
        assert counts(import_entries(service, FEE)) == (1, 0, 1), field


def test_payer_id_and_invoice_id_are_the_only_fields_outside_the_content() -> None:
    assert OTHER_VALUES.keys() | {"payer_id", "invoice_id"} == asdict(FEE).keys()


def test_other_payers_months_and_vendors_are_unchanged(service: Service) -> None:
    other = replace(FEE, payer_id="000000000077")
    import_entries(service, FEE)
    import_entries(service, other, payer_id=other.payer_id)
    import_entries(service, FEE, month=LATER)
    import_entries(service, FEE, vendor="azure")

    assert counts(import_entries(service)) == (0, 0, 1)

    assert [entry["account_id"] for entry in list_entries(service)] == [other.payer_id]
    assert len(list_entries(service, LATER)) == 1
    assert len(list_entries(service, vendor="azure")) == 1


def test_an_applied_entry_missing_from_the_import_is_kept_and_reported(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE, CREDIT)
    fee = next(entry["id"] for entry in list_entries(service) if entry["calc_type"] == "Fee")
    apply_entries(service, [fee], month=LATER, exchange_rate=150)

    replacement = import_entries(service, CREDIT)

    assert counts(replacement) == (0, 1, 0)
    assert [asdict(entry) for entry in replacement.vanished] == [
        {
            "entry_id": fee,
            "applied_month": LATER,
            "customer_id": CUSTOMER,
            "description": FEE.description,
            "currency_code": "USD",
            "unblended_cost": "672",
        }
    ]
    assert get_only_entry(service, LATER)["id"] == fee
    assert [entry.entry_id for entry in import_entries(service, CREDIT).vanished] == [fee]


def test_unapplying_a_vanished_entry_deletes_it(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE)
    fee = get_only_entry(service)["id"]
    apply_entries(service, [fee])
    import_entries(service)

    assert apply_entries(service, [fee], apply=False).status_code == 200

    assert list_entries(service) == []
    assert apply_entries(service, [fee]).status_code == 404


def test_a_vanished_entry_that_is_imported_again_is_still_applied(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE)
    fee = get_only_entry(service)["id"]
    apply_entries(service, [fee], exchange_rate=150)
    import_entries(service)

    replacement = import_entries(service, FEE)

    assert (counts(replacement), replacement.vanished) == ((0, 1, 0), ())
    assert (get_only_entry(service)["id"], get_only_entry(service)["exchange_rate"]) == (fee, 150)
    apply_entries(service, [fee], apply=False)
    assert get_only_entry(service)["apply"] is False


def test_equal_entries_of_two_organisations_have_different_ids(service: Service) -> None:
    import_entries(service, FEE)
    ours = get_only_entry(service)["id"]

    service.organisation = service.new_organisation()
    import_entries(service, FEE)

    assert get_only_entry(service)["id"] != ours


def test_entries_of_a_closed_month_cannot_be_replaced(service: Service) -> None:
    import_entries(service, FEE)
    close_month(service, MONTH)

    with pytest.raises(Conflict, match="month_closed"):
        import_entries(service, CREDIT)

    assert get_only_entry(service)["calc_type"] == "Fee"


def test_an_entry_of_another_payer_is_refused(service: Service) -> None:
    stray: NewRecalculationEntry = replace(FEE, payer_id="000000000077")

    with pytest.raises(ValueError, match="another payer"):
        import_entries(service, stray)


def test_thousands_of_entries_are_replaced_at_once(service: Service) -> None:
    many = [replace(FEE, description=f"line {number}") for number in range(3000)]

    assert counts(import_entries(service, *many)) == (3000, 0, 0)
    assert counts(import_entries(service, *many[1000:], FEE)) == (1, 2000, 1000)
    assert len(list_entries(service)) == 2001
