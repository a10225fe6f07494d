"""GET /m/portal/sp"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.invoicing.month_end import MONTH
from tests.portal.commitments.commitment_lines import (
    OWN,
    PLAN,
    import_lines,
    plan_lines,
)
from tests.portal.commitments.conftest import CommittedCustomer
from tests.portal.portal_customer import PortalCustomer

PRICE = Decimal("0.5") * Decimal("150.25")


def test_a_plan_is_shown_with_fee_covered_usage_and_used_share(
    committed: CommittedCustomer,
) -> None:
    body = committed.customer.get("/sp", month=MONTH)

    # A plan of another customer, which covers usage of this one, is not shown.
    assert body["rows"] == [
        {
            "savings_plan_id": PLAN,
            "vendor": "aws",
            "customer_id": OWN,
            "customer_name": f"account {OWN}",
            "payment_option": "No Upfront",
            "term_length": "3yr",
            "start": "2026-03-01T00:00:00Z",
            "end": "2029-03-01T00:00:00Z",
            "state": "active",
            "currency": "jpy",
            "fee": 200 * PRICE,
            "covered_usage": 60 * PRICE,
            "used_percentage": 25,  # 35 and 15 of 200
        }
    ]


@pytest.mark.parametrize("option", ["Partial Upfront", "All Upfront", ""])
def test_the_share_of_a_plan_that_may_be_paid_upfront_is_unknown(
    customer: PortalCustomer, tmp_path: Path, option: str
) -> None:
    import_lines(customer, tmp_path, *plan_lines(option))

    (row,) = customer.get("/sp", month=MONTH)["rows"]

    assert (row["payment_option"], row["used_percentage"]) == (option, None)


def test_a_plan_without_a_price_is_shown_without_amounts(
    customer: PortalCustomer, tmp_path: Path
) -> None:
    import_lines(customer, tmp_path, *plan_lines())

    body = customer.get("/sp", month=MONTH)

    (row,) = body["rows"]
    assert (row["fee"], row["covered_usage"], row["currency"]) == (None, None, None)
    assert body["unpriced"] == [{"month": MONTH, "vendor": "aws", "reason": "rate_missing"}]
