"""What the validators report about our FOCUS files, and why it stays; see docs/focus.md."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Criteria of the official validator that the sample month meets.
CRITERIA = (
    "ACCOUNT_NAMING_SUPPORTED",
    "AVAILABILITY_ZONE_SUPPORTED",
    "COMMITMENT_DISCOUNT_SUPPORTED",
    "MULTIPLE_BILLING_ACCOUNT_TYPES_SUPPORTED",
    "MULTIPLE_PRICING_CATEGORIES_SUPPORTED",
    "MULTIPLE_SUB_ACCOUNT_TYPES_SUPPORTED",
    "NEGOTIATED_PRICING_SUPPORTED",
    "PUBLIC_PRICE_LIST_SUPPORTED",
    "REGION_SUPPORTED",
    "SUB_ACCOUNT_SUPPORTED",
    "TAGGING_SUPPORTED",
    "UNIT_PRICING_SUPPORTED",
    "USAGE_MEASUREMENT_SUPPORTED",
)

# Rules that fail, by the price of the file, and the number of lines, or None where it depends on
# random invoices. docs/focus.md explains each rule.
EXPECTED: Mapping[str, Mapping[str, int | None]] = {
    "vendor": {
        "CommitmentDiscountStatus-C-004-C": 9,
        "EffectiveCost-C-005-C": 1,
        "InvoiceId-C-004-C": 17,
        "PricingCurrencyEffectiveCost-C-003-M": 17,
    },
    "customer": {
        "BilledCost-C-005-C": None,
        "BillingAccountName-C-002-M": None,
        "CommitmentDiscountStatus-C-004-C": None,
        "EffectiveCost-C-005-C": None,
        "InvoiceId-C-004-C": None,
        "PricingCurrencyEffectiveCost-C-003-M": None,
    },
}

_TOTAL = re.compile(r"^Total: (\d+) \| Pass: (\d+) \| Fail: (\d+) \| Skipped: (\d+)$", re.MULTILINE)
_FAILURE = re.compile(r"^\S+ ([\w-]+): FAIL  \(violations=(\d+), msg=(.*)$", re.MULTILINE)


class IncompleteReport(Exception):
    """The validator ended without a complete report; its exit code is 0 all the same."""


def parse_failures(report: str) -> dict[str, int]:
    """Return the rules that fail by themselves, and the number of lines that violate them.

    Rules that fail because a rule that they contain fails are left out.
    """
    total = _TOTAL.search(report)
    failures = _FAILURE.findall(report)
    if total is None or int(total[3]) != len(failures) or int(total[2]) == 0:
        raise IncompleteReport(report[-2000:])
    return {rule: int(lines) for rule, lines, text in failures if "AND failed" not in text}


def describe_differences(price: str, failures: Mapping[str, int]) -> list[str]:
    """Sentences about failures that are not expected, and about expected ones that are gone."""
    expected, problems = EXPECTED[price], []
    for rule in sorted(failures.keys() | expected.keys()):
        if rule not in expected:
            problems.append(f"{rule} fails. Correct the export or explain it in docs/focus.md.")
        elif rule not in failures:
            problems.append(f"{rule} no longer fails. Remove it here and from docs/focus.md.")
        elif expected[rule] not in (None, failures[rule]):
            problems.append(f"{rule} fails on {failures[rule]} lines, not on {expected[rule]}.")
    return problems
