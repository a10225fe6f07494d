"""A customer with usage on every day of several months, shared by the tests that only read it.

From June to the middle of September 2026, the first account uses EC2 for 10 dollars a day and the
second RDS for 5 dollars. A dollar costs the customer 112.5 yen: a discount of 25 % and a rate
of 150. On 10 September, EC2 costs 30 dollars more.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from nimbill.portal import report_months
from tests.imports.aws_reports import report_line
from tests.portal.portal_customer import DISCOUNT, PortalCustomer, create_customer
from tests.running_service import Service

FIRST, SECOND = "111111111111", "222222222222"
MONTH = "2026-09"
MONTHS = ("2026-06", "2026-07", "2026-08", MONTH)
TODAY = date(2026, 9, 16)
LAST_DAY = 15  # with usage
PEAK = date(2026, 9, 10)
YEN_PER_DOLLAR = Decimal("112.5")


def fix_today(today: date = TODAY) -> Any:
    """Let the portal believe that this is the current day."""
    noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    return patch.object(report_months, "clock", SimpleNamespace(now=lambda: noon))


def create_customer_with_daily_costs(running: Service, folder: Path) -> PortalCustomer:
    """Create it in an organisation of its own, which the tests of others do not replace."""
    service = replace(running)
    service.organisation = service.new_organisation()
    customer = create_customer(service, folder)
    for month in MONTHS:
        imported = customer.month_end.import_costs(*_list_lines(month))
        assert imported["state"] == "done", imported
    month_end = customer.month_end
    for saved in (
        month_end.save_settings(customer.company_id, discount_rate=Decimal(DISCOUNT)),
        month_end.save_rate(customer.company_id, rate=150),
    ):
        assert saved.status_code == 200, saved.text
    return customer


def _list_lines(month: str) -> Iterator[dict[str, str]]:
    days = monthrange(int(month[:4]), int(month[5:]))[1]
    for number in range(1, (LAST_DAY if month == MONTH else days) + 1):
        day = date(int(month[:4]), int(month[5:]), number)
        dollars = "40" if day == PEAK else "10"
        yield build_line(day, dollars, FIRST, "AmazonEC2")
        yield build_line(day, "5", SECOND, "AmazonRDS")


def build_line(day: date, dollars: str, customer_id: str, service: str) -> dict[str, str]:
    return report_line(
        dollars,
        BillingPeriodStartDate=f"{day:%Y-%m}-01T00:00:00Z",
        UsageAccountId=customer_id,
        ProductCode=service,
        UsageStartDate=f"{day}T10:00:00Z",
        UsageEndDate=f"{day}T11:00:00Z",
    )
