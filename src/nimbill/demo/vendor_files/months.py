"""An invented month of a vendor's charges, the same for the same seed, in any number of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import IntEnum
from functools import cache
from random import Random
from typing import Literal
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.demo.vendor_files.products import PRODUCTS, TAGS

BLOCK_LINES = 65_536
MONEY = pa.decimal128(38, 10)
TEN_PLACES = Decimal("1E-10")
ONE_WHOLE = 10**10


class Kind(IntEnum):
    """What a charge is; which word a vendor has for it stands with the dialects."""

    usage = 0
    covered = 1  # by a reservation, and so at 0
    planned = 2  # covered by a savings plan, told at its full price
    negation = 3  # and taken back in the next line
    plan_fee = 4
    reservation_fee = 5
    fee = 6
    credit = 7
    refund = 8
    tax = 9
    discount = 10
    marketplace = 11


# what each customer is charged once, before all usage
ONCE = (
    Kind.reservation_fee,
    Kind.plan_fee,
    Kind.fee,
    Kind.credit,
    Kind.refund,
    Kind.tax,
    Kind.discount,
    Kind.marketplace,
)
NEGATIVE = frozenset({Kind.credit, Kind.refund, Kind.discount})

# of every 64 lines of usage; a power of two, so that no pair falls apart between two blocks
PATTERN = 64
COVERED_AT, PLANNED_AT, NEGATION_AT = 60, 62, 63


def _aws_customers() -> tuple[str, ...]:
    return ("011254002932", "200000000017", "200000000025", "200000000033", "200000000041")


@cache
def _start(month: str) -> datetime:
    return datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)


@cache
def _hours(start: datetime, end: datetime) -> tuple[datetime, ...]:
    count = int((end - start).total_seconds()) // 3600
    return tuple(start + timedelta(hours=hour) for hour in range(count))


@dataclass(frozen=True, slots=True)
class Month:
    """Whose month it is and how long; everything else follows from the seed."""

    vendor: Literal["aws", "azure"] = "aws"
    month: str = "2026-09"
    lines: int = 1_000
    seed: int = 1
    payer: str = ""
    customers: tuple[str, ...] = field(default_factory=tuple)
    currency: str = "USD"
    invoice: str | None = "2026000117"  # None while the vendor has not invoiced it
    told: Charges | None = field(default=None, compare=False)  # instead of invented ones

    @property
    def payer_id(self) -> str:
        return self.payer or {"aws": "200000000009", "azure": "8611537"}[self.vendor]

    @property
    def customer_ids(self) -> tuple[str, ...]:
        if self.customers:
            return self.customers
        numbers = _aws_customers()
        return numbers if self.vendor == "aws" else tuple(invented_uuid(one) for one in numbers)

    @property
    def start(self) -> datetime:
        return _start(self.month)

    @property
    def end(self) -> datetime:
        return (self.start + timedelta(days=32)).replace(day=1)

    @property
    def hours(self) -> tuple[datetime, ...]:
        return _hours(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Charges:
    """Some lines of a month, each field as an array: positions in the tables, and costs."""

    number: pa.Array
    kind: pa.Array
    customer: pa.Array
    product: pa.Array
    hour: pa.Array
    tags: pa.Array
    cost: pa.Array

    def __len__(self) -> int:
        return len(self.number)

    def taken(self, rows: pa.Array) -> Charges:
        return Charges(*(array.take(rows) for array in self.arrays()))

    def slice(self, start: int, count: int) -> Charges:
        return Charges(*(array.slice(start, count) for array in self.arrays()))

    def arrays(self) -> tuple[pa.Array, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)


def charges(month: Month, first: int = 0, count: int | None = None) -> Iterator[Charges]:
    """Its lines from `first` on, in blocks; the same lines however they are asked for."""
    last = month.lines if count is None else min(first + count, month.lines)
    if month.told is not None:
        yield month.told.slice(first, last - first)
        return
    while first < last:
        block, offset = divmod(first, BLOCK_LINES)
        here = min(last - first, BLOCK_LINES - offset)
        yield _block(month, block).slice(offset, here)
        first += here


def costs_of(month: Month) -> dict[tuple[str, Kind], Decimal]:
    """What each customer is charged of each kind, added exactly."""
    sums: dict[tuple[str, Kind], Decimal] = {}
    customers = month.customer_ids
    for block in charges(month):
        table = pa.table({"who": block.customer, "kind": block.kind, "cost": block.cost})
        for row in table.group_by(["who", "kind"]).aggregate([("cost", "sum")]).to_pylist():
            key = customers[row["who"]], Kind(row["kind"])
            sums[key] = sums.get(key, Decimal(0)) + row["cost_sum"]
    return sums


def invented_uuid(word: str) -> str:
    """A UUID of its own for a word, always the same."""
    return str(UUID(int=Random(f"uuid {word}").getrandbits(128), version=4))


# ── making them ──────────────────────────────────────────────────────────────────────────────────


def _block(month: Month, block: int) -> Charges:
    random = Random(f"{month.seed} {month.month} {block}")  # the same whoever the vendor is
    first = block * BLOCK_LINES
    count = min(BLOCK_LINES, month.lines - first)
    kind, like = (array.slice(0, count) for array in _pattern())
    customer = _random_below(random, len(month.customer_ids), count)
    product = _random_below(random, len(PRODUCTS), count)
    hour = _random_below(random, len(month.hours), count)
    tags = _random_below(random, len(TAGS), count)
    amounts = _amounts(random, count)
    once = range(first, max(first, min(len(ONCE) * len(month.customer_ids), first + count)))
    if once:
        kinds = [int(ONCE[number % len(ONCE)]) for number in once]
        # a pair must not lose its first line alone
        kinds += [int(Kind.usage)] * min(-len(once) % PATTERN, count - len(once))
        kind = _with_head(kind, kinds)
        like = _with_head(like, list(range(len(kinds))))
        customer = _with_head(customer, [number // len(ONCE) for number in once])
    return Charges(
        number=pa.array(range(first, first + count), pa.int64()),
        kind=kind,
        customer=customer.take(like),
        product=product.take(like),
        hour=hour.take(like),
        tags=tags.take(like),
        cost=_money(amounts.take(like), kind),
    )


@cache
def _pattern() -> tuple[pa.Array, pa.Array]:
    """The kinds of a block of usage, and for each line the one it repeats: itself, or the one
    before, of which a line that takes it back differs in nothing but the sign."""
    kinds = [int(Kind.usage)] * PATTERN
    kinds[COVERED_AT] = int(Kind.covered)
    kinds[PLANNED_AT], kinds[NEGATION_AT] = int(Kind.planned), int(Kind.negation)
    like = [row - (row % PATTERN == NEGATION_AT) for row in range(BLOCK_LINES)]
    return pa.array(kinds * (BLOCK_LINES // PATTERN), pa.int32()), pa.array(like, pa.int32())


def _with_head(array: pa.Array, head: list[int]) -> pa.Array:
    return pa.concat_arrays([pa.array(head, array.type), array.slice(len(head))])


def _random_words(random: Random, count: int) -> pa.Array:
    """As many as are needed of a whole block's, so that the next do not depend on how many."""
    bits = pa.py_buffer(random.randbytes(4 * BLOCK_LINES))
    return pa.Array.from_buffers(pa.uint32(), count, [None, bits]).cast(pa.uint64())


