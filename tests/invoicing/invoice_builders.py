"""Builds charges, entries and terms for tests that set only a few of their fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding
from nimbill.invoicing.calculation.charges import AppliedEntry, UsageCharge
from nimbill.invoicing.calculation.terms import Terms

# USD costs billed in USD, without discount, fees and tax
MINIMAL_TERMS = Terms(
    calc_type="account",
    currency=Currency.usd,
    discount_calc_logic="usageamount",
    discount_rate=Decimal(0),
    discount_target_usage="cloudpayonly",
    substitution_fee="percent",
    substitution_basis="nondiscount",
    substitution_scope="cloudpayonly",
    substitution_fee_calc_type="allsum",
    substitution_fix=Decimal(0),
    substitution_rate=Decimal(0),
    support_amount_target="allusage",
    support_fee="fix",
    support_basis="nondiscount",
    support_scope=None,
    support_fix=Decimal(0),
    support_rate=Decimal(0),
    tax_rate=Decimal(0),
    exchange_rate=Decimal(100),
    rounding=Rounding.half_up,
    usage_table=(),
    month="2026-10",
)


def build_terms(**changes: Any) -> Terms:
    return replace(MINIMAL_TERMS, **changes)


def build_charge(
    amount: str | Decimal,
    *,
    account: str = "111111111111",
    service: str = "AmazonEC2",
    tag: str = "",
    marketplace: bool = False,
) -> UsageCharge:
    return UsageCharge(
        customer_id=account,
        customer_name=f"account {account}",
        tag=tag,
        service=service,
        marketplace=marketplace,
        amount=Decimal(amount),
    )


def build_entry(
    amount: str | Decimal,
    *,
    entry_id: str = "entry",
    account: str = "111111111111",
    calc_type: str = "Fee",
    currency: Currency = Currency.usd,
    exchange_rate: str | Decimal = "0",
    tax_free: bool = False,
) -> AppliedEntry:
    return AppliedEntry(
        entry_id=entry_id,
        customer_id=account,
        customer_name=f"account {account}",
        calc_type=calc_type,
        description=f"{calc_type} of the vendor",
        amount=Decimal(amount),
        currency=currency,
        exchange_rate=Decimal(exchange_rate),
        tax_free=tax_free,
    )
