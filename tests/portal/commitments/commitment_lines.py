"""Lines of an AWS report with reservations, savings plans and instances on demand.

The amounts are simple, so that the tests can state what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nimbill.foundation.ids import new_id
from tests.imports.aws_reports import COLUMNS, build_report
from tests.imports.in_process_importer import InProcessImporter
from tests.portal.portal_customer import PortalCustomer

OWN, SECOND, FOREIGN = "111111111111", "222222222222", "333333333333"
ARN = f"arn:aws:ec2:ap-northeast-1:{OWN}:reserved-instances/4be5"
PLAN = f"arn:aws:savingsplans::{OWN}:savingsplan/7c1f"
FOREIGN_PLAN = f"arn:aws:savingsplans::{FOREIGN}:savingsplan/9d2e"

REPORT_COLUMNS = COLUMNS | {
    "lineItem/UsageAmount": "",
    "lineItem/NormalizationFactor": "",
    "pricing/unit": "Hrs",
    "pricing/term": "",
    "pricing/PurchaseOption": "",
    "pricing/OfferingClass": "",
    "pricing/LeaseContractLength": "",
    "product/instanceType": "",
    "product/operatingSystem": "Linux",
    "product/regionCode": "ap-northeast-1",
    "savingsPlan/SavingsPlanARN": "",
    "savingsPlan/SavingsPlanEffectiveCost": "",
    "savingsPlan/StartTime": "",
    "savingsPlan/EndTime": "",
    "savingsPlan/PaymentOption": "",
    "savingsPlan/PurchaseTerm": "",
}
Line = dict[str, str]


def build_line(account: str, line_type: str, cost: str, **values: str) -> Line:
    """Keywords name columns by the last part of their names."""
    names = {name.rpartition("/")[2].rpartition(":")[2]: name for name in REPORT_COLUMNS}
    return {
        "lineItem/UsageAccountId": account,
        "lineItem/LineItemType": line_type,
        "lineItem/UnblendedCost": cost,
        **{names[key]: value for key, value in values.items()},
    }


def reservation_fee(number: int = 4, cost: str = "100", **values: str) -> Line:
    """Four m5.large from 11 September, for a year: 20 days are 480 hours each in September."""
    terms = {
        "ReservationARN": ARN,
        "NumberOfReservations": str(number),
        "reservation_start": "2026-09-11T00:00:00.000Z",
        "UsageType": "APN1-HeavyUsage:m5.large",
        "UsageAmount": "1920",
        "NormalizationFactor": "4",
        "PurchaseOption": "No Upfront",
        "OfferingClass": "standard",
        "LeaseContractLength": "1yr",
        "instanceType": "m5.large",
    } | values
    start = terms.pop("reservation_start")
    end = terms.pop("reservation_end", "2027-09-11T00:00:00.000Z")
    line = build_line(OWN, "RIFee", cost, **terms)
    return line | {"reservation/StartTime": start, "reservation/EndTime": end}


def reserved_hours(hours: str, account: str = OWN, factor: str = "4", **values: str) -> Line:
    usage = {"ReservationARN": ARN, "UsageAmount": hours, "NormalizationFactor": factor}
    return build_line(account, "DiscountedUsage", "0", **usage | values)


def on_demand_hours(day: int, hours: str, cost: str, account: str = OWN, **values: str) -> Line:
    times = {
        "UsageStartDate": f"2026-09-{day:02}T00:00:00Z",
        "UsageEndDate": f"2026-09-{day:02}T23:00:00Z",
    }
    usage = {"UsageType": "APN1-BoxUsage:c5.xlarge", "UsageAmount": hours}
    return build_line(account, "Usage", cost, **times | usage | values)


def plan_lines(option: str = "No Upfront", owner: str = OWN, plan: str = PLAN) -> list[Line]:
    """A plan for 200 that covers usage worth 90 on demand, of which 60 is the owner's."""

    def of_plan(account: str, line_type: str, cost: str, effective: str = "") -> Line:
        return build_line(account, line_type, cost, SavingsPlanARN=plan) | {
            "savingsPlan/SavingsPlanEffectiveCost": effective,
            "savingsPlan/StartTime": "2026-03-01T00:00:00.000Z",
            "savingsPlan/EndTime": "2029-03-01T00:00:00.000Z",
            "savingsPlan/PaymentOption": option,
            "savingsPlan/PurchaseTerm": "3yr",
        }

    other = FOREIGN if owner != FOREIGN else OWN
    return [
        of_plan(owner, "SavingsPlanRecurringFee", "200"),
        of_plan(owner, "SavingsPlanCoveredUsage", "60", "35"),
        of_plan(owner, "SavingsPlanNegation", "-60"),
        of_plan(other, "SavingsPlanCoveredUsage", "30", "15"),
        of_plan(other, "SavingsPlanNegation", "-30"),
    ]


def import_lines(
    customer: PortalCustomer, folder: Path, *lines: Line, columns: Mapping[str, str] | None = None
) -> None:
    """Import these lines, which replace the costs of the month."""
    file = folder / f"{new_id('file')}.csv"
    file.write_bytes(build_report(lines, columns or REPORT_COLUMNS))
    InProcessImporter(customer.service, customer.service.organisation, folder)(file)
