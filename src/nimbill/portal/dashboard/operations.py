"""Builds the dashboard from stored sums."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount, expand_amount, sum_exact
from nimbill.portal.anomalies.operations import find_anomalies, list_anomaly_months
from nimbill.portal.budgets.operations import load_states
from nimbill.portal.dashboard.bodies import (
    Dashboard,
    MonthToDate,
    MonthTotal,
    TopAccount,
    TopService,
)
from nimbill.portal.forecast.daily_usage import DailyUsage
from nimbill.portal.forecast.month_forecast import DailySeries, MonthDays, list_month_days
from nimbill.portal.forecast.operations import (
    list_forecast_months,
    list_forecasts,
    load_forecast_usage,
)
from nimbill.portal.one_company import CompanyView
from nimbill.portal.report_basis import ReportBasis, load_report_basis
from nimbill.portal.report_months import list_months, list_report_months
from nimbill.portal.usage.bodies import list_unpriced, list_usage_months
from nimbill.portal.usage_sums import Dimension, Usage, load_usage

MONTHS_BEFORE = 12
TOP_MAX = 10


def list_dashboard_months(first: str | None, last: str | None, today: date) -> list[str]:
    """The months of the parameters; without any, the current month and the twelve before."""
    if first is None and last is None:
        current = f"{today:%Y-%m}"
        return list_months(add_months(current, -MONTHS_BEFORE), current)
    return list_report_months(None, first, last)


async def build_dashboard(
    db: AsyncConnection, caller: Caller, company: CompanyView, months: Sequence[str], today: date
) -> Dashboard:
    anomaly_months = {each for month in months for each in list_anomaly_months(month)}
    read_months = {*months, *anomaly_months, *list_forecast_months(today)}
    report_basis = await load_report_basis(db, company.view, sorted(read_months))
    totals = await load_usage(
        db, company.view, months, [Dimension.month], report_basis=report_basis
    )
    top_month = max((month for (month,), _ in totals.amounts), default=months[-1])
    top = await load_usage(
        db,
        company.view,
        [top_month],
        [Dimension.account, Dimension.service],
        report_basis=report_basis,
    )
    daily = await load_forecast_usage(db, company, today, report_basis=report_basis)
    names = dict(company.view.list_names())
    return Dashboard(
        company_id=company.company_id,
        totals=[
            MonthTotal(month=month, currency=currency, amount=expand_amount(amount))
            for ((month,), currency), amount in sorted(
                totals.amounts.items(), key=lambda item: item[0]
            )
        ],
        month_to_date=list(compare_month_to_date(daily, today)),
        top_month=top_month,
        top_accounts=[
            TopAccount(
                customer_id=customer_id,
                customer_name=names.get(customer_id, customer_id),
                currency=currency,
                amount=expand_amount(amount),
            )
            for (customer_id,), currency, amount in list_largest(add_up(top, slice(0, 1)))
        ],
        top_services=[
            TopService(
                service=service,
                marketplace=marketplace,
                currency=currency,
                amount=expand_amount(amount),
            )
            for (service, marketplace), currency, amount in list_largest(
                add_up(top, slice(1, None))
            )
        ],
        forecasts=list_forecasts(daily, today),
        anomalies=await _count_anomalies(db, caller, company, top_month, report_basis),
        budgets=(
            (await load_states(db, company, today, report_basis=report_basis)).budgets
            if _may_see(caller, "usage_account_menu_budget", RoleAction.ReadBudget)
            else None
        ),
        months=list_usage_months(totals),
        unpriced=list_unpriced(totals.unpriced),
    )


async def _count_anomalies(
    db: AsyncConnection,
    caller: Caller,
    company: CompanyView,
    month: str,
    report_basis: ReportBasis,
) -> int | None:
    if not _may_see(caller, "usage_account", RoleAction.ReadAccount):
        return None
    found = await find_anomalies(db, company, month, report_basis=report_basis)
    return len(found.anomalies)


def _may_see(caller: Caller, flag: str, action: RoleAction) -> bool:
    """The dashboard shows nothing of a page that the caller may not open."""
    is_flag_on = caller.flags is None or caller.flags.get(flag, False)
    return is_flag_on and caller.may([action])


def add_up(usage: Usage, part: slice) -> Usage:
    """Sum usage by this part of its dimensions."""
    sums = Usage()
    for (values, currency), amount in usage.amounts.items():
        sums.add(values[part], currency, amount)
    return sums


def list_largest(usage: Usage) -> list[tuple[tuple[Any, ...], Currency, ExactAmount]]:
    """The largest amounts of each currency, the largest first."""
    rows = [(values, currency, amount) for (values, currency), amount in usage.amounts.items()]
    rows.sort(key=lambda row: (expand_amount(row[2]).copy_negate(), row[0]))
    largest = []
    for each in sorted(usage.currencies):
        largest += [row for row in rows if row[1] is each][:TOP_MAX]
    return largest


def compare_month_to_date(usage: DailyUsage, today: date) -> Iterator[MonthToDate]:
    complete_until = usage.find_complete_days(today)
    for currency in usage.list_currencies():
        pairs = [
            _sum_same_days(series, f"{today:%Y-%m}")
            for series in usage.list_series(currency, complete_until)
        ]
        amount, previous = (sum_exact(pair[index] for pair in pairs) for index in (0, 1))
        yield MonthToDate(
            currency=currency,
            amount=expand_amount(amount),
            previous_amount=expand_amount(previous),
        )


def _sum_same_days(series: DailySeries, month: str) -> tuple[ExactAmount, ExactAmount]:
    """Sum the complete days of the month, and as many days of the month before."""
    present, previous = list_month_days(month), list_month_days(add_months(month, -1))
    last = min(series.through, present.last)
    same_last = min(previous.first + (last - present.first), previous.last)
    if last < present.first:
        same_last = previous.first - timedelta(days=1)
    return (
        MonthDays(present.first, last).sum(series.amounts),
        MonthDays(previous.first, same_last).sum(series.amounts),
    )
