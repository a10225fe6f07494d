"""The printed lines of an invoice; each amount has an explanation."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import msgspec

from nimbill.foundation.currency import Currency
from nimbill.foundation.product_names import join_product_names

# the values of Explanation.rule and their meanings
RULES: Mapping[str, str] = {
    "usage": "the vendor's usage of a service, minus the discount",
    "support_percent": "a percentage of the support base",
    "support_fix": "a fixed support fee",
    "support_aws_developer": "the vendor's developer plan on the support base",
    "support_aws_business": "the vendor's business plan on the support base",
    "support_aws_enterprise": "the vendor's enterprise plan on the support base",
    "agency_percent": "a percentage of the agency base",
    "agency_fix": "a fixed agency fee",
    "agency_automatic": "the larger of a percentage of the agency base and a fixed fee",
    "agency_usagetable": "the agency base at the rates of the organisation's usage table",
    "entry": "an applied recalculation entry, never discounted",
    "free_format": "an item of the billing group's free format",
    "pre_tax": "the sum of all printed amounts",
    "tax": "the tax rate on the taxable amount, rounded once per invoice",
    "total": "the amount before tax plus the tax",
}


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """How an amount was calculated: rule, base, formula and sources."""

    rule: str  # a key of RULES, stable between versions
    base: Decimal | None = None  # truncated to 10 decimals, for display only
    base_currency: Currency | None = None
    working: str = ""
    sources: tuple[str, ...] = ()


class UsageLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    customer_id: str  # "" with calc_type "tag"
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    after: Decimal
    cost: Decimal  # exact, in the currency of the costs
    why: Explanation
    products: tuple[str, ...] = ()  # names, only of marketplace services

    @property
    def name(self) -> str:
        """The name on the invoice: the products if they are known, otherwise the service."""
        return join_product_names(self.products) or self.service


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
    exchange_rate: Decimal | None  # the rate used; None if no conversion was needed
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
    """An account's usage after discount plus its applied entries, without fees and items."""

    customer_id: str
    customer_name: str
    total: Decimal  # USD, rounded once
    total_exchanged: Decimal
    entries: tuple[AccountEntry, ...]
