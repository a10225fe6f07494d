"""A month that cannot be right is not billed: it is parked, or its groups are skipped by name.

After some correct months follows a corrupt one. None of it may be invoiced. Then the correct month
is delivered instead and can be billed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from random import Random

from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MonthEnd
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "every corrupt month (lines twice, negative, far from the months before, no rate) is "
    "parked or skipped; 0 invoiced"
)
QUICK = 5
FULL = 200
SECONDS_MAX = 120

CUSTOMER = "000000000001"
BEFORE = 4  # correct months at the start
Lines = list[Decimal]


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("D6")
    random = environment.random("D6")
    month_end = MonthEnd(service, environment.new_folder("d6"))
    group = month_end.create_group("D6", CUSTOMER)
    months = [f"{2100 + number // 12:04}-{number % 12 + 1:02}" for number in range(BEFORE + size)]
    for month in months[:BEFORE]:
        _deliver(month_end, month, _valid_lines(random))
    outcomes, misses = Counter[str](), []
    for number, month in enumerate(months[BEFORE:]):
        name = list(CORRUPT)[number % len(CORRUPT)]
        valid = _valid_lines(random)
        state, reason = _create_invoice(
            month_end, group, month, CORRUPT[name](valid, random), with_rate=name != RATE
        )
        outcomes[f"{name}: {reason}"] += 1
        if state != 409:
            misses.append(f"{month}, {name}: invoiced, answered {state} {reason}")
        state, reason = _create_invoice(month_end, group, month, valid, with_rate=True)
        if state != 200:
            misses.append(f"{month}: the correct month after it was answered {state} {reason}")
    words = ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items()))
    return Measurement(f"{size} corrupt months: {words}; {len(misses)} wrong", misses)


def _valid_lines(random: Random) -> Lines:
    """About a hundred dollars."""
    return [Decimal(random.randint(900, 1100)) / 100 for _ in range(10)]


RATE = "without a rate"
CORRUPT: Mapping[str, Callable[[Lines, Random], Lines]] = {
    "every line twice": lambda lines, _: lines * 2,
    "negative": lambda lines, _: [-amount for amount in lines],
    "a misplaced point": lambda lines, random: _misplaced(lines, random),
    "most of it missing": lambda lines, _: lines[:2],
    RATE: lambda lines, _: lines,
}


def _misplaced(lines: Lines, random: Random) -> Lines:
    index = random.randrange(len(lines))
    return [amount * 100 if number == index else amount for number, amount in enumerate(lines)]


def _create_invoice(
    month_end: MonthEnd, group: str, month: str, lines: Sequence[Decimal], *, with_rate: bool
) -> tuple[int, str]:
    """Status and reason of creating the invoice."""
    _deliver(month_end, month, lines)
    month_end.month = month
    assert month_end.save_settings(group).status_code == 200
    if with_rate:
        assert month_end.save_rate(group).status_code == 200
    answer = month_end.create_invoices(group)
    if answer.status_code == 200:
        return 200, "invoiced"
    return answer.status_code, answer.json()["violations"][0]["rule"]


def _deliver(month_end: MonthEnd, month: str, lines: Sequence[Decimal]) -> None:
    day = f"{month}-05T10:00:00Z"
    month_end.import_costs(
        *(
            report_line(
                str(amount),
                UsageAccountId=CUSTOMER,
                BillingPeriodStartDate=f"{month}-01T00:00:00Z",
                UsageStartDate=day,
                UsageEndDate=day,
                LineItemDescription=str(number),
            )
            for number, amount in enumerate(lines)
        )
    )


VARIANTS = [
    BrokenVariant(
        "months-not-compared",
        "A month is not compared with earlier months.",
        "every line twice: invoiced",
        "imports/commit_import.py",
        """return self._find_verification_failure() or await find_anomaly(
            self.db,
            self.scope,
            period,
            self.prepared.totals,
            provisional=self.prepared.provisional,
        )""",
        "return self._find_verification_failure()",
    ),
    BrokenVariant(
        "parked-month-billed",
        "A parked month is billed.",
        "invoiced, answered 200",
        "invoicing/runs/invoice_run.py",
        'return "month_parked" if state.is_parked else None',
        "return None",
    ),
]
