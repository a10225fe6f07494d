"""Random charges and settings: every setting value, awkward rates, rounding ties, credits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

from nimbill.customers.billing_groups.fee_targets import FeeTargets, resolve_fee_targets
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding
from nimbill.foundation.rules import Between, OneOf, PerVendor
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.foundation.vendors import BilledVendor
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.terms import RateBand, Terms, build_terms

CURRENCIES, ROUNDINGS = tuple(Currency), tuple(Rounding)
RATES = ("150.25", "149.995", "100", "125", "0.8", "151.123456", "160", "1", "133.333333333333")
PARTS = ("0", "1", "0.05", "0.03", "0.0755", "0.333333333333", "0.5", "0.1", "0.07", "0.999")
FIXED = ("0", "30", "12.34", "0.005", "1000000", "99.995", "0.5")
SERVICES = ("AmazonEC2", "AmazonS3", "Virtual Machines", "storage")
ACCOUNTS = ("111111111111", "222222222222", "333333333333", "0a1b2c3d")
TAGS = ("", "prod", "test", "Ä")
KINDS = ("Fee", "Credit", "Refund", "Upfront")


@dataclass(frozen=True, slots=True)
class InvoiceCase:
    """The charges of a month, the settings in the order sent, and the organisation's settings."""

    charges: MonthlyCharges
    settings: tuple[Mapping[str, Any], ...]
    exchange_rate: Decimal
    rounding: Rounding
    usage_table: tuple[RateBand, ...]

    def terms(self) -> Terms:
        settled: FeeTargets | None = None
        for setting in self.settings:
            settled = resolve_fee_targets(setting, settled)
        assert settled is not None
        return build_terms(
            self.settings[-1],
            settled,
            exchange_rate=self.exchange_rate,
            rounding=self.rounding,
            usage_table=self.usage_table,
            month="2026-10",
        )


def random_case(random: Random) -> InvoiceCase:
    vendor = random.choice(BILLED_VENDORS)
    columns = random.choice((["create"], ["create", "update"], ["either"], ["create", "either"]))
    return InvoiceCase(
        charges=_random_month(random),
        settings=tuple(_random_setting(random, vendor, column) for column in columns),
        exchange_rate=Decimal(random.choice(RATES)),
        rounding=random.choice(ROUNDINGS),
        usage_table=_random_usage_table(random),
    )


def _random_setting(random: Random, vendor: BilledVendor, column: str) -> dict[str, Any]:
    """A valid setting: values of one column, or of either, without conflicting fee targets."""
    columns = dict.fromkeys(ALLOWED_VALUES, column)
    if column == "either":
        columns = {field: random.choice(("create", "update")) for field in ALLOWED_VALUES}
        # in one column the two fields state different fee targets
        columns["substitution_fee_target_usage"] = columns["substitution_fee_calc_target"]
    setting = {}
    for field, row in ALLOWED_VALUES.items():
        cell = getattr(row, columns[field])
        rule = cell[vendor] if isinstance(cell, PerVendor) else cell
        assert isinstance(rule, OneOf | Between)
        setting[field] = random.choice(_allowed_values(rule))
    return setting


@cache
def _allowed_values(rule: OneOf | Between) -> tuple[str | Decimal, ...]:
    if isinstance(rule, OneOf):
        return rule.values
    return tuple(value for value in map(Decimal, (*PARTS, *FIXED)) if rule.allows(value))


def _random_usage_table(random: Random) -> tuple[RateBand, ...]:
    ends = sorted({_random_positive(random) for _ in range(random.randrange(4))})
    return tuple((end, Decimal(random.choice(PARTS))) for end in [*ends, None])


def _random_month(random: Random) -> MonthlyCharges:
    accounts = random.sample(ACCOUNTS, random.randint(1, len(ACCOUNTS)))
    usage = [
        _random_charge(random, accounts) for _ in range(random.choice((0, 1, 2, 3, 3, 4, 6, 9)))
    ]
    if usage and random.random() < 0.1:  # a credit makes the sum zero
        total = sum((charge.amount for charge in usage), Decimal(0))
        usage.append(_random_charge(random, accounts, -total))
    return MonthlyCharges(
        cost_currency=random.choice(CURRENCIES),
        usage=tuple(usage),
        entries=tuple(
            _random_entry(random, accounts, n) for n in range(random.choice((0, 0, 1, 2, 4)))
        ),
        items=tuple(_random_item(random) for _ in range(random.choice((0, 0, 0, 1, 3)))),
    )


def _random_charge(
    random: Random, accounts: list[str], amount: Decimal | None = None
) -> UsageCharge:
    account = random.choice(accounts)
    return UsageCharge(
        customer_id=account,
        customer_name=f"account {account}",
        tag=random.choice(TAGS),
        service=random.choice(SERVICES),
        marketplace=random.random() < 0.2,
        amount=_random_amount(random) if amount is None else amount,
    )


def _random_entry(random: Random, accounts: list[str], number: int) -> AppliedEntry:
    account = random.choice([*accounts, "only-an-entry"])
    return AppliedEntry(
        entry_id=f"entry-{number}",
        customer_id=account,
        customer_name=f"account {account}",
        calc_type=random.choice(KINDS),
        description=random.choice(("Sign up charge", "Promotion", "")),
        amount=_random_amount(random),
        currency=random.choice(CURRENCIES),
        exchange_rate=Decimal(random.choice(("0", "0", *RATES))),
        tax_free=random.random() < 0.4,
    )


def _random_item(random: Random) -> FreeItem:
    return FreeItem(
        enabled=random.random() < 0.7,
        label="Consulting",
        unit_cost=Decimal("33.335"),
        quantity=Decimal(3),
        total=_random_amount(random),
    )


def _random_amount(random: Random) -> Decimal:
    sign = -1 if random.random() < 0.2 else 1
    return sign * _random_positive(random) if random.random() < 0.92 else Decimal(0)


def _random_positive(random: Random) -> Decimal:
    """A positive amount: with many digits, ending in a half, tiny or huge."""
    style, whole = random.randrange(6), random.randrange(1, 10**6)
    if style == 0:
        return Decimal(random.randrange(1, 10**14)).scaleb(-10)
    if style == 1:
        return Decimal(whole).scaleb(-3) + Decimal("0.005")
    if style == 2:
        return Decimal(whole) + Decimal("0.5")
    if style == 3:
        return Decimal(random.choice(("0.0000000001", "0.005", "0.105", "105", "0.004999999999")))
    if style == 4:
        return Decimal(random.choice(("10000", "80000", "150000", "250000", "1200000", "1E+9")))
    return Decimal(whole).scaleb(-2)
