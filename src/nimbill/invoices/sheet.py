"""The invoice as it stands on paper: one line of code for one printed line, in the page's order."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from nimbill.basis import chosen
from nimbill.invoices.charges import MonthlyCharges
from nimbill.invoices.terms import Terms
from nimbill.vocabulary import Currency

basis = chosen("invoice-arithmetic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How an amount came about: the rule, what it was taken of, the sum, where that stands."""

    rule: str  # a stable word
    base: Decimal | None = None  # for reading, at most 10 decimals
    base_currency: Currency | None = None
    working: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    customer_id: str  # "" with calc_type tag
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    after: Decimal
    cost: Decimal  # exact, in the cost's currency
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Fee:
    charge: Decimal
    after: Decimal
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine:
    entry_id: str
    customer_id: str
    customer_name: str
    calc_type: str
    description: str
    original: Decimal
    original_currency: Currency
    exchange_rate: Decimal | None  # the one used; None where the currencies agree
    amount: Decimal
    tax_free: bool
    why: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemLine:
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal
    why: Explanation


class AccountEntry(NamedTuple):
    description: str
    amount: Decimal  # USD, cents
    amount_exchanged: Decimal  # as printed


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTotal:
    """An account's usage after discount and its applied entries; fees and items are not in it."""

    customer_id: str
    customer_name: str
    total: Decimal  # USD, added exactly and rounded once
    total_exchanged: Decimal
    entries: tuple[AccountEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Amounts are in the invoice's currency, as printed, unless they say otherwise."""

    currency: Currency
    cost_currency: Currency
    lines: tuple[UsageLine, ...]
    support: Fee | None
    agency: Fee | None
    entries: tuple[EntryLine, ...]
    items: tuple[ItemLine, ...]
    usage_charge: Decimal
    usage_after: Decimal
    tax_free: Decimal
    pre_tax: Decimal
    taxable: Decimal
    tax_rate: Decimal
    tax: Decimal
    total: Decimal
    pre_tax_usd: Decimal  # the same components in USD, added exactly and rounded once
    accounts: tuple[AccountTotal, ...]
    tax_why: Explanation | None = None


def draw_up(month: MonthlyCharges, terms: Terms) -> Sheet:
    raise NotImplementedError
