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
from nimbill.portal.usage.bodies import UnpricedUsage


async def build_forecast(db: AsyncConnection, company: CompanyView, today: date) -> MonthForecast:
    month = f"{today:%Y-%m}"
    usage = await load_forecast_usage(db, company, today)
    return MonthForecast(
        company_id=company.company_id,
        month=month,
        forecasts=list_forecasts(usage, today),
        unpriced=[
            UnpricedUsage(**unpriced._asdict())
            for unpriced in sorted(usage.unpriced)
            if unpriced.month == month
        ],
    )


async def load_forecast_usage(db: AsyncConnection, company: CompanyView, today: date) -> DailyUsage:
    """Load the usage that the forecast of the current month and its error depend on."""
    months_before = BACK_TESTED_MONTHS + MONTHS_BEFORE
    months = list_months_to_load(f"{today:%Y-%m}", today, months_before)
    return await load_daily_usage(db, company.view, months)


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
