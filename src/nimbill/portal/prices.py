"""What a customer pays for a unit of vendor cost, by billing group, vendor and month.

A month with an invoice has the terms and the exchange rate of its invoice. Any other month has the
setting saved for it, or else the billing group's current terms, and the exchange rate that was
saved for it, or else the vendor's last saved rate; its price is provisional.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ONE, ExactAmount, convert_currency, to_exact
from nimbill.invoicing.documents.invoiced_terms import list_invoiced_terms
from nimbill.invoicing.runs.build_invoice import CURRENCIES
from nimbill.invoicing.runs.month_settings import monthly_invoice_settings

basis = chosen("customer-prices")


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
        source = CURRENCIES.get(currency_code)
        if source is None:
            raise NoPrice("unsupported_currency")
        amount = to_exact(cost) * (ONE - to_exact(self.discount_rate))
        if source is self.currency:
            return amount
        if self.exchange_rate is None:
            raise NoPrice("rate_missing")
        return convert_currency(amount, source, self.currency, to_exact(self.exchange_rate))


class NoPrice(Exception):
    """The usage of a month cannot be shown at the customer's price; the reason is a code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Prices = Mapping[PriceKey, CustomerPrice]


async def load_prices(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], company_ids: Collection[str]
) -> Prices:
    """Load the prices of these billing groups; vendors without any terms have none."""
    prices: dict[PriceKey, CustomerPrice] = {}
    defaults = await _list_defaults(db, scope, company_ids)
    saved_settings = await _list_saved(db, scope, months, company_ids)
    vendors = {terms.vendor for terms in (*defaults, *saved_settings)}
    rates = await _load_last_rates(db, scope, sorted(vendors))
    for default in defaults:
        price = _build_open_price(default, rates.get(default.vendor))
        for month in months:
            prices[PriceKey(default.company_id, default.vendor, month)] = price
    for saved in saved_settings:
        key = PriceKey(saved.company_id, saved.vendor, saved.month)
        prices[key] = _build_open_price(saved, saved.exchange_rate or rates.get(saved.vendor))
    for terms in await list_invoiced_terms(db, scope, months, company_ids):
        prices[PriceKey(terms.company_id, terms.vendor, terms.month)] = CustomerPrice(
            currency=Currency(terms.currency),
            discount_rate=terms.discount_rate,
            exchange_rate=terms.exchange_rate,
            is_provisional=False,
        )
    return prices


def _build_open_price(terms: Row, exchange_rate: Decimal | None) -> CustomerPrice:
    return CustomerPrice(
        currency=Currency(terms.currency),
        discount_rate=terms.discount_rate,
        exchange_rate=exchange_rate,
        is_provisional=True,
    )


async def _load_last_rates(
    db: AsyncConnection, scope: TenantScope, vendors: Collection[str]
) -> dict[str, Decimal]:
    """Load, for each vendor, the rate of the newest month that has one, for any billing group."""
    saved = monthly_invoice_settings.c
    rates = {}
    for vendor in vendors:
        stmt = (
            sa.select(saved.exchange_rate)
            .where(
                saved.organisation_id == scope.organisation_id,
                saved.vendor == vendor,
                saved.exchange_rate.is_not(None),
            )
            .order_by(saved.month.desc(), saved.update_time.desc())
            .limit(1)
        )
        rate: Decimal | None = (await db.execute(stmt)).scalar_one_or_none()
        if rate is not None:
            rates[vendor] = rate
    return rates


async def _list_defaults(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str]
) -> Sequence[Row]:
    defaults = invoice_settings.c
    stmt = sa.select(
        defaults.company_id, defaults.vendor, defaults.currency, defaults.discount_rate
    ).where(
        defaults.organisation_id == scope.organisation_id,
        is_any_of(defaults.company_id, company_ids),
    )
    return (await db.execute(stmt)).all()


async def _list_saved(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], company_ids: Collection[str]
) -> Sequence[Row]:
    saved = monthly_invoice_settings.c
    stmt = sa.select(
        saved.company_id,
        saved.vendor,
        saved.month,
        saved.currency,
        saved.discount_rate,
        saved.exchange_rate,
    ).where(
        saved.organisation_id == scope.organisation_id,
        is_any_of(saved.month, months),
        is_any_of(saved.company_id, company_ids),
    )
    return (await db.execute(stmt)).all()
