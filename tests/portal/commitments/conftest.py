"""One customer with reservations, savings plans and instances, shared by the tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import pytest

from nimbill.identity.organisations.operations import NewOrganisation
from tests.customers.resellers.reseller_accounts import Reseller, create_reseller
from tests.portal.commitments.commitment_lines import (
    ARN,
    FOREIGN,
    FOREIGN_PLAN,
    OWN,
    SECOND,
    build_line,
    import_lines,
    on_demand_hours,
    plan_lines,
    reservation_fee,
    reserved_hours,
)
from tests.portal.portal_customer import ALL_FLAGS, PortalCustomer, create_customer
from tests.quick_hashes import quick_hashes
from tests.running_service import Service

DAYS = range(1, 31)
ARN_IN_PART, ARN_IN_FULL, ARN_LATER = f"{ARN}-part", f"{ARN}-full", f"{ARN}-later"


@dataclass
class CommittedCustomer:
    organisation: NewOrganisation
    customer: PortalCustomer
    other_company: str
    other: Reseller


@pytest.fixture
def committed(running: Service, shared_customer: CommittedCustomer) -> CommittedCustomer:
    running.organisation = shared_customer.organisation
    return shared_customer


@pytest.fixture(scope="package")
def shared_customer(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommittedCustomer]:
    """September costs the customer half of the vendor's price, at 150.25 yen.

    Of one reservation a part was moved to another customer, and one was moved completely.
    """
    with quick_hashes():
        running.organisation = running.new_organisation()
        folder = tmp_path_factory.mktemp("commitments")
        customer = create_customer(running, folder)
        month_end = customer.month_end
        other_company = month_end.create_group("BG-2", FOREIGN)
        other = create_reseller(running, other_company, email="other@example.com", meta=ALL_FLAGS)
        import_lines(
            customer,
            folder,
            reservation_fee(),
            reserved_hours("700"),
            reserved_hours("100", FOREIGN, factor="8"),
            reservation_fee(3, "10", ReservationARN=ARN_IN_PART),
            reserved_hours("48", ReservationARN=ARN_IN_PART),
            reservation_fee(2, "20", ReservationARN=ARN_IN_FULL),
            reservation_fee(
                1, "0", ReservationARN=ARN_LATER, reservation_start="2026-10-01T00:00:00.000Z"
            ),
            *plan_lines(),
            *plan_lines(owner=FOREIGN, plan=FOREIGN_PLAN),
            *(on_demand_hours(day, "60", "3") for day in DAYS),
            *(on_demand_hours(day, "18", "1", SECOND) for day in DAYS),
            *(on_demand_hours(day, "24", "5", FOREIGN) for day in DAYS),
            *(on_demand_hours(day, "24", "2", UsageType="SpotUsage:m5.large") for day in DAYS),
            on_demand_hours(1, "7200", "9", UsageType="BoxUsage:x1.32xlarge"),
            *(on_demand_hours(day, "", "4", UsageType="BoxUsage:r5.large") for day in DAYS),
            build_line(OWN, "Usage", "1000", UsageType="DataTransfer-Out-Bytes", unit="GB"),
        )
        month_end.prepare_groups(customer.company_id, discount_rate=Decimal("0.5"))
        move_instances(customer, ARN_IN_PART, 1)
        move_instances(customer, ARN_IN_FULL, 2)
        # settings of the other customer, who has no discount
        month_end.prepare_groups(other_company, discount_rate=Decimal(0))
        yield CommittedCustomer(running.organisation, customer, other_company, other)


def move_instances(customer: PortalCustomer, arn: str, number: int) -> None:
    """Move instances of the reservation to the account of the other customer."""
    records = customer.month_end.get("/ri/purchased?vendor=aws").json()
    (ri_id,) = [record["id"] for record in records if record["arn"] == arn]
    body = {"customer_id": FOREIGN, "number": number, "vendor": "aws"}
    response = customer.month_end.post(f"/ri/purchased/{ri_id}", body)
    assert response.status_code == 200, response.text
