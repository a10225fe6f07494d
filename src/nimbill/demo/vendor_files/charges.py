"""Generates the charges of a synthetic month: any number of lines, reproducible from a seed.

Charges are held as Arrow arrays and generated in blocks, so that a month of many million lines
needs little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from functools import cache
from random import Random
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.demo.vendor_files.products import PRODUCTS, TAGS

BLOCK_LINES = 65_536
# Amounts are generated as integers that count units of 1E-10.
MONEY = pa.decimal128(38, 10)
UNIT = Decimal("1E-10")
UNITS_PER_WHOLE = 10**10


class ChargeKind(IntEnum):
    """What a charge is for. Each dialect maps a kind to the vendor's line type."""

    usage = 0
    reserved_usage = 1  # covered by a reservation, cost 0
    savings_plan_usage = 2  # covered by a savings plan, listed at its full price
    savings_plan_negation = 3  # on the next line, cancels savings_plan_usage
    plan_fee = 4
    reservation_fee = 5
    fee = 6
    credit = 7
    refund = 8
    tax = 9
    discount = 10
    marketplace = 11


# Each customer gets one charge of each of these kinds, before all usage.
ONE_OFF_KINDS = (
    ChargeKind.reservation_fee,
    ChargeKind.plan_fee,
    ChargeKind.fee,
    ChargeKind.credit,
    ChargeKind.refund,
    ChargeKind.tax,
    ChargeKind.discount,
    ChargeKind.marketplace,
)
NEGATIVE_KINDS = frozenset({ChargeKind.credit, ChargeKind.refund, ChargeKind.discount})

RESERVATION_KINDS = (ChargeKind.reserved_usage, ChargeKind.reservation_fee)
SAVINGS_PLAN_KINDS = (
    ChargeKind.savings_plan_usage,
    ChargeKind.savings_plan_negation,
    ChargeKind.plan_fee,
)

# Usage lines repeat a pattern of 64 lines with three special lines at these positions. The length
# is a power of two, so that blocks never separate a savings plan line from its negation.
PATTERN_LINES = 64
RESERVED_USAGE_AT, SAVINGS_PLAN_USAGE_AT, NEGATION_AT = 60, 62, 63

AWS_CUSTOMERS = ("011254002932", "200000000017", "200000000025", "200000000033", "200000000041")


@cache
def _month_start(month: str) -> datetime:
    return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)


@cache
def _list_hours(start: datetime, end: datetime) -> tuple[datetime, ...]:
    count = int((end - start).total_seconds()) // 3600
    return tuple(start + timedelta(hours=hour) for hour in range(count))


