"""Response bodies of the anomalies. All amounts are at the customer's price."""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body
from nimbill.portal.usage.bodies import UnpricedUsage


class AnomalyCause(StrEnum):
    """`price`: only the customer's discount or exchange rate differs from the days before."""

    usage = "usage"
    price = "price"


class Anomaly(Body, frozen=True, kw_only=True):
    """A day (yyyy-mm-dd) whose amount is far from the median of the 30 days before."""

    basis: ClassVar[Basis] = chosen("portal-anomalies")

    day: str
    vendor: str
    customer_id: str
    customer_name: str
    service: str
    marketplace: bool
    currency: Currency
    value: Decimal
    median: Decimal
    mad: Decimal
    score: Decimal
    cause: AnomalyCause


class Anomalies(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-anomalies")

    company_id: str
    month: str
    anomalies: list[Anomaly]
    unpriced: list[UnpricedUsage]
