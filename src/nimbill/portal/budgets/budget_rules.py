"""Rules of budgets and of their alerts that span several fields or items."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation
from nimbill.foundation.money import CURRENCY_UNITS
from nimbill.foundation.rules import between

basis = chosen("portal-budgets")

BUDGETS_MAX = 100
THRESHOLDS_MAX = 10
RECIPIENTS_MAX = 20
PERCENT = between("1", "1000")
AMOUNT = between("0.01", "999999999999999")
AMOUNT_RULE = f"a number {AMOUNT}, in whole yen or cents"
TAG_RULE = "a tag as KEY=VALUE"


def find_budget_violations(budgets: Any) -> Iterator[Violation]:
    """`budgets` is the list as it was sent; other types are reported by the body's own check."""
    if not isinstance(budgets, list):
        return
    if len(budgets) > BUDGETS_MAX:
        yield Violation("budgets", f"at most {BUDGETS_MAX}")
    sent_ids = [budget.get("budget_id") for budget in budgets if isinstance(budget, Mapping)]
    counts = Counter(id_ for id_ in sent_ids if isinstance(id_, str))
    for index, budget in enumerate(budgets):
        if isinstance(budget, Mapping):
            path = f"budgets[{index}]"
            if counts[_read_text(budget, "budget_id")] > 1:
                yield Violation(f"{path}.budget_id", "each budget once")
            yield from _find_amount_violations(budget, path)
            yield from _find_target_violations(budget, path)
            yield from _find_threshold_violations(budget.get("thresholds"), f"{path}.thresholds")


def _find_amount_violations(budget: Mapping[str, Any], path: str) -> Iterator[Violation]:
    amount = budget.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal):
        return
    if not AMOUNT.allows(amount):
        yield Violation(f"{path}.amount", AMOUNT_RULE)


def is_whole_amount(amount: Decimal, currency: Currency) -> bool:
    """Whether the amount is in whole yen or cents. It is not larger than AMOUNT allows."""
    return amount % CURRENCY_UNITS[currency] == 0


def _find_target_violations(budget: Mapping[str, Any], path: str) -> Iterator[Violation]:
    target, target_id = budget.get("target"), _read_text(budget, "target_id")
    if target == "company" and target_id:
        yield Violation(f"{path}.target_id", "absent for the target company")
    elif target in ("account", "group") and not target_id:
        yield Violation(f"{path}.target_id", "required for the targets account, group and tag")
    elif target == "tag" and not re.match("[^=]+=", target_id):
        yield Violation(f"{path}.target_id", TAG_RULE)


def _find_threshold_violations(thresholds: Any, path: str) -> Iterator[Violation]:
    if not isinstance(thresholds, list):
        return
    if len(thresholds) > THRESHOLDS_MAX:
        yield Violation(path, f"at most {THRESHOLDS_MAX}")
    seen = set()
    for index, threshold in enumerate(thresholds):
        if not isinstance(threshold, Mapping):
            continue
        percent = threshold.get("percent")
        if isinstance(percent, int) and not PERCENT.allows(percent):
            yield Violation(f"{path}[{index}].percent", str(PERCENT))
        key = (str(percent), str(threshold.get("of")))
        if key in seen:
            yield Violation(f"{path}[{index}]", "each threshold once")
        seen.add(key)


def find_alert_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    recipients = sent.get("recipients")
    if not isinstance(recipients, list):
        return
    if len(recipients) > RECIPIENTS_MAX:
        yield Violation("recipients", f"at most {RECIPIENTS_MAX}")
    if sent.get("enabled") is True and not recipients:
        yield Violation("recipients", "at least one while alerts are enabled")
    seen = set()
    for index, address in enumerate(recipients):
        yield from find_email_violations(address, f"recipients[{index}]")
        if str(address).lower() in seen:
            yield Violation(f"recipients[{index}]", "each address once")
        seen.add(str(address).lower())


def _read_text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    return value if isinstance(value, str) else ""
