"""Prices the costs of one report, and remembers which months are provisional or have no price."""

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import expand_amount, sum_exact
from nimbill.portal.prices import NoPrice, PriceKey, Prices
from nimbill.portal.usage_sums import PricedMonth, UnpricedMonth, Usage

# See docs/choices.md, customer-prices.


class VendorCost(NamedTuple):
    cost: Decimal
    currency_code: str


class PricedAmount(NamedTuple):
    """Both are None if the price is unknown, or if there is nothing to price."""

    currency: Currency | None
    amount: Decimal | None


NO_AMOUNT = PricedAmount(None, None)


class ReportPricing:
    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self.usage = Usage()  # of which only the months are used

    def convert(self, key: PriceKey, costs: Iterable[VendorCost]) -> PricedAmount:
        """Return the sum of the costs at the customer's price."""
        costs = list(costs)
        if not costs:
            return NO_AMOUNT
        price = self._prices.get(key)
        try:
            if price is None:
                raise NoPrice("settings_missing")
            amount = sum_exact([price.convert(cost, code) for cost, code in costs])
        except NoPrice as error:
            self.usage.unpriced.add(UnpricedMonth(key.month, key.vendor, error.reason))
            return NO_AMOUNT
        self.usage.months.add(PricedMonth(key.month, key.vendor, price.is_provisional))
        return PricedAmount(price.currency, expand_amount(amount))
