"""Builds the forecast of the current month."""

from datetime import date

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import expand_amount
from nimbill.portal.forecast.bodies import CurrencyForecast, MonthForecast
from nimbill.portal.forecast.daily_usage import (
    MONTHS_BEFORE,
    DailyUsage,
    list_months_to_load,
    load_daily_usage,
    sum_months,
)
from nimbill.portal.forecast.month_forecast import (
    BACK_TESTED_MONTHS,
    forecast_month,
    measure_error,
)
from nimbill.portal.one_company import CompanyView
from nimbill.portal.report_basis import ReportBasis
from nimbill.portal.usage.bodies import list_unpriced


async def build_forecast(db: AsyncConnection, company: CompanyView, today: date) -> MonthForecast:
    month = f"{today:%Y-%m}"
    usage = await load_forecast_usage(db, company, today)
    return MonthForecast(
        company_id=company.company_id,
        month=month,
        forecasts=list_forecasts(usage, today),
        unpriced=list_unpriced(unpriced for unpriced in usage.unpriced if unpriced.month == month),
    )


def list_forecast_months(today: date) -> list[str]:
    """The months that the forecast of the current month and its error depend on."""
    return list_months_to_load(f"{today:%Y-%m}", today, BACK_TESTED_MONTHS + MONTHS_BEFORE)


async def load_forecast_usage(
    db: AsyncConnection,
    company: CompanyView,
    today: date,
    *,
    report_basis: ReportBasis | None = None,
) -> DailyUsage:
    months = list_forecast_months(today)
    return await load_daily_usage(db, company.view, months, report_basis=report_basis)


def list_forecasts(usage: DailyUsage, today: date) -> list[CurrencyForecast]:
    month = f"{today:%Y-%m}"
    return [
        _forecast_currency(usage, currency, month, today) for currency in usage.list_currencies()
    ]


def _forecast_currency(
    usage: DailyUsage, currency: Currency, month: str, today: date
) -> CurrencyForecast:
    series = usage.list_series(currency, usage.find_complete_days(today))
    forecast = forecast_month(series, month)
    return CurrencyForecast(
        currency=currency,
        month_to_date=expand_amount(sum_months(series, month)),
        forecast=None if forecast is None else expand_amount(forecast),
        error_percent=None if forecast is None else measure_error(series, month),
        complete_until=min(each.through for each in series).isoformat(),
    )
