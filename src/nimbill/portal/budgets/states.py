"""Compares budgets with the usage and the forecast of a month."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import TAG_SEPARATOR
from nimbill.foundation.money import ExactAmount, expand_amount, to_exact
from nimbill.portal.account_groups.records import list_member_accounts
from nimbill.portal.budgets.bodies import Budget, BudgetState, BudgetTarget, Threshold
from nimbill.portal.budgets.bodies import ThresholdBase as Base
from nimbill.portal.forecast.daily_usage import (
    DailyUsage,
    list_months_to_load,
    load_daily_usage,
    sum_months,
)
from nimbill.portal.forecast.month_forecast import DailySeries, forecast_month
from nimbill.portal.report_basis import ReportBasis, load_report_basis
from nimbill.portal.usage_sums import UnpricedMonth
from nimbill.portal.view import PortalView


class BudgetMonth(NamedTuple):
    """What a budget has to pay for in a month; both amounts are exact."""

    budget: Budget
    actual: ExactAmount
    forecast: ExactAmount | None

    def get_amount(self, of: Base) -> ExactAmount | None:
        return self.actual if of is Base.actual else self.forecast

    def has_passed(self, threshold: Threshold) -> bool:
        amount = self.get_amount(threshold.of)
        limit = to_exact(self.budget.amount) * to_exact(threshold.percent)
        return amount is not None and not amount * to_exact(100) < limit


class ComparedBudgets(NamedTuple):
    months: list[BudgetMonth]
    unpriced: list[UnpricedMonth]


async def compare_budgets(
    db: AsyncConnection,
    view: PortalView,
    budgets: Sequence[Budget],
    month: str,
    today: date,
    *,
    report_basis: ReportBasis | None = None,
) -> ComparedBudgets:
    """Compare the budgets with stored sums. An account or group that is gone costs nothing."""
    if not budgets:
        return ComparedBudgets([], [])
    months = list_months_to_load(month, today)
    by_account = any(
        budget.target in (BudgetTarget.account, BudgetTarget.group) for budget in budgets
    )
    report_basis = report_basis or await load_report_basis(db, view, months)
    usage = await load_daily_usage(
        db, view, months, by_account=by_account, report_basis=report_basis
    )
    complete_until = usage.find_complete_days(today)
    compared = []
    for budget in budgets:
        series = await _list_series(db, view, budget, usage, complete_until, months, report_basis)
        compared.append(
            BudgetMonth(budget, sum_months(series, month), forecast_month(series, month))
        )
    return ComparedBudgets(compared, sorted(each for each in usage.unpriced if each.month == month))


async def _list_series(
    db: AsyncConnection,
    view: PortalView,
    budget: Budget,
    usage: DailyUsage,
    complete_until: dict[str, date],
    months: Sequence[str],
    report_basis: ReportBasis,
) -> list[DailySeries]:
    target_id = budget.target_id or ""
    match budget.target:
        case BudgetTarget.company:
            return usage.list_series(budget.currency, complete_until)
        case BudgetTarget.account:
            return usage.list_series(
                budget.currency, complete_until, lambda account: account == target_id
            )
        case BudgetTarget.group:
            members = await list_member_accounts(db, view.scope, [target_id])
            return usage.list_series(budget.currency, complete_until, members.__contains__)
        case BudgetTarget.tag:
            key, _, value = target_id.partition(TAG_SEPARATOR)
            tagged_view = replace(view, tags={key: frozenset({value})})
            tagged = await load_daily_usage(db, tagged_view, months, report_basis=report_basis)
            return tagged.list_series(budget.currency, complete_until)


def build_state(compared: BudgetMonth) -> BudgetState:
    budget, actual, forecast = compared
    return BudgetState(
        budget_id=budget.budget_id,
        name=budget.name,
        target=budget.target,
        target_id=budget.target_id,
        amount=budget.amount,
        currency=budget.currency,
        thresholds=budget.thresholds,
        actual=expand_amount(actual),
        percent=find_percent(actual, budget),
        forecast=None if forecast is None else expand_amount(forecast),
        forecast_percent=None if forecast is None else find_percent(forecast, budget),
    )


def find_percent(amount: ExactAmount, budget: Budget) -> Decimal:
    """Cut off after one decimal, so that 99.96 % does not look like a threshold of 100 %."""
    tenths = expand_amount(amount * to_exact(1000) / to_exact(budget.amount))
    return Decimal(int(tenths)).scaleb(-1)
