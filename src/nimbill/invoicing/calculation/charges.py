"""What a month brings to an invoice: the vendor's usage, applied entries, free format items."""

from decimal import Decimal

import msgspec

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount, convert_currency, to_exact

basis = chosen("invoice-arithmetic")


class UsageCharge(msgspec.Struct, frozen=True, kw_only=True):
    """One sum of the vendor's usage lines, in the cost's currency.

    Vendor tax is not in it; fees of moved reservations are already at their new owner.
    """

    customer_id: str
    customer_name: str
    tag: str  # calc_type tag: the tag's value, "" where the line has none; calc_type account: ""
    service: str
    marketplace: bool
    amount: Decimal


class AppliedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A recalculation entry that was applied into this month."""

    entry_id: str
    customer_id: str
    customer_name: str
    calc_type: str  # Fee, Credit, Refund or Upfront
    description: str
    amount: Decimal
    currency: Currency
    exchange_rate: Decimal  # yen for one dollar; 0 = the invoice's
    tax_free: bool

    def effective_rate(self, of_invoice: Decimal) -> Decimal:
        return self.exchange_rate or of_invoice

    def convert(self, currency: Currency, rate_of_invoice: Decimal) -> ExactAmount:
        """In this currency, exactly, at its own rate."""
        rate = to_exact(self.effective_rate(rate_of_invoice))
        return convert_currency(to_exact(self.amount), self.currency, currency, rate)


class FreeItem(msgspec.Struct, frozen=True, kw_only=True):
    """A free format item, in the invoice's currency; only enabled ones count."""

    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class MonthlyCharges(msgspec.Struct, frozen=True, kw_only=True):
    """Of one billing group, one vendor and one month."""

    cost_currency: Currency
    usage: tuple[UsageCharge, ...]
    entries: tuple[AppliedEntry, ...] = ()
    items: tuple[FreeItem, ...] = ()
