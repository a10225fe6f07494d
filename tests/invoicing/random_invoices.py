"""Invented months and settings for the arithmetic: every word, awkward rates, ties, credits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.customers.billing_groups.settled_terms import Settled, settle
from nimbill.foundation.money import Rounding
from nimbill.foundation.rules import Between, OneOf, PerVendor
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.terms import Band, Terms, terms_of

CURRENCIES, ROUNDINGS = tuple(Currency), tuple(Rounding)
RATES = ("150.25", "149.995", "100", "125", "0.8", "151.123456", "160", "1", "133.333333333333")
PARTS = ("0", "1", "0.05", "0.03", "0.0755", "0.333333333333", "0.5", "0.1", "0.07", "0.999")
FIXED = ("0", "30", "12.34", "0.005", "1000000", "99.995", "0.5")
SERVICES = ("AmazonEC2", "AmazonS3", "Virtual Machines", "storage")
ACCOUNTS = ("111111111111", "222222222222", "333333333333", "0a1b2c3d")
TAGS = ("", "prod", "test", "Ä")
KINDS = ("Fee", "Credit", "Refund", "Upfront")


@dataclass(frozen=True, slots=True)
class Case:
    """A month, the settings as they were sent one after the other, and the organisation's."""

    month: MonthlyCharges
    sent: tuple[Mapping[str, Any], ...]
    exchange_rate: Decimal
    rounding: Rounding
    usage_table: tuple[Band, ...]

    def terms(self) -> Terms:
        settled: Settled | None = None
        for setting in self.sent:
            settled = settle(setting, settled)
        assert settled is not None
        return terms_of(
            self.sent[-1],
            settled,
            exchange_rate=self.exchange_rate,
            rounding=self.rounding,
            usage_table=self.usage_table,
            month="2026-10",
        )


def random_case(random: Random) -> Case:
    vendor = random.choice(BILLED_VENDORS)
    columns = random.choice((["create"], ["create", "update"], ["either"], ["create", "either"]))
    return Case(
        month=_month(random),
        sent=tuple(_setting(random, vendor, column) for column in columns),
        exchange_rate=Decimal(random.choice(RATES)),
        rounding=random.choice(ROUNDINGS),
        usage_table=_table(random),
    )


def _setting(random: Random, vendor: BilledVendor, column: str) -> dict[str, Any]:
    """Sound: of one column, or each field of either, two words never for one dimension."""
    side = dict.fromkeys(ALLOWED, column)
    if column == "either":
        side = {field: random.choice(("create", "update")) for field in ALLOWED}
        # the two fields are crosswise: from the same column they say different things
        side["substitution_fee_target_usage"] = side["substitution_fee_calc_target"]
    setting = {}
    for field, row in ALLOWED.items():
        cell = getattr(row, side[field])
        rule = cell[vendor] if isinstance(cell, PerVendor) else cell
        assert isinstance(rule, OneOf | Between)
        setting[field] = random.choice(_allowed(rule))
    return setting


@cache
def _allowed(rule: OneOf | Between) -> tuple[str | Decimal, ...]:
    if isinstance(rule, OneOf):
        return rule.words
    return tuple(one for one in map(Decimal, (*PARTS, *FIXED)) if rule.allows(one))


def _table(random: Random) -> tuple[Band, ...]:
    ends = sorted({_positive(random) for _ in range(random.randrange(4))})
    return tuple((end, Decimal(random.choice(PARTS))) for end in [*ends, None])


def _month(random: Random) -> MonthlyCharges:
    accounts = random.sample(ACCOUNTS, random.randint(1, len(ACCOUNTS)))
    usage = [_charge(random, accounts) for _ in range(random.choice((0, 1, 2, 3, 3, 4, 6, 9)))]
    if usage and random.random() < 0.1:  # what goes out comes in again: the sum is nothing
        whole = sum((charge.amount for charge in usage), Decimal(0))
        usage.append(_charge(random, accounts, -whole))
    return MonthlyCharges(
        cost_currency=random.choice(CURRENCIES),
        usage=tuple(usage),
        entries=tuple(_entry(random, accounts, n) for n in range(random.choice((0, 0, 1, 2, 4)))),
        items=tuple(_item(random) for _ in range(random.choice((0, 0, 0, 1, 3)))),
    )


def _charge(random: Random, accounts: list[str], amount: Decimal | None = None) -> UsageCharge:
    account = random.choice(accounts)
    return UsageCharge(
        customer_id=account,
        customer_name=f"account {account}",
        tag=random.choice(TAGS),
        service=random.choice(SERVICES),
        marketplace=random.random() < 0.2,
        amount=_amount(random) if amount is None else amount,
    )


def _entry(random: Random, accounts: list[str], number: int) -> AppliedEntry:
    account = random.choice([*accounts, "only-an-entry"])
    return AppliedEntry(
        entry_id=f"entry-{number}",
        customer_id=account,
        customer_name=f"account {account}",
        calc_type=random.choice(KINDS),
        description=random.choice(("Sign up charge", "Promotion", "")),
        amount=_amount(random),
        currency=random.choice(CURRENCIES),
        exchange_rate=Decimal(random.choice(("0", "0", *RATES))),
        tax_free=random.random() < 0.4,
    )


def _item(random: Random) -> FreeItem:
    return FreeItem(
        enabled=random.random() < 0.7,
        label="Consulting",
        unit_cost=Decimal("33.335"),
        quantity=Decimal(3),
        total=_amount(random),
    )


def _amount(random: Random) -> Decimal:
    sign = -1 if random.random() < 0.2 else 1
    return sign * _positive(random) if random.random() < 0.92 else Decimal(0)


def _positive(random: Random) -> Decimal:
    """Never 0: full cost digits, prices that end in a half, tiny and huge ones."""
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
