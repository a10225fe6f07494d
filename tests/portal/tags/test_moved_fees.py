"""Fees of reservations that were moved between accounts have no tags."""

from __future__ import annotations

from decimal import Decimal

from tests.adjustments.reserved_instances.reservations import (
    build_reservation,
    import_reservations,
    move_instances,
)
from tests.invoicing.month_end import MONTH, PAYER
from tests.portal.portal_customer import PortalCustomer, filter_accounts
from tests.portal.tags.tagged_customer import FIRST, RATE, SECOND
from tests.portal.tags.test_tag_filters import PERMISSIONS, filter_tags

FEE = Decimal(12)  # of three instances, one of which is moved


def test_a_moved_fee_counts_as_usage_without_tags(customer: PortalCustomer) -> None:
    service, accounts = customer.service, filter_accounts(SECOND)
    everything = customer.create_subuser("second", PERMISSIONS, [accounts])
    reds = customer.create_subuser("second-red", PERMISSIONS, [accounts, filter_tags("Team=red")])
    reservation = build_reservation(customer_id=FIRST, payer_id=PAYER, fee=FEE, number=3)
    import_reservations(service, reservation, month=MONTH, payer_id=PAYER)
    assert move_instances(service, 1, SECOND).status_code == 200

    by_tag = customer.get("/usage/tag", everything, key="Team", month=MONTH)
    by_tags = customer.get("/usage/crosstag", everything, keys="Team,Stage", month=MONTH)
    filtered = customer.get("/usage/account", reds, month=MONTH)

    assert {row["tag_value"]: row["amount"] for row in by_tag["rows"]} == {
        "red": 160 * RATE,
        "": 320 * RATE,
        None: 4 * RATE,
    }
    assert by_tags["totals"] == by_tag["totals"]
    assert [row["amount"] for row in filtered["rows"]] == [160 * RATE]
