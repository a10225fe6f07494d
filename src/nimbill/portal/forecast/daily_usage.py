"""Usage by day at the customer's price, as series that can be forecast."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ZERO, ExactAmount
from nimbill.portal.forecast.month_forecast import DailySeries, list_month_days
from nimbill.portal.report_basis import ReportBasis
from nimbill.portal.report_months import list_months
from nimbill.portal.usage_sums import Dimension, UnpricedMonth, load_usage
from nimbill.portal.view import PortalView

# Four weeks before the first day of a month, and a delivery that is some days late.
MONTHS_BEFORE = 2


class SeriesKey(NamedTuple):
    vendor: str
    customer_id: str | None  # None: all accounts together
    currency: Currency


@dataclass(frozen=True, slots=True)
class DailyUsage:
    amounts: dict[SeriesKey, dict[date, ExactAmount]]
    unpriced: set[UnpricedMonth]

    def list_series(
        self,
        currency: Currency,
        complete_until: dict[str, date],
        admits: Callable[[str | None], bool] = lambda _: True,
    ) -> list[DailySeries]:
        """One series per vendor, because vendors deliver their costs at different times."""
        by_vendor: defaultdict[str, defaultdict[date, ExactAmount]]
        by_vendor = defaultdict(lambda: defaultdict(lambda: ZERO))
        for key, amounts in self.amounts.items():
            if key.currency is currency and admits(key.customer_id):
                for day, amount in amounts.items():
                    by_vendor[key.vendor][day] += amount
        return [
            DailySeries(amounts, complete_until[vendor]) for vendor, amounts in by_vendor.items()
        ]

    def list_currencies(self) -> list[Currency]:
        return sorted({key.currency for key in self.amounts})

    def find_complete_days(self, today: date) -> dict[str, date]:
        """The last complete day of each vendor: the last one with usage, before today."""
        yesterday = today - timedelta(days=1)
        days: dict[str, date] = {}
        for key, amounts in self.amounts.items():
            last = max(amounts)
            days[key.vendor] = max(days.get(key.vendor, last), last)
        return {vendor: min(day, yesterday) for vendor, day in days.items()}


async def load_daily_usage(
    db: AsyncConnection,
    view: PortalView,
    months: Sequence[str],
    *,
    by_account: bool = False,
    report_basis: ReportBasis | None = None,
) -> DailyUsage:
    """Load the usage of the view, by account only if that is needed: there may be thousands."""
    dimensions = [Dimension.month, Dimension.vendor, Dimension.day]
    if by_account:
        dimensions.append(Dimension.account)
    usage = await load_usage(db, view, months, dimensions, report_basis=report_basis)
    amounts: defaultdict[SeriesKey, dict[date, ExactAmount]] = defaultdict(dict)
    for ((month, vendor, day, *account), currency), amount in usage.amounts.items():
        # A cost belongs to the month that it is billed in, even if it is dated outside of it.
        days = list_month_days(month)
        billed_day = min(max(day, days.first), days.last)
        series = amounts[SeriesKey(vendor, account[0] if account else None, currency)]
        before = series.get(billed_day)
        series[billed_day] = amount if before is None else before + amount
    return DailyUsage(amounts, usage.unpriced)


def list_months_to_load(month: str, today: date, months_before: int = MONTHS_BEFORE) -> list[str]:
    """The months that a forecast of this month needs, up to the current one."""
    return list_months(add_months(month, -months_before), max(month, f"{today:%Y-%m}"))


def sum_months(series: Iterable[DailySeries], month: str) -> ExactAmount:
    """What the month has cost so far, including the days that are not complete."""
    days = list_month_days(month)
    return sum((days.sum(each.amounts) for each in series), ZERO)
