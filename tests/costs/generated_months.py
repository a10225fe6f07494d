"""Random months of cost lines, generated from a seed, and their sums computed in Python."""

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
MICROSECOND = timedelta(microseconds=1)
LARGEST_UNITS = 10**38 - 1  # the largest cost in units of the 22nd decimal

LINE_TYPES = {
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
TAG_KEYS = (
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
TAG_VALUES = ("", "prod", "Prod", "prod ", "NULL", "0", "値", "a;b|c", None)


def amount_of_units(units: int) -> Decimal:
    """A unit is the smallest amount, 1E-22."""
    return Decimal(f"{units}E-22")  # as text: arithmetic would round to 28 digits


def build_line(**fields: Any) -> Line:
    """A line of usage; `fields` replace its default values."""
    defaults: Line = {
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
    return dict.fromkeys(SCHEMA.names) | defaults | fields


def generate_month(seed: int, lines: int, *, largest: int = 10**30) -> list[Line]:
    """`largest` limits the costs, in units of the smallest amount: 10^30 units are 10^8."""
    chance = random.Random(seed)
    return [_generate_line(chance, number, largest) for number in range(lines)]


def _generate_line(chance: random.Random, number: int, largest: int) -> Line:
    line_type = chance.choice(list(LINE_TYPES))
    kind, entry_type = LINE_TYPES[line_type]
    reserved = line_type in ("RIFee", "DiscountedUsage") or chance.random() < 0.05
    return build_line(
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
        cost=amount_of_units(_generate_units(chance, largest)),
        currency=chance.choice(("USD", "USD", "JPY")),
        usage_start=_generate_time(chance),
        usage_end=chance.choice((None, _generate_time(chance))),
        invoice_id=chance.choice((None, "42")),
        reservation_id=chance.choice(("arn:ri/1", "arn:ri/2")) if reserved else None,
        reservation_number=chance.choice((None, 1, 7)) if reserved else None,
        offer_class=chance.choice((None, "standard", "convertible")) if reserved else None,
        savings_plan_id=None if reserved or chance.random() < 0.9 else "arn:sp/1",
        usage_type=chance.choice((None, "APN1-BoxUsage:m5.large", "SpotUsage:m5.large")),
        tags=[
            (key, chance.choice(TAG_VALUES)) for key in chance.sample(TAG_KEYS, chance.randrange(4))
        ],
    )


def _generate_units(chance: random.Random, largest: int) -> int:
    """Amounts of every size, including zero and the smallest line."""
    size = chance.randrange(len(str(largest)))
    units = chance.choice((0, 1, chance.randrange(10**size), chance.randrange(largest)))
    return chance.choice((units, units, -units))


def _generate_time(chance: random.Random) -> datetime:
    day = MIDNIGHT + timedelta(days=chance.randrange(31))
    times = (day, day - MICROSECOND, day + timedelta(seconds=chance.randrange(86_400)))
    return chance.choice(times)


def write_month(lines: Sequence[Line], folder: Path, *, files: int = 2) -> list[Path]:
    """Distribute the lines over files with several small row groups each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(files):
        path = folder / f"{number:05}.parquet"
        table = pa.Table.from_pylist(lines[number::files], schema=SCHEMA)
        pq.write_table(table, path, compression="zstd", row_group_size=100)
        paths.append(path)
    return paths


# ── reference sums ───────────────────────────────────────────────────────────────────────────────

_SUM_KEY = ("payer_id", "customer_id", "line_type", "kind", "service", "marketplace")


def compute_monthly_sums(lines: Sequence[Line]) -> Sums:
    return _sum_up(
        (
            (*(line[name] for name in _SUM_KEY), line["usage_start"].date(), line["currency"]),
            line["cost"],
        )
        for line in lines
    )


def compute_tag_sums(lines: Sequence[Line]) -> Sums:
    return _sum_up(
        ((*(line[name] for name in _SUM_KEY), key, value or "", line["currency"]), line["cost"])
        for line in lines
        for key, value in line["tags"]
    )


def compute_tagged_sums(lines: Sequence[Line], keys: Sequence[str]) -> Sums:
    def list_values(line: Line) -> list[str | None]:
        tags = {key: value or "" for key, value in line["tags"]}
        return [tags.get(key) for key in keys]

    return _sum_up(
        (
            (
                *(line[name] for name in _SUM_KEY),
                line["usage_start"].date(),
                *list_values(line),
                line["currency"],
            ),
            line["cost"],
        )
        for line in lines
    )


def compute_reservation_fees(lines: Sequence[Line]) -> Sums:
    names = ("reservation_id", "payer_id", "customer_id", "currency")
    return _sum_up(
        (
            tuple(line[name] for name in names),
            line["cost"] if line["kind"] == "usage" else Decimal(0),
        )
        for line in lines
        if line["reservation_id"] is not None
    )


def compute_commitment_costs(lines: Sequence[Line]) -> Sums:
    charges = ("RIFee", "SavingsPlanRecurringFee", "SavingsPlanNegation")
    return _sum_up(
        (
            (
                *(line[name] for name in ("payer_id", "customer_id", "line_type", "kind")),
                line["reservation_id"] or "",
                line["savings_plan_id"] or "",
                line["kind"] == "usage" and line["line_type"] not in charges,
                line["currency"],
            ),
            line["cost"],
        )
        for line in lines
        if line["reservation_id"] is not None or line["savings_plan_id"] is not None
    )


def compute_on_demand_costs(lines: Sequence[Line]) -> Sums:
    return _sum_up(
        (
            (
                *(line[name] for name in ("payer_id", "customer_id", "kind", "service")),
                line["usage_type"],
                "",
                "",
                line["currency"],
            ),
            line["cost"],
        )
        for line in lines
        if line["line_type"] == "Usage"
        and line["service"] == "AmazonEC2"
        and line["usage_type"] == "APN1-BoxUsage:m5.large"
        and not line["marketplace"]
        and line["reservation_id"] is None
        and line["savings_plan_id"] is None
    )


def _sum_up(parts: Iterator[tuple[tuple[Hashable, ...], Decimal]]) -> Sums:
    sums: dict[tuple[Hashable, ...], list[Any]] = defaultdict(lambda: [Fraction(0), 0])
    for key, cost in parts:
        sums[key][0] += Fraction(cost)
        sums[key][1] += 1
    return {key: (cost, count) for key, (cost, count) in sums.items()}


def parse_sums(result: pa.Table, amount: str = "cost") -> Sums:
    """Convert an engine's result; the columns before the amount are the key."""
    keys = result.column_names[: result.column_names.index(amount)]
    rows = result.to_pylist()
    sums = {tuple(row[key] for key in keys): (Fraction(row[amount]), row["lines"]) for row in rows}
    assert len(sums) == len(rows), "a key occurs twice"
    return sums


REFERENCE_SUMS: dict[str, tuple[Callable[[Sequence[Line]], Sums], str]] = {
    "monthly_sums": (compute_monthly_sums, "cost"),
    "tag_sums": (compute_tag_sums, "cost"),
    "reservation_lines": (compute_reservation_fees, "fee"),
    "commitment_usage": (compute_commitment_costs, "cost"),
    "on_demand_usage": (compute_on_demand_costs, "cost"),
}
