"""Charges of the demo's cloud accounts: plausible amounts, the same at every start."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import NamedTuple

import pyarrow as pa

from nimbill.demo.fixtures import FULL_PORTAL, DemoCloudAccount, list_cloud_accounts, weight
from nimbill.demo.monthly_data import (
    AWS_MARKETPLACE_CHARGES,
    AZURE_MARKETPLACE_CHARGES,
    COMPUTE_PEAKS,
    MONTHS,
    ONE_OFF_CHARGES,
    RESERVATION_FEES,
    SAVINGS_PLAN_FEES,
    VENDOR_DISCOUNT_PERCENT,
)
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill.demo.vendor_files.charges import MONEY, UNIT, UNITS_PER_WHOLE, ChargeKind, Charges
from nimbill.demo.vendor_files.products import PRODUCTS

# Share of each product of vendor_files.products in the spend, in thousandths.
PRODUCT_SHARES = (420, 90, 45, 110, 230, 25, 30, 50)
COMPUTE = 0  # position in PRODUCTS
LINES_PER_PRODUCT = 3
PEAK_FACTOR = 4  # of compute on an unusual day
USAGE_DAYS = 28  # usage falls on these days of every month
# Seasonal factor of each calendar month, in thousandths of the average.
SEASONS = (955, 940, 1_020, 985, 975, 990, 1_010, 965, 1_000, 1_015, 1_045, 1_100)
UNASSIGNED_SPEND = {"aws": 210, "azure": 24_000}
GROWTH = 12  # average growth per month, in thousandths
# Positions in vendor_files.products.TAGS, drawn at random for each usage line.
PRODUCTION_TAGS, OTHER_TAGS = (2, 2, 3, 3, 2, 5, 0), (1, 1, 4, 4, 7, 0)


class ChargeLine(NamedTuple):
    """One line. All fields but `kind` and `units` are positions in lookup tables."""

    kind: ChargeKind
    customer: int
    product: int
    hour: int
    tags: int
    units: int  # of 1E-10


def build_charges(
    reseller: DemoReseller, vendor: str, month: str, unassigned: tuple[str, ...], days: int
) -> tuple[tuple[str, ...], Charges]:
    """Return the accounts in the vendor's file and its lines for the first `days` of the month."""
    accounts = [account for account in list_cloud_accounts(reseller) if account.vendor == vendor]
    lines = [
        line
        for position, account in enumerate(accounts)
        for line in _account_lines(reseller, account, position, month, days)
    ]
    for position, customer_id in enumerate(unassigned, start=len(accounts)):
        spend = UNASSIGNED_SPEND[vendor] * UNITS_PER_WHOLE
        random = Random(f"{customer_id} {month}")
        lines += _usage_lines(random, position, spend, days, OTHER_TAGS)
    customer_ids = (*(account.customer_id for account in accounts), *unassigned)
    return customer_ids, _to_charges(lines)


def _account_lines(
    reseller: DemoReseller, account: DemoCloudAccount, position: int, month: str, days: int
) -> Iterator[ChargeLine]:
    random = Random(f"{account.customer_id} {month}")
    tags = OTHER_TAGS if account.number else PRODUCTION_TAGS
    spend, group = _spend(account, month), account.customer.billinggroup_id
    if reseller is AOZORA and group == FULL_PORTAL:
        usage = _spread_compute(
            list(_usage_lines(random, position, spend, USAGE_DAYS, tags)), account, month, tags
        )
        usage = [line for line in usage if line.hour < 24 * days]
    else:
        usage = list(_usage_lines(random, position, spend, days, tags))
    yield from usage
    usage_total = sum(line.units for line in usage)
    one_off = list(_one_off_lines(account, position, month, days)) if reseller is AOZORA else []
    yield from one_off
    if reseller is AOZORA and account.vendor == "aws":
        yield from _covered_usage_lines(account, position, days, tags[1])
        if group in VENDOR_DISCOUNT_PERCENT:
            discount = -usage_total * VENDOR_DISCOUNT_PERCENT[group] // 100
            yield _untagged_line(ChargeKind.discount, position, discount)
    tax = (usage_total + sum(line.units for line in one_off)) // 10
    yield _untagged_line(ChargeKind.tax, position, tax)


def _spend(account: DemoCloudAccount, month: str) -> int:
    """The account's share of the customer's spend, with growth, season and random variation."""
    contract = account.customer.contracts[account.vendor]
    total_weight = sum(weight(number) for number in range(contract.accounts))
    spend = contract.spend * UNITS_PER_WHOLE * weight(account.number) // total_weight
    customer_random = Random(account.customer.company_name)
    growth = 1_000 + (GROWTH + customer_random.randint(-15, 25)) * (MONTHS.index(month) - 6)
    variation = Random(f"{account.customer_id} {month} size").randint(930, 1_070)
    return spend * growth * SEASONS[int(month[5:]) - 1] * variation // 1_000**3


