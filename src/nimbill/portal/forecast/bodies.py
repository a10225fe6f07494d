"""Response bodies of the forecast. All amounts are at the customer's price."""

from decimal import Decimal
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body
from nimbill.portal.usage.bodies import UnpricedUsage


class CurrencyForecast(Body, frozen=True, kw_only=True):
    """`complete_until` is the last day (yyyy-mm-dd) that is not estimated, of any vendor.

    `error_percent` is the mean absolute percentage error of the same forecast in earlier months.
    """

    basis: ClassVar[Basis] = chosen("portal-forecast")

    currency: Currency
    month_to_date: Decimal
    forecast: Decimal | None
    error_percent: Decimal | None
    complete_until: str


class MonthForecast(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-forecast")

    company_id: str
    month: str
    forecasts: list[CurrencyForecast]
    unpriced: list[UnpricedUsage]
