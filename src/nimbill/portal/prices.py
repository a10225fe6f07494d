"""What a customer pays for a unit of vendor cost, by billing group, vendor and month.

A month with an invoice has the terms and the exchange rate of its invoice. Any other month has the
setting saved for it, or else the billing group's current terms, and the exchange rate that was
saved for it, or else the vendor's last saved rate; its price is provisional.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, fetch_rows
from nimbill.foundation.currency import CURRENCIES, Currency
from nimbill.foundation.money import ONE, ExactAmount, convert_currency, to_exact

# See docs/choices.md, customer-prices.


class PriceKey(NamedTuple):
    """One invoice, existing or expected."""

    company_id: str
    vendor: str
    month: str


@dataclass(frozen=True, slots=True)
class CustomerPrice:
    """The terms that turn a vendor's usage cost into what the customer sees."""

    currency: Currency
    discount_rate: Decimal
    exchange_rate: Decimal | None  # yen per dollar; None if none was ever saved
    is_provisional: bool

    def convert(self, cost: Decimal, currency_code: str) -> ExactAmount:
        """Apply the discount and the exchange rate, as on an invoice line, without rounding.

        Raises NoPrice if the cost cannot be converted.
        """
        return to_exact(cost) * self.find_factor(currency_code)

    def find_factor(self, currency_code: str) -> ExactAmount:
        """Return what the customer pays for one unit of vendor cost. Raises NoPrice."""
        source = CURRENCIES.get(currency_code)
        if source is None:
            raise NoPrice("unsupported_currency")
        factor = ONE - to_exact(self.discount_rate)
        if source is self.currency:
            return factor
        if self.exchange_rate is None:
            raise NoPrice("rate_missing")
        return convert_currency(factor, source, self.currency, to_exact(self.exchange_rate))


class NoPrice(Exception):
    """The usage of a month cannot be shown at the customer's price; the reason is a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Prices = Mapping[PriceKey, CustomerPrice]


# The last rate saved for the group, or else for any group. Both are found by an index alone.
_LAST_RATE = """
coalesce(
    (SELECT r.exchange_rate FROM monthly_invoice_settings r
     WHERE r.organisation_id = $1 AND r.company_id = {0}.company_id AND r.vendor = {0}.vendor
         AND r.exchange_rate IS NOT NULL
     ORDER BY r.month DESC LIMIT 1),
    (SELECT r.exchange_rate FROM monthly_invoice_settings r
     WHERE r.organisation_id = $1 AND r.vendor = {0}.vendor AND r.exchange_rate IS NOT NULL
     ORDER BY r.month DESC, r.company_id DESC LIMIT 1))
"""
# One statement, because a page needs few rows of each table. The kinds are read in this order, so
# that an invoice replaces the saved setting of its month, and that one the current terms.
SELECT_TERMS = f"""
SELECT 1 AS kind, d.company_id, d.vendor, NULL AS month, d.currency, d.discount_rate,
    {_LAST_RATE.format("d")} AS exchange_rate
FROM invoice_settings d
WHERE d.organisation_id = $1 AND d.company_id = ANY($2)
UNION ALL
SELECT 2, s.company_id, s.vendor, s.month, s.currency, s.discount_rate,
    coalesce(s.exchange_rate, {_LAST_RATE.format("s")})
FROM monthly_invoice_settings s
WHERE s.organisation_id = $1 AND s.company_id = ANY($2) AND s.month = ANY($3)
UNION ALL
SELECT 3, i.company_id, i.vendor, i.month, t.currency, t.discount_rate, t.exchange_rate
FROM invoices i JOIN invoice_revisions t ON t.organisation_id = i.organisation_id
    AND t.month = i.month AND t.company_id = i.company_id AND t.vendor = i.vendor
    AND t.revision = i.revision
WHERE i.organisation_id = $1 AND i.company_id = ANY($2) AND i.month = ANY($3)
"""  # noqa: S608  # contains no values
_LIST_TERMS = f"{SELECT_TERMS} ORDER BY kind"
_INVOICED = 3


async def load_prices(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], company_ids: Collection[str]
) -> Prices:
    """Load the prices of these billing groups; vendors without any terms have none."""
    rows = await fetch_rows(db, _LIST_TERMS, scope.organisation_id, list(company_ids), list(months))
    return build_prices(rows, months)


def build_prices(rows: Iterable[Sequence[Any]], months: Sequence[str]) -> Prices:
    """Build the prices from rows of SELECT_TERMS in the order of their kind."""
    prices: dict[PriceKey, CustomerPrice] = {}
    for kind, company_id, vendor, month, currency, discount_rate, exchange_rate in rows:
        price = CustomerPrice(
            currency=Currency(currency),
            discount_rate=discount_rate,
            exchange_rate=exchange_rate,
            is_provisional=kind != _INVOICED,
        )
        for each_month in months if month is None else (month,):
            prices[PriceKey(company_id, vendor, each_month)] = price
    return prices
