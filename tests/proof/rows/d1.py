"""An invoice is correct to the last yen and cent for any month, setting and exchange rate.

Random months are billed with random settings: every allowed value, awkward rates, rounding ties,
credits. A second program that shares no arithmetic with the first calculates the same invoice. The
sums of each invoice must add up. For every tenth invoice, the order of inputs must not matter, a
higher discount must not cost more, and a higher fee or tax must not cost less. A bulk run gives
the invoices of single runs, and the sums of the month are theirs.
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
from nimbill.invoicing.calculation.terms import Terms
from tests.invoicing.calculation_comparison import calculate_independently, find_differences
from tests.invoicing.random_invoices import InvoiceCase, random_case
from tests.proof.broken_variants import BrokenVariant
from tests.proof.bulk_invoices import GROUPS, check_bulk_run
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "for 1,000,000 random invoices every printed amount, sum and account total equals the second "
    "program's; all add up, order never matters, no discount costs more, no fee or tax costs "
    "less; the groups of a bulk run add up to the month"
)
SHORT = 2_000
QUICK = 10_000  # invoices
FULL = 1_000_000
SECONDS_MAX = 400
CHUNK = 5_000  # invoices of one seed
BULK_RUNS = 2
# what must not make an invoice cheaper if it is raised
RAISED = ("tax_rate", "substitution_rate", "substitution_fix", "support_rate", "support_fix")


@dataclass(slots=True)
class InvoiceFindings:
    """Faults of some invoices, and counters that show what was covered."""

    misses: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    first: Counter[str] = field(default_factory=Counter)  # the first fault from the top of the page


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random, began = environment.random("D1"), perf_counter()
    seeds = [random.randrange(10**12) for _ in range(0, size, CHUNK)]
    sizes = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    found = InvoiceFindings()
    for part in _check_in_parallel(seeds, sizes):
        found.misses += part.misses
        found.words |= part.words
        found.counts += part.counts
        found.first += part.first
    seconds = perf_counter() - began
    bulk = [miss for _ in range(BULK_RUNS) for miss in check_bulk_run(environment, random)]
    misses = found.misses + _find_missing_coverage(found) + bulk
    counts = found.counts
    figures = (
        f"{size} invoices of {counts['amounts']} printed amounts, {counts['ties']} ties, "
        f"{counts['credits']} with credits, {size / seconds:.0f} per second, {BULK_RUNS} bulk runs "
        f"of {GROUPS} groups: "
        f"{len(misses)} wrong{_format_first_faults(found.first)}"
    )
    return Measurement(figures, misses)


def _format_first_faults(first: Counter[str]) -> str:
    return "".join(f"; {name} first wrong in {number}" for name, number in first.most_common())


def _check_in_parallel(seeds: list[int], sizes: list[int]) -> Iterator[InvoiceFindings]:
    """Long runs use every available core."""
    if len(seeds) * CHUNK <= QUICK:
        yield from map(check_invoices, seeds, sizes)
        return
    with ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), mp_context=get_context("spawn")
    ) as processes:
        yield from processes.map(check_invoices, seeds, sizes)


def check_invoices(seed: int, size: int) -> InvoiceFindings:
    random, found = Random(seed), InvoiceFindings()
    for number in range(size):
        case = random_case(random)
        wrong = list(_find_faults(case, found, thoroughly=number % 10 == 0, random=random))
        if wrong:  # later faults on the page follow from the first
            found.first[wrong[0].partition(":")[0]] += 1
            found.misses.append(f"seed {seed}, invoice {number}: {wrong[0]}")
    return found


def _find_faults(
    case: InvoiceCase, found: InvoiceFindings, *, thoroughly: bool, random: Random
) -> Iterator[str]:
    terms = case.terms()
    sheet, other = calculate_invoice(case.charges, terms), calculate_independently(case)
    found.words |= {str(word) for setting in case.settings for word in setting.values()}
    found.counts["ties"] += other.ties
    found.counts["credits"] += any(charge.amount < 0 for charge in case.charges.usage)
    found.counts["amounts"] += 2 * len(sheet.lines) + len(sheet.entries) + len(sheet.items) + 5
    yield from find_differences(sheet, other)
    if not _adds_up(sheet):
        yield "the page does not add up"
    if thoroughly:
        if calculate_invoice(_shuffled(case.charges, random), terms) != sheet:
            yield "another order of inputs gives another invoice"
        generous = replace(terms, discount_rate=terms.discount_rate / 2 + Decimal("0.5"))
        charged = _without_credits(case.charges)
        before = calculate_invoice(charged, terms)
        if calculate_invoice(charged, generous).total > before.total:
            yield "a higher discount costs more"
        yield from _find_cheaper(charged, terms, before)


def _find_cheaper(charged: MonthlyCharges, terms: Terms, before: InvoiceSheet) -> Iterator[str]:
    """Raise each fee and the tax; with negative items, a tax makes the sum smaller."""
    for name in RAISED if before.taxable >= 0 else RAISED[1:]:
        raised = replace(terms, **{name: getattr(terms, name) * 2 + Decimal("0.01")})
        if calculate_invoice(charged, raised).total < before.total:
            yield f"a higher {name} costs less"


def _adds_up(sheet: InvoiceSheet) -> bool:
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


def _find_missing_coverage(found: InvoiceFindings) -> list[str]:
    words = {
        word
        for row in ALLOWED_VALUES.values()
        for cell in row
        for rule in ([cell] if isinstance(cell, OneOf) else getattr(cell, "rows", {}).values())
        for word in rule.values
    }
    missing = [f"no invoice with the value {word}" for word in sorted(words - found.words)]
    return missing + [
        f"no {what} among them" for what in ("ties", "credits") if not found.counts[what]
    ]


VARIANTS = [
    BrokenVariant(
        "discount-of-rounded-charge",
        "The amount after discount is calculated from the rounded charge.",
        "lines first wrong in",
        "invoicing/calculation/line_builder.py",
        "after = self.to_invoice_currency(usage.after)",
        """after = to_exact(self.round_amount(self.to_invoice_currency(usage.charge)))
        after *= ONE - to_exact(self.terms.discount_rate)""",
    ),
    BrokenVariant(
        "entry-rate-ignored",
        "An applied entry is converted at the invoice's rate instead of its own.",
        "entries first wrong in",
        "invoicing/calculation/charges.py",
        "return self.exchange_rate or invoice_rate",
        "return invoice_rate",
    ),
    BrokenVariant(
        "fixed-fee-once",
        "A fixed agency fee per account is charged once for all accounts.",
        "agency first wrong in",
        "invoicing/calculation/fees.py",
        'substitution_fee_calc_type == "account"',
        'substitution_fee_calc_type == "account" and terms.substitution_fee != "fix"',
    ),
    BrokenVariant(
        "support-fee-not-discounted",
        "A support fee on a discounted base is not discounted again.",
        "support first wrong in",
        "invoicing/calculation/fees.py",
        'discounted=terms.discount_target_usage == "cloudpaywithfee",',
        """discounted=terms.discount_target_usage == "cloudpaywithfee"
        and terms.support_basis == "nondiscount",""",
    ),
    BrokenVariant(
        "support-fee-per-account",
        "The support fee is divided by the number of accounts instead of by usage.",
        "agency first wrong in",
        "invoicing/calculation/fees.py",
        "amount / total if total else to_exact(Fraction(1, len(owners))) for amount in amounts",
        "to_exact(Fraction(1, len(owners))) for amount in amounts if total or amount is not None",
    ),
    BrokenVariant(
        "tax-per-line",
        "Tax is rounded per amount and then added.",
        "tax first wrong in",
        "invoicing/calculation/sheet.py",
        "tax = builder.round_amount(to_exact(taxable) * to_exact(terms.tax_rate))",
        """rest = subtract_decimals(taxable, usage_after)
    taxed = [*(line.after for line in lines), rest]
    rate = to_exact(terms.tax_rate)
    tax = sum_decimals(builder.round_amount(to_exact(one) * rate) for one in taxed)""",
    ),
    BrokenVariant(
        "ties-to-even",
        "A tie is rounded to the even neighbour.",
        "items first wrong in",
        "foundation/money.py",
        "result = amount.numerator.quantize(unit, mode, _ROUNDING)",
        """mode = "ROUND_HALF_EVEN" if mode == ROUND_HALF_UP else mode
        result = amount.numerator.quantize(unit, mode, _ROUNDING)""",
    ),
    BrokenVariant(
        "unsorted-charges",
        "Charges of one line that are not adjacent become separate lines.",
        "number of lines first wrong in",
        "invoicing/calculation/usage.py",
        """ordered = sorted(
        charges, key=lambda charge: (line_key(charge), charge.customer_id, charge.customer_name)
    )""",
        "ordered = list(charges)",
    ),
]
