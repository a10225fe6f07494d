"""What the story's accounts used in a month: believable amounts, the same at every start."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random

import pyarrow as pa

from nimbill.demo.fixtures import CloudAccount, accounts_of, weight
from nimbill.demo.story import AOZORA, Reseller
from nimbill.demo.story_months import (
    AZURE_MARKETPLACE,
    ENTRIES,
    MARKETPLACE,
    MONTHS,
    RESERVATIONS,
    SAVINGS_PLANS,
    VENDORS_DISCOUNT,
)
from nimbill.demo.vendor_files.months import MONEY, ONE_WHOLE, TEN_PLACES, Charges, Kind

# Of what is spent, how much on each of vendor_products.PRODUCTS, in thousandths.
SHARES = (420, 90, 45, 110, 230, 25, 30, 50)
COMPUTE, LINES_OF_A_SERVICE = 0, 3
DAYS_FULL = 28  # usage is told on these days, whichever month it is
# How a year goes, January first, in thousandths of the average.
SEASONS = (955, 940, 1_020, 985, 975, 990, 1_010, 965, 1_000, 1_015, 1_045, 1_100)
STRAY_SPENDS = {"aws": 210, "azure": 24_000}
GROWTH = 12  # thousandths a month, in the average
TAGS_OF_PRODUCTION, TAGS_OF_OTHERS = (2, 2, 3, 3, 2, 5, 0), (1, 1, 4, 4, 7, 0)

Line = tuple[Kind, int, int, int, int, int]  # kind, customer, product, hour, tags, ten-billionths


def charges_of(
    reseller: Reseller, vendor: str, month: str, strays: tuple[str, ...], days: int
) -> tuple[tuple[str, ...], Charges]:
    """The accounts in the vendor's file, and its lines; `days` of the month are over."""
    accounts = [one for one in accounts_of(reseller) if one.vendor == vendor]
    lines = [
        line
        for at, account in enumerate(accounts)
        for line in _lines(reseller, account, at, month, days)
    ]
    for at, stray in enumerate(strays, start=len(accounts)):
        spent = STRAY_SPENDS[vendor] * ONE_WHOLE
        lines += _usage(Random(f"{stray} {month}"), at, spent, days, TAGS_OF_OTHERS)
    customer_ids = (*(account.customer_id for account in accounts), *strays)
    return customer_ids, _as_charges(lines)


def _lines(
    reseller: Reseller, account: CloudAccount, at: int, month: str, days: int
) -> Iterator[Line]:
    random = Random(f"{account.customer_id} {month}")
    tags = TAGS_OF_OTHERS if account.number else TAGS_OF_PRODUCTION
    used = list(_usage(random, at, _spent(account, month), days, tags))
    yield from used
    whole = sum(line[-1] for line in used)
    once = list(_once(account, at, month, days)) if reseller is AOZORA else []
    yield from once
    group = account.customer.billinggroup_id
    if reseller is AOZORA and account.vendor == "aws":
        yield from _covered(account, at, days, tags[1])
        if group in VENDORS_DISCOUNT:
            yield _line(Kind.discount, at, -whole * VENDORS_DISCOUNT[group] // 100)
    yield _line(Kind.tax, at, (whole + sum(line[-1] for line in once)) // 10)


def _spent(account: CloudAccount, month: str) -> int:
    """By the customer's size, the account's part in it, the season, and how the customer does."""
    cloud = account.customer.clouds[account.vendor]
    parts = sum(weight(number) for number in range(cloud.accounts))
    spent = cloud.spend * ONE_WHOLE * weight(account.number) // parts
    of_customer = Random(account.customer.company_name)
    growth = 1_000 + (GROWTH + of_customer.randint(-15, 25)) * (MONTHS.index(month) - 6)
    jitter = Random(f"{account.customer_id} {month} size").randint(930, 1_070)
    return spent * growth * SEASONS[int(month[5:]) - 1] * jitter // 1_000**3


def _usage(random: Random, at: int, spent: int, days: int, tags: tuple[int, ...]) -> Iterator[Line]:
    """Some services, each in a few lines over the days that are over."""
    left_out = Random(f"services {at}").sample(range(1, len(SHARES)), 3)
    for product, share in enumerate(SHARES):
        if product in left_out:
            continue
        of_service = spent * share // (1_000 - sum(SHARES[one] for one in left_out))
        cuts = sorted(random.randint(200, 800) for _ in range(LINES_OF_A_SERVICE - 1))
        edges = [0, *cuts, 1_000]
        for line in range(LINES_OF_A_SERVICE):
            day = DAYS_FULL * line // LINES_OF_A_SERVICE + random.randint(0, 8)
            amount = of_service * (edges[line + 1] - edges[line]) // 1_000
            amount -= random.randint(0, amount // 50 + 1)  # no two months end on the same digits
            if day < days:
                hour = 24 * day + random.randint(0, 23)
                yield Kind.usage, at, product, hour, random.choice(tags), amount


def _once(account: CloudAccount, at: int, month: str, days: int) -> Iterator[Line]:
    """What is on its customer's first account: fees, purchases, entries."""
    if account.number:
        return
    group, vendor = account.customer.billinggroup_id, account.vendor
    marketplace = MARKETPLACE if vendor == "aws" else AZURE_MARKETPLACE
    tables = [(Kind.marketplace, marketplace)]
    if vendor == "aws":
        tables += [(Kind.reservation_fee, RESERVATIONS), (Kind.plan_fee, SAVINGS_PLANS)]
    for kind, table in tables:
        if group in table:
            yield _line(kind, at, table[group] * ONE_WHOLE * days // DAYS_FULL)
    for entry in ENTRIES:
        if (entry.month, entry.vendor, entry.billinggroup_id) == (month, vendor, group):
            yield _line(Kind[entry.kind], at, int(entry.amount * ONE_WHOLE))


def _covered(account: CloudAccount, at: int, days: int, tags: int) -> Iterator[Line]:
    """A reservation's usage costs nothing, a plan's is taken back in the next line."""
    if account.number:
        return
    group = account.customer.billinggroup_id
    for day in range(min(days, DAYS_FULL)):
        if group in RESERVATIONS:
            yield Kind.covered, at, COMPUTE, 24 * day, tags, 0
        if group in SAVINGS_PLANS:
            price = SAVINGS_PLANS[group] * ONE_WHOLE // 20
            yield Kind.planned, at, COMPUTE, 24 * day, tags, price
            yield Kind.negation, at, COMPUTE, 24 * day, tags, -price


def _line(kind: Kind, at: int, amount: int) -> Line:
    """On the first of the month, and without tags."""
    return kind, at, COMPUTE, 0, 0, amount


def _as_charges(lines: list[Line]) -> Charges:
    kind, customer, product, hour, tags, amount = (
        list(field) for field in zip(*lines, strict=True)
    )
    costs = [Decimal(one) * TEN_PLACES for one in amount]
    return Charges(
        number=pa.array(range(len(lines)), pa.int64()),
        kind=pa.array([int(one) for one in kind], pa.int32()),
        customer=pa.array(customer, pa.int32()),
        product=pa.array(product, pa.int32()),
        hour=pa.array(hour, pa.int32()),
        tags=pa.array(tags, pa.int32()),
        cost=pa.array(costs, MONEY),
    )
