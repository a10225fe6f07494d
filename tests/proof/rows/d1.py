"""An invoice is right to the last yen and cent, whatever the month, the setting and the rate.

Invented months are drawn up on invented settings: every word of both columns, awkward rates, ties,
credits. Beside it the same invoice is worked out by a second program that shares no arithmetic with
the first. Of each, the sums must foot; of every tenth, the order of what comes in must not matter
and more discount must not cost more. What groups owe together is a matter of their creation, and
not covered here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from multiprocessing import get_context
from random import Random
from time import perf_counter

from msgspec.structs import replace

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.rules import OneOf
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.calculation.sheet import InvoiceSheet, calculate_invoice
from tests.invoicing.agreement import calculate_independently, find_differences
from tests.invoicing.random_invoices import Case, random_case
from tests.proof.row import Measurement
from tests.proof.stage import Stage

TARGET = (
    "of 1,000,000 invented invoices every printed amount, every sum and every account's total "
    "equals the second program's; all foot, no order matters, no discount costs more"
)
QUICK = 10_000  # invoices
FULL = 1_000_000
SECONDS_MAX = 400
CHUNK = 5_000  # invoices of one seed


@dataclass(slots=True)
class Found:
    """Of some invoices: what is wrong, and that there was something to look at."""

    misses: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    seen: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)  # what was wrong first, top to bottom


def measure(stage: Stage, size: int) -> Measurement:
    random, began = stage.random("D1"), perf_counter()
    seeds = [random.randrange(10**12) for _ in range(0, size, CHUNK)]
    sizes = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    found = Found()
    for part in _parts(seeds, sizes):
        found.misses += part.misses
        found.words |= part.words
        found.seen += part.seen
        found.first += part.first
    misses = found.misses + _not_looked_at(found)
    seen = found.seen
    said = (
        f"{size} invoices of {seen['amounts']} printed amounts, {seen['ties']} ties, "
        f"{seen['credits']} with credits, {size / (perf_counter() - began):.0f} a second: "
        f"{len(misses)} wrong{_named(found.first)}"
    )
    return Measurement(said, misses)


def _named(first: Counter[str]) -> str:
    return "".join(f"; {name} first wrong in {number}" for name, number in first.most_common())


def _parts(seeds: list[int], sizes: list[int]) -> Iterator[Found]:
    """Long runs on every core that this process may use."""
    if len(seeds) * CHUNK <= QUICK:
        yield from map(look_at, seeds, sizes)
        return
    with ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), mp_context=get_context("spawn")
    ) as processes:
        yield from processes.map(look_at, seeds, sizes)


def look_at(seed: int, size: int) -> Found:
    random, found = Random(seed), Found()
    for number in range(size):
        case = random_case(random)
        wrong = list(_wrong(case, found, thoroughly=number % 10 == 0, random=random))
        if wrong:  # what comes first on the page carries the rest with it
            found.first[wrong[0].partition(":")[0]] += 1
            found.misses.append(f"seed {seed}, invoice {number}: {wrong[0]}")
    return found


def _wrong(case: Case, found: Found, *, thoroughly: bool, random: Random) -> Iterator[str]:
    terms = case.terms()
    sheet, other = calculate_invoice(case.month, terms), calculate_independently(case)
    found.words |= {str(word) for setting in case.sent for word in setting.values()}
    found.seen["ties"] += other.ties
    found.seen["credits"] += any(charge.amount < 0 for charge in case.month.usage)
    found.seen["amounts"] += 2 * len(sheet.lines) + len(sheet.entries) + len(sheet.items) + 5
    yield from find_differences(sheet, other)
    if not _foots(sheet):
        yield "the page does not foot"
    if thoroughly:
        if calculate_invoice(_shuffled(case.month, random), terms) != sheet:
            yield "another order of what comes in gives another invoice"
        generous = replace(terms, discount_rate=terms.discount_rate / 2 + Decimal("0.5"))
        charged = _without_credits(case.month)
        if calculate_invoice(charged, generous).total > calculate_invoice(charged, terms).total:
            yield "more discount costs more"


def _foots(sheet: InvoiceSheet) -> bool:
    after = [line.after for line in sheet.lines]
    after += [fee.after for fee in (sheet.support, sheet.agency) if fee]
    after += [entry.amount for entry in sheet.entries]
    after += [item.total for item in sheet.items]
    return sum(after) == sheet.pre_tax == sheet.total - sheet.tax


def _shuffled(month: MonthlyCharges, random: Random) -> MonthlyCharges:
    return replace(
        month,
        usage=tuple(random.sample(month.usage, len(month.usage))),
        entries=tuple(random.sample(month.entries, len(month.entries))),
    )


def _without_credits(month: MonthlyCharges) -> MonthlyCharges:
    return replace(
        month,
        usage=tuple(replace(charge, amount=abs(charge.amount)) for charge in month.usage),
        entries=(),
    )


def _not_looked_at(found: Found) -> list[str]:
    words = {
        word
        for row in ALLOWED_VALUES.values()
        for cell in row
        for rule in ([cell] if isinstance(cell, OneOf) else getattr(cell, "rows", {}).values())
        for word in rule.words
    }
    missing = [f"no invoice with the word {word}" for word in sorted(words - found.words)]
    return missing + [
        f"no {what} among them" for what in ("ties", "credits") if not found.seen[what]
    ]
