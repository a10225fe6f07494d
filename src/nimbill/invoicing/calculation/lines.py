"""What stands on an invoice line by line, as printed, each amount with its explanation."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import msgspec

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency

basis = chosen("invoice-arithmetic")

# The word that each explanation gives as its rule, and what it stands for.
RULES: Mapping[str, str] = {
    "usage": "the vendor's usage lines of a service, less the discount",
    "support_percent": "a rate of the support base",
    "support_fix": "a fixed support fee",
    "support_aws_developer": "the vendor's developer plan on the support base",
    "support_aws_business": "the vendor's business plan on the support base",
    "support_aws_enterprise": "the vendor's enterprise plan on the support base",
    "agency_percent": "a rate of the agency base",
    "agency_fix": "a fixed agency fee",
    "agency_automatic": "the larger of a rate of the agency base and a fixed fee",
    "agency_usagetable": "the agency base by the bands of the organisation's table",
    "entry": "an applied recalculation entry, never discounted",
    "free_format": "an item of the billing group's free format",
    "pre_tax": "the sum of all printed amounts",
    "tax": "the tax rate on what is taxed, rounded once per invoice",
    "total": "what stands before tax, and the tax",
}


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """How an amount came about: the rule, what it was taken of, the sum, where that stands."""

    rule: str  # a word of RULES; it stays the same between versions
    base: Decimal | None = None  # for reading, at most 10 decimals
    base_currency: Currency | None = None
    working: str = ""
    sources: tuple[str, ...] = ()


class UsageLine(msgspec.Struct, frozen=True, kw_only=True):
    customer_id: str  # "" with calc_type tag
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    after: Decimal
    cost: Decimal  # exact, in the cost's currency
    why: Explanation


class Fee(msgspec.Struct, frozen=True, kw_only=True):
    charge: Decimal
    after: Decimal
    why: Explanation


class EntryLine(msgspec.Struct, frozen=True, kw_only=True):
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


class ItemLine(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal
    why: Explanation


class AccountEntry(NamedTuple):
    description: str
    amount: Decimal  # USD, cents
    amount_exchanged: Decimal  # as printed


class AccountTotal(msgspec.Struct, frozen=True, kw_only=True):
    """An account's usage after discount and its applied entries; fees and items are not in it."""

    customer_id: str
    customer_name: str
    total: Decimal  # USD, added exactly and rounded once
    total_exchanged: Decimal
    entries: tuple[AccountEntry, ...]