@dataclass(frozen=True, slots=True)
class SyntheticMonth:
    """The parameters of a month. Its charges follow from the seed unless they are given."""

    vendor: str = "aws"  # or azure
    month: str = "2026-09"
    lines: int = 1_000
    seed: int = 1
    payer: str = ""
    customers: tuple[str, ...] = field(default_factory=tuple)
    currency: str = "USD"
    invoice: str | None = "2026000117"  # None until the vendor has invoiced the month
    charges: Charges | None = field(default=None, compare=False)  # replaces generated charges

    @property
    def payer_id(self) -> str:
        return self.payer or {"aws": "200000000009", "azure": "8611537"}[self.vendor]

    @property
    def customer_ids(self) -> tuple[str, ...]:
        if self.customers:
            return self.customers
        if self.vendor == "aws":
            return AWS_CUSTOMERS
        return tuple(derive_uuid(customer) for customer in AWS_CUSTOMERS)

    @property
    def start(self) -> datetime:
        return _month_start(self.month)

    @property
    def end(self) -> datetime:
        return (self.start + timedelta(days=32)).replace(day=1)

    @property
    def hours(self) -> tuple[datetime, ...]:
        return _list_hours(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Charges:
    """Some lines of a month, one array per field; fields hold positions in tables, or costs."""

    number: pa.Array
    kind: pa.Array
    customer: pa.Array
    product: pa.Array
    hour: pa.Array
    tags: pa.Array
    cost: pa.Array

    def __len__(self) -> int:
        return len(self.number)

    def select_rows(self, rows: pa.Array) -> Charges:
        return Charges(*(array.take(rows) for array in self.arrays()))

    def slice(self, start: int, count: int) -> Charges:
        return Charges(*(array.slice(start, count) for array in self.arrays()))

    def arrays(self) -> tuple[pa.Array, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


def generate_charges(
    month: SyntheticMonth, first: int = 0, count: int | None = None
) -> Iterator[Charges]:
    """Yield lines in blocks. A line does not depend on where the caller starts or stops."""
    last = month.lines if count is None else min(first + count, month.lines)
    if month.charges is not None:
        yield month.charges.slice(first, last - first)
        return
    while first < last:
        block, offset = divmod(first, BLOCK_LINES)
        size = min(last - first, BLOCK_LINES - offset)
        yield _generate_block(month, block).slice(offset, size)
        first += size


def sum_costs(month: SyntheticMonth) -> dict[tuple[str, ChargeKind], Decimal]:
    """Exact totals by customer and kind."""
    totals: dict[tuple[str, ChargeKind], Decimal] = {}
    customers = month.customer_ids
    for block in generate_charges(month):
        table = pa.table({"customer": block.customer, "kind": block.kind, "cost": block.cost})
        for row in table.group_by(["customer", "kind"]).aggregate([("cost", "sum")]).to_pylist():
            key = customers[row["customer"]], ChargeKind(row["kind"])
            totals[key] = totals.get(key, Decimal(0)) + row["cost_sum"]
    return totals


def derive_uuid(text: str) -> str:
    """Return the same UUID for the same text."""
    return str(UUID(int=Random(f"uuid {text}").getrandbits(128), version=4))


# ── generation ───────────────────────────────────────────────────────────────────────────────────


def _generate_block(month: SyntheticMonth, block: int) -> Charges:
    random = Random(f"{month.seed} {month.month} {block}")  # independent of the vendor
    first = block * BLOCK_LINES
    count = min(BLOCK_LINES, month.lines - first)
    kind, source_row = (array.slice(0, count) for array in _usage_pattern())
    customer = _random_below(random, len(month.customer_ids), count)
    product = _random_below(random, len(PRODUCTS), count)
    hour = _random_below(random, len(month.hours), count)
    tags = _random_below(random, len(TAGS), count)
    amounts = _random_amounts(random, count)
    one_off_count = len(ONE_OFF_KINDS) * len(month.customer_ids)
    one_off = range(first, max(first, min(one_off_count, first + count)))
    if one_off:
        kinds = [int(ONE_OFF_KINDS[number % len(ONE_OFF_KINDS)]) for number in one_off]
        # Continue at a pattern boundary, so that no negation loses its savings plan line.
        kinds += [int(ChargeKind.usage)] * min(-len(one_off) % PATTERN_LINES, count - len(one_off))
        kind = _replace_start(kind, kinds)
        source_row = _replace_start(source_row, list(range(len(kinds))))
        customer = _replace_start(customer, [number // len(ONE_OFF_KINDS) for number in one_off])
    return Charges(
        number=pa.array(range(first, first + count), pa.int64()),
        kind=kind,
        customer=customer.take(source_row),
        product=product.take(source_row),
        hour=hour.take(source_row),
        tags=tags.take(source_row),
        cost=_signed_costs(amounts.take(source_row), kind),
    )


@cache
def _usage_pattern() -> tuple[pa.Array, pa.Array]:
    """Return the kind of each usage line of a block, and the row that provides its values.

    A negation takes its values from the line before and differs from it only in the sign.
    """
    kinds = [int(ChargeKind.usage)] * PATTERN_LINES
    kinds[RESERVED_USAGE_AT] = int(ChargeKind.reserved_usage)
    kinds[SAVINGS_PLAN_USAGE_AT] = int(ChargeKind.savings_plan_usage)
    kinds[NEGATION_AT] = int(ChargeKind.savings_plan_negation)
    kinds *= BLOCK_LINES // PATTERN_LINES
    source_row = [row - (row % PATTERN_LINES == NEGATION_AT) for row in range(BLOCK_LINES)]
    return pa.array(kinds, pa.int32()), pa.array(source_row, pa.int32())


def _replace_start(array: pa.Array, values: list[int]) -> pa.Array:
    return pa.concat_arrays([pa.array(values, array.type), array.slice(len(values))])


def _random_words(random: Random, count: int) -> pa.Array:
    """Draw a full block in any case, so that later draws do not depend on `count`."""
    bits = pa.py_buffer(random.randbytes(4 * BLOCK_LINES))
    return pa.Array.from_buffers(pa.uint32(), count, [None, bits]).cast(pa.uint64())


def _random_below(random: Random, bound: int, count: int) -> pa.Array:
    scaled = pc.multiply(_random_words(random, count), pa.scalar(bound, pa.uint64()))
    return pc.shift_right(scaled, pa.scalar(32, pa.uint64())).cast(pa.int32())


def _random_amounts(random: Random, count: int) -> pa.Array:
    """Amounts in units of 1E-10: most are small, some tiny, a few large."""
    size, amount = _random_below(random, 100, count), _random_words(random, count)
    shift = pc.if_else(
        pc.less(size, 70), 6, pc.if_else(pc.less(size, 95), 2, pc.if_else(pc.less(size, 98), 20, 0))
    )
    small = pc.shift_right(amount, shift.cast(pa.uint64()))
    large = pc.multiply(amount, pa.scalar(1_000, pa.uint64()))
    return pc.if_else(pc.equal(size, 99), large, small).cast(pa.int64())


def _signed_costs(amounts: pa.Array, kind: pa.Array) -> pa.Array:
    free = pc.equal(kind, int(ChargeKind.reserved_usage))
    negative = pc.is_in(
        kind, pa.array(sorted([*NEGATIVE_KINDS, ChargeKind.savings_plan_negation]), pa.int32())
    )
    one_off = pc.greater_equal(kind, int(ChargeKind.plan_fee))
    one_off_units = pc.add(pc.multiply(pc.bit_wise_and(amounts, 0xFFFF_FFFF), 29), UNITS_PER_WHOLE)
    units = pc.if_else(one_off, one_off_units, amounts)
    units = pc.if_else(free, pa.scalar(0, pa.int64()), units)
    units = pc.if_else(negative, pc.negate(units), units)
    scale = pa.scalar(UNIT, pa.decimal128(10, 10))
    return pc.multiply(units.cast(pa.decimal128(19, 0)), scale).cast(MONEY)
