"""Months of cost lines made at random from a seed, and their sums worked out by hand."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.cost_line import SCHEMA

Line = dict[str, Any]
Sums = dict[tuple[Hashable, ...], tuple[Fraction, int]]

MIDNIGHT = datetime(2026, 9, 1, tzinfo=UTC)
JUST_BEFORE = timedelta(microseconds=1)
LARGEST = 10**38 - 1  # of what has 38 digits, 22 of them behind the point

WORDS = {
    "Usage": ("usage", None),
    "RIFee": ("usage", None),
    "DiscountedUsage": ("usage", None),
    "SavingsPlanNegation": ("usage", None),
    "Fee": ("entry", "Fee"),
    "Credit": ("entry", "Credit"),
    "Tax": ("tax", None),
    "EdpDiscount": ("discount", None),
    "FlatRateSubscription": ("unknown", None),
}
KEYS = (
    "user:Team",
    "user:team",
    "",
    " ",
    "a,b",
    "it's",
    'say "so"',
    "back\\slash",
    "${key}",
    "チーム",
    "👩‍💻",
    "\u00e9",
    "e\u0301",
    "line\nbreak",
    "tab\t",
    "null",
    "__proto__",
)
VALUES = ("", "prod", "Prod", "prod ", "NULL", "0", "値", "a;b|c", None)


def cost_of(digits: int) -> Decimal:
    """So many of the smallest amounts there are."""
    return Decimal(f"{digits}E-22")  # as text: arithmetic would round to 28 digits


def line(**given: Any) -> Line:
    """A plain line of usage, but for what is given."""
    plain: Line = {
        "part": 0,
        "line": 2,
        "payer_id": "836060457634",
        "customer_id": "011254002932",
        "billing_entity": "AWS",
        "line_type": "Usage",
        "kind": "usage",
        "service": "AmazonEC2",
        "marketplace": False,
        "cost": Decimal("1.5"),
        "currency": "USD",
        "usage_start": MIDNIGHT,
        "tags": [],
    }
    return dict.fromkeys(SCHEMA.names) | plain | given


def month(seed: int, lines: int, *, largest: int = 10**30) -> list[Line]:
    """`largest` bounds the costs, counted in the smallest amount: 10^30 of them is 10^8."""
    chance = random.Random(seed)
    return [_line(chance, number, largest) for number in range(lines)]


def _line(chance: random.Random, number: int, largest: int) -> Line:
    line_type = chance.choice(list(WORDS))
    kind, entry_type = WORDS[line_type]
    reserved = line_type in ("RIFee", "DiscountedUsage") or chance.random() < 0.05
    return line(
        part=chance.randrange(3),
        line=number + 2,
        payer_id=chance.choice(("836060457634", "000000000001")),
        customer_id=chance.choice(("011254002932", "836060457634", "000000000000")),
        line_type=line_type,
        kind=kind,
        entry_type=entry_type,
        service=chance.choice(("AmazonEC2", "AmazonS3", "サービス", "")),
        marketplace=chance.random() < 0.2,
        description=chance.choice((None, "", "$0.1 per hour")),
        cost=cost_of(_digits(chance, largest)),
        currency=chance.choice(("USD", "USD", "JPY")),
        usage_start=_moment(chance),
        usage_end=chance.choice((None, _moment(chance))),
        invoice_id=chance.choice((None, "42")),
        reservation_id=chance.choice(("arn:ri/1", "arn:ri/2")) if reserved else None,
        reservation_number=chance.choice((None, 1, 7)) if reserved else None,
        offer_class=chance.choice((None, "standard", "convertible")) if reserved else None,
        tags=[(key, chance.choice(VALUES)) for key in chance.sample(KEYS, chance.randrange(4))],
    )


def _digits(chance: random.Random, largest: int) -> int:
    """Of every size, not only of the largest; nothing and the smallest of all among them."""
    size = chance.randrange(len(str(largest)))
    some = chance.choice((0, 1, chance.randrange(10**size), chance.randrange(largest)))
    return chance.choice((some, some, -some))


def _moment(chance: random.Random) -> datetime:
    day = MIDNIGHT + timedelta(days=chance.randrange(31))
    moment = (day, day - JUST_BEFORE, day + timedelta(seconds=chance.randrange(86_400)))
    return chance.choice(moment)


def write_month(lines: Sequence[Line], folder: Path, *, files: int = 2) -> list[Path]:
    """Spread over files, in groups of rows that are small enough for there to be several."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number in range(files):
        path = folder / f"{number:05}.parquet"
        table = pa.Table.from_pylist(lines[number::files], schema=SCHEMA)
        pq.write_table(table, path, compression="zstd", row_group_size=100)
        written.append(path)
    return written


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────

_WHAT = ("payer_id", "customer_id", "line_type", "kind", "service", "marketplace")


def monthly_sums_by_hand(lines: Sequence[Line]) -> Sums:
    return _summed(
        ((*(one[name] for name in _WHAT), one["usage_start"].date(), one["currency"]), one["cost"])
        for one in lines
    )


def tag_sums_by_hand(lines: Sequence[Line]) -> Sums:
    return _summed(
        ((*(one[name] for name in _WHAT), key, value or "", one["currency"]), one["cost"])
        for one in lines
        for key, value in one["tags"]
    )


def reservation_fees_by_hand(lines: Sequence[Line]) -> Sums:
    names = ("reservation_id", "payer_id", "customer_id", "currency")
    return _summed(
        (
            tuple(one[name] for name in names),
            one["cost"] if one["kind"] == "usage" else Decimal(0),
        )
        for one in lines
        if one["reservation_id"] is not None
    )


def _summed(parts: Iterator[tuple[tuple[Hashable, ...], Decimal]]) -> Sums:
    sums: dict[tuple[Hashable, ...], list[Any]] = defaultdict(lambda: [Fraction(0), 0])
    for key, cost in parts:
        sums[key][0] += Fraction(cost)
        sums[key][1] += 1
    return {key: (cost, count) for key, (cost, count) in sums.items()}


def as_sums(answer: pa.Table, amount: str = "cost") -> Sums:
    """An engine's answer in the same form; the keys are what stands before the amount."""
    keys = answer.column_names[: answer.column_names.index(amount)]
    rows = answer.to_pylist()
    found = {tuple(row[key] for key in keys): (Fraction(row[amount]), row["lines"]) for row in rows}
    assert len(found) == len(rows), "a group stands twice"
    return found


BY_HAND: dict[str, tuple[Callable[[Sequence[Line]], Sums], str]] = {
    "monthly_sums": (monthly_sums_by_hand, "cost"),
    "tag_sums": (tag_sums_by_hand, "cost"),
    "reservation_lines": (reservation_fees_by_hand, "fee"),
}