def _random_below(random: Random, bound: int, count: int) -> pa.Array:
    scaled = pc.multiply(_random_words(random, count), pa.scalar(bound, pa.uint64()))
    return pc.shift_right(scaled, pa.scalar(32, pa.uint64())).cast(pa.int32())


def _amounts(random: Random, count: int) -> pa.Array:
    """In ten-billionths: most are small, a few large, some next to nothing."""
    size, amount = _random_below(random, 100, count), _random_words(random, count)
    shift = pc.if_else(
        pc.less(size, 70), 6, pc.if_else(pc.less(size, 95), 2, pc.if_else(pc.less(size, 98), 20, 0))
    )
    few = pc.shift_right(amount, shift.cast(pa.uint64()))
    large = pc.multiply(amount, pa.scalar(1_000, pa.uint64()))
    return pc.if_else(pc.equal(size, 99), large, few).cast(pa.int64())


def _money(amounts: pa.Array, kind: pa.Array) -> pa.Array:
    free = pc.equal(kind, int(Kind.covered))
    negative = pc.is_in(kind, pa.array(sorted([*NEGATIVE, Kind.negation]), pa.int32()))
    once = pc.greater_equal(kind, int(Kind.plan_fee))
    a_few = pc.add(pc.multiply(pc.bit_wise_and(amounts, 0xFFFF_FFFF), 29), ONE_WHOLE)
    units = pc.if_else(once, a_few, amounts)
    units = pc.if_else(free, pa.scalar(0, pa.int64()), units)
    units = pc.if_else(negative, pc.negate(units), units)
    scale = pa.scalar(TEN_PLACES, pa.decimal128(10, 10))
    return pc.multiply(units.cast(pa.decimal128(19, 0)), scale).cast(MONEY)
