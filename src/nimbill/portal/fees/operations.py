"""The fees of a month at the customer's price: as on the invoice, never discounted."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row
from nimbill.foundation.currency import CURRENCIES
from nimbill.foundation.money import ExactAmount, expand_amount
from nimbill.invoicing.runs.build_invoice import build_applied_entry
from nimbill.portal.fees.bodies import CustomerFee, CustomerFees, FeeKind
from nimbill.portal.fees.records import list_applied_entries
from nimbill.portal.former_owners import ViewedMonths
from nimbill.portal.prices import CustomerPrice, NoPrice, PriceKey
from nimbill.portal.report_basis import load_report_basis
from nimbill.portal.usage.bodies import list_totals, list_unpriced
from nimbill.portal.usage_sums import UnpricedMonth, Usage
from nimbill.portal.view import AccountKey, PortalView

# the calc_type of an entry to the page that shows it; all others are on the page of other fees
KINDS: Mapping[str, FeeKind] = {
    "Fee": FeeKind.fee,
    "Credit": FeeKind.credit,
    "Refund": FeeKind.refund,
}


class _OwnedEntry(NamedTuple):
    row: Row
    price_key: PriceKey


async def load_fees(
    db: AsyncConnection, view: PortalView, month: str, kind: FeeKind
) -> CustomerFees:
    """Load the fees of one kind that are applied to the month."""
    report_basis = await load_report_basis(db, view, [month])
    entries = await _list_entries(db, view, report_basis.accounts, month, kind)
    prices = await report_basis.load_prices(db, {entry.price_key.company_id for entry in entries})
    names, sums = dict(view.list_names()), Usage()
    rows = []
    for row, price_key in entries:
        name = names.get(row.customer_id, row.customer_id)
        price = prices.get(price_key)
        try:
            amount = convert_fee(row, name, price)
        except NoPrice as error:
            sums.unpriced.add(UnpricedMonth(month, row.vendor, error.reason))
            continue
        assert price is not None, "without a price there is no amount"
        sums.add((), price.currency, amount)
        rows.append(_build_fee(row, name, price, amount))
    return CustomerFees(
        kind=kind, rows=rows, totals=list_totals(sums), unpriced=list_unpriced(sums.unpriced)
    )


async def _list_entries(
    db: AsyncConnection, view: PortalView, accounts: ViewedMonths, month: str, kind: FeeKind
) -> list[_OwnedEntry]:
    """Entries have no tags, so a user who is restricted to certain tags sees none of them."""
    if view.tags:
        return []
    customer_ids = {key.customer_id for key in accounts}
    rows = await list_applied_entries(db, view.scope, month, customer_ids)
    entries = []
    for row in rows:
        account = accounts.get(AccountKey(row.vendor, row.customer_id))
        if account is None or KINDS.get(row.calc_type, FeeKind.other) is not kind:
            continue
        owner = accounts.find_owner(row.vendor, row.customer_id, month, account.company_id)
        if owner:
            entries.append(_OwnedEntry(row, PriceKey(owner, row.vendor, month)))
    return entries


def convert_fee(row: Row, name: str, price: CustomerPrice | None) -> ExactAmount:
    """Convert at the entry's own rate, or at the month's. Raises NoPrice."""
    if price is None:
        raise NoPrice("settings_missing")
    if row.currency_code not in CURRENCIES:
        raise NoPrice("unsupported_currency")
    entry = build_applied_entry(row, {row.customer_id: name})
    rate = entry.effective_rate(price.exchange_rate or Decimal(0))
    if entry.currency is not price.currency and not rate:
        raise NoPrice("rate_missing")
    return entry.convert(price.currency, rate)


def _build_fee(row: Row, name: str, price: CustomerPrice, amount: ExactAmount) -> CustomerFee:
    return CustomerFee(
        month=row.applied_month,
        vendor=row.vendor,
        customer_id=row.customer_id,
        customer_name=name,
        description=row.description,
        currency=price.currency,
        amount=expand_amount(amount),
        tax_free=row.tax_free,
        provisional=price.is_provisional,
    )
