"""The charges of a month on an invoice: usage, applied entries and free format items."""

from decimal import Decimal

import msgspec

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount, convert_currency, to_exact


class UsageCharge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sum of the vendor's usage lines without vendor tax, in the currency of the costs.

    Fees of moved reservations are charged to their new owner.
    """

    customer_id: str
    customer_name: str
    tag: str  # with calc_type "tag" the value of the tag, "" without one; otherwise ""
    service: str
    marketplace: bool
    amount: Decimal
    products: tuple[str, ...] = ()  # names, only of marketplace services


class AppliedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A recalculation entry applied to this month."""

    entry_id: str
    customer_id: str
    customer_name: str
    calc_type: str  # Fee, Credit, Refund, Upfront or Correction
    description: str
    amount: Decimal
    currency: Currency
    exchange_rate: Decimal  # yen per dollar; 0 means the rate of the invoice
    tax_free: bool

    def effective_rate(self, invoice_rate: Decimal) -> Decimal:
        return self.exchange_rate or invoice_rate

    def convert(self, currency: Currency, invoice_rate: Decimal) -> ExactAmount:
        """The exact amount in this currency, at the entry's own rate if it has one."""
        rate = to_exact(self.effective_rate(invoice_rate))
        return convert_currency(to_exact(self.amount), self.currency, currency, rate)


class FreeItem(msgspec.Struct, frozen=True, kw_only=True):
    """A free format item in the invoice's currency; only enabled items are charged."""

    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class MonthlyCharges(msgspec.Struct, frozen=True, kw_only=True):
    """The charges of one billing group, vendor and month."""

    cost_currency: Currency
    usage: tuple[UsageCharge, ...]
    entries: tuple[AppliedEntry, ...] = ()
    items: tuple[FreeItem, ...] = ()
