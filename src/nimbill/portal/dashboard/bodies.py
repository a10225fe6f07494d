"""Response bodies of the dashboard. All amounts are at the customer's price, unrounded."""

from decimal import Decimal
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body
from nimbill.portal.budgets.bodies import BudgetState
from nimbill.portal.forecast.bodies import CurrencyForecast
from nimbill.portal.usage.bodies import UnpricedUsage, UsageMonth


class MonthTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-dashboard")

    month: str
    currency: Currency
    amount: Decimal


class MonthToDate(Body, frozen=True, kw_only=True):
    """The complete days of the current month, and the same days of the month before."""

    basis: ClassVar[Basis] = chosen("portal-dashboard")

    currency: Currency
    amount: Decimal
    previous_amount: Decimal


class TopAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-dashboard")

    customer_id: str
    customer_name: str
    currency: Currency
    amount: Decimal


class TopService(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-dashboard")

    service: str
    marketplace: bool
    currency: Currency
    amount: Decimal


class Dashboard(Body, frozen=True, kw_only=True):
    """`anomalies` and `budgets` are null for callers who may not see these pages."""

    basis: ClassVar[Basis] = chosen("portal-dashboard")

    company_id: str
    totals: list[MonthTotal]
    month_to_date: list[MonthToDate]
    top_month: str
    top_accounts: list[TopAccount]
    top_services: list[TopService]
    forecasts: list[CurrencyForecast]
    anomalies: int | None
    budgets: list[BudgetState] | None
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]