def _usage_lines(
    random: Random, customer: int, spend: int, days: int, tags: tuple[int, ...]
) -> Iterator[ChargeLine]:
    """Usage of five of the eight products, each in a few lines over the month."""
    unused = Random(f"services {customer}").sample(range(1, len(PRODUCT_SHARES)), 3)
    used_share = 1_000 - sum(PRODUCT_SHARES[product] for product in unused)
    for product, share in enumerate(PRODUCT_SHARES):
        if product in unused:
            continue
        product_spend = spend * share // used_share
        cuts = sorted(random.randint(200, 800) for _ in range(LINES_PER_PRODUCT - 1))
        edges = [0, *cuts, 1_000]
        for line in range(LINES_PER_PRODUCT):
            day = USAGE_DAYS * line // LINES_PER_PRODUCT + random.randint(0, 8)
            units = product_spend * (edges[line + 1] - edges[line]) // 1_000
            units -= random.randint(0, units // 50 + 1)  # so that the last digits vary
            if day < days:
                hour = 24 * day + random.randint(0, 23)
                yield ChargeLine(
                    ChargeKind.usage, customer, product, hour, random.choice(tags), units
                )


def _spread_compute(
    lines: list[ChargeLine], account: DemoCloudAccount, month: str, tags: tuple[int, ...]
) -> list[ChargeLine]:
    """Compute runs every day, so that the portal knows what is usual; the sum stays the same."""
    random = Random(f"{account.customer_id} {month} days")
    code = PRODUCTS[COMPUTE].code
    compute = [line for line in lines if PRODUCTS[line.product].code == code]
    shares = [random.randint(880, 1_120) for _ in range(USAGE_DAYS)]
    if account.number == 0 and month in COMPUTE_PEAKS:
        shares[COMPUTE_PEAKS[month] - 1] *= PEAK_FACTOR
    units, total = sum(line.units for line in compute), sum(shares)
    edges = [units * sum(shares[:day]) // total for day in range(USAGE_DAYS + 1)]
    daily = [
        compute[0]._replace(
            hour=24 * day + random.randint(0, 23),
            tags=random.choice(tags),
            units=edges[day + 1] - edges[day],
        )
        for day in range(USAGE_DAYS)
    ]
    return daily + [line for line in lines if PRODUCTS[line.product].code != code]


def _one_off_lines(
    account: DemoCloudAccount, position: int, month: str, days: int
) -> Iterator[ChargeLine]:
    """Fees, purchases and one-off charges, which fall on the production account."""
    if account.number:
        return
    group, vendor = account.customer.billinggroup_id, account.vendor
    if vendor == "aws":
        tables = [
            (ChargeKind.marketplace, AWS_MARKETPLACE_CHARGES),
            (ChargeKind.reservation_fee, RESERVATION_FEES),
            (ChargeKind.plan_fee, SAVINGS_PLAN_FEES),
        ]
    else:
        tables = [(ChargeKind.marketplace, AZURE_MARKETPLACE_CHARGES)]
    for kind, table in tables:
        if group in table:
            units = table[group] * UNITS_PER_WHOLE * days // USAGE_DAYS
            yield _untagged_line(kind, position, units)
    for charge in ONE_OFF_CHARGES:
        if (charge.month, charge.vendor, charge.billinggroup_id) == (month, vendor, group):
            units = int(charge.amount * UNITS_PER_WHOLE)
            yield _untagged_line(ChargeKind[charge.kind], position, units)


def _covered_usage_lines(
    account: DemoCloudAccount, position: int, days: int, tags: int
) -> Iterator[ChargeLine]:
    """Usage under a reservation costs 0; usage under a savings plan is cancelled by a negation."""
    if account.number:
        return
    group = account.customer.billinggroup_id
    for day in range(min(days, USAGE_DAYS)):
        hour = 24 * day
        if group in RESERVATION_FEES:
            yield ChargeLine(ChargeKind.reserved_usage, position, COMPUTE, hour, tags, 0)
        if group in SAVINGS_PLAN_FEES:
            price = SAVINGS_PLAN_FEES[group] * UNITS_PER_WHOLE // 20
            usage = ChargeLine(ChargeKind.savings_plan_usage, position, COMPUTE, hour, tags, price)
            yield usage
            yield usage._replace(kind=ChargeKind.savings_plan_negation, units=-price)


def _untagged_line(kind: ChargeKind, customer: int, units: int) -> ChargeLine:
    """A line without tags on the first of the month."""
    return ChargeLine(kind, customer, COMPUTE, 0, 0, units)


def _to_charges(lines: list[ChargeLine]) -> Charges:
    costs = [Decimal(line.units) * UNIT for line in lines]
    return Charges(
        number=pa.array(range(len(lines)), pa.int64()),
        kind=pa.array([int(line.kind) for line in lines], pa.int32()),
        customer=pa.array([line.customer for line in lines], pa.int32()),
        product=pa.array([line.product for line in lines], pa.int32()),
        hour=pa.array([line.hour for line in lines], pa.int32()),
        tags=pa.array([line.tags for line in lines], pa.int32()),
        cost=pa.array(costs, MONEY),
    )
