"""What a customer pays for a unit of vendor cost, by billing group, vendor and month.

A month with an invoice has the terms and the exchange rate of its invoice. Any other month has the
setting saved for it, or else the billing group's current terms, and the exchange rate that was
saved for it, or else the vendor's last saved rate; its price is provisional.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.database.combined_queries import combine_queries, fetch_combined
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_given_tenant
from nimbill.foundation.currency import CURRENCIES, Currency
from nimbill.foundation.money import ONE, ExactAmount, convert_currency, to_exact
from nimbill.invoicing.documents.stored_invoices import invoice_revisions, invoices, join_revision
from nimbill.invoicing.runs.month_settings import monthly_invoice_settings

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


_MONTHS: sa.BindParameter[Any] = sa.bindparam("months")
_other_settings = monthly_invoice_settings.alias("rates")
_rates = _other_settings.c
_ONE_ROW: sa.ColumnElement[int] = sa.literal_column(
    "1"
)  # with a parameter, PostgreSQL would not expect a single row


def _find_last_rate(terms: sa.Table) -> sa.ColumnElement[Decimal]:
    """The last rate saved for the group, or else for any group; an index alone finds both."""
    of_vendor = (
        sa.select(_rates.exchange_rate)
        .where(
            of_given_tenant(_other_settings),
            _rates.vendor == terms.c.vendor,
            _rates.exchange_rate.is_not(None),
        )
        .limit(_ONE_ROW)
        .correlate(terms)
    )
    of_group = of_vendor.where(_rates.company_id == terms.c.company_id)
    return sa.func.coalesce(
        of_group.order_by(_rates.month.desc()).scalar_subquery(),
        of_vendor.order_by(_rates.month.desc(), _rates.company_id.desc()).scalar_subquery(),
    )


def _select_terms(
    terms: sa.Table, exchange_rate: sa.ColumnElement[Decimal], *columns: sa.ColumnElement[Any]
) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(
        terms.c.company_id,
        terms.c.vendor,
        terms.c.currency,
        terms.c.discount_rate,
        exchange_rate.label("exchange_rate"),
        *columns,
    ).where(
        of_given_tenant(terms),
        is_any_of(terms.c.company_id, sa.bindparam("company_ids")),
    )


_settings, _saved, _revisions = invoice_settings, monthly_invoice_settings, invoice_revisions
_saved_rate = sa.func.coalesce(_saved.c.exchange_rate, _find_last_rate(_saved))
# An invoice replaces the saved terms of its month, and these replace the current terms.
SELECT_TERMS = {
    "current_terms": _select_terms(_settings, _find_last_rate(_settings)),
    "saved_terms": _select_terms(_saved, _saved_rate, _saved.c.month).where(
        is_any_of(_saved.c.month, _MONTHS)
    ),
    "invoiced_terms": _select_terms(_revisions, _revisions.c.exchange_rate, _revisions.c.month)
    .join(invoices, join_revision(current=True))
    .where(is_any_of(_revisions.c.month, _MONTHS)),
}
_LIST_TERMS = combine_queries(SELECT_TERMS)


async def load_prices(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], company_ids: Collection[str]
) -> Prices:
    """Load the prices of these billing groups; vendors without any terms have none."""
    values = {
        "organisation_id": scope.organisation_id,
        "company_ids": list(company_ids),
        "months": list(months),
    }
    return build_prices(await fetch_combined(db, _LIST_TERMS, values), months)


def build_prices(terms: Mapping[str, Sequence[Mapping[str, Any]]], months: Sequence[str]) -> Prices:
    """Build the prices from the rows of SELECT_TERMS, and ignore those of other queries."""
    prices: dict[PriceKey, CustomerPrice] = {}
    for name in SELECT_TERMS:
        for row in terms[name]:
            rate = row["exchange_rate"]
            price = CustomerPrice(
                currency=Currency(row["currency"]),
                discount_rate=Decimal(row["discount_rate"]),
                exchange_rate=None if rate is None else Decimal(rate),
                is_provisional=name != "invoiced_terms",
            )
            for month in [row["month"]] if "month" in row else months:
                prices[PriceKey(row["company_id"], row["vendor"], month)] = price
    return prices
