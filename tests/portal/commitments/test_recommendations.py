"""GET /m/portal/ri/recommendation"""

from __future__ import annotations

from decimal import Decimal

from tests.invoicing.month_end import MONTH
from tests.portal.commitments.commitment_lines import OWN, SECOND
from tests.portal.commitments.conftest import CommittedCustomer

PRICE = Decimal("0.5") * Decimal("150.25")


def test_steady_instances_are_recommended_with_what_they_cost_on_demand(
    committed: CommittedCustomer,
) -> None:
    body = committed.customer.get("/ri/recommendation", month=MONTH)

    assert body["month_hours"] == 720
    assert body["rows"][0] == {
        "vendor": "aws",
        "customer_id": OWN,
        "customer_name": f"account {OWN}",
        "service": "AmazonEC2",
        "region": "ap-northeast-1",
        "usage_type": "APN1-BoxUsage:c5.xlarge",
        "instance_type": "c5.xlarge",
        "platform": "Linux",
        "tenancy": "",
        "hours": 1800,
        "days": 30,
        "number": 2,  # 1800 hours are two and a half months
        "currency": "jpy",
        "amount": 90 * PRICE,
    }


def test_an_instance_that_ran_for_most_of_the_month_is_recommended(
    committed: CommittedCustomer,
) -> None:
    rows = committed.customer.get("/ri/recommendation", month=MONTH)["rows"]

    (second,) = [row for row in rows if row["customer_id"] == SECOND]
    assert (second["hours"], second["number"], second["amount"]) == (540, 1, 30 * PRICE)


def test_spot_bursts_and_lines_without_hours_are_not_recommended(
    committed: CommittedCustomer,
) -> None:
    rows = committed.customer.get("/ri/recommendation", month=MONTH)["rows"]

    assert {row["usage_type"] for row in rows} == {"APN1-BoxUsage:c5.xlarge"}
    assert len(rows) == 2
