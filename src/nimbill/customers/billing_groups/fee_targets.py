"""The amounts that the agency fee and the support fee of an invoice setting are calculated on.

Each fee has a basis (the amount before or after discount) and a scope (cloud charges with or
without fees). The specification swaps the values of two fields between create and update, so the
value itself tells which dimension it sets: nondiscount and discounted set the basis, cloudpayonly
and cloudpaywithfee set the scope. A dimension that no field sets keeps its stored value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nimbill.foundation.errors import Violation

# See docs/choices.md, invoice-setting-update-values.

BASES = ("nondiscount", "discounted")
SCOPES = ("cloudpayonly", "cloudpaywithfee")
AGENCY_FEE_FIELDS = ("substitution_fee_calc_target", "substitution_fee_target_usage")


@dataclass(frozen=True, slots=True)
class FeeTargets:
    """Basis and scope of the agency (substitution) fee and of the support fee."""

    substitution_basis: str
    substitution_scope: str
    support_basis: str
    support_scope: str | None


def resolve_fee_targets(setting: Mapping[str, Any], stored: FeeTargets | None) -> FeeTargets:
    """Read basis and scope from a setting without conflicts (see `find_target_conflicts`)."""
    agency_fee = [setting[field] for field in AGENCY_FEE_FIELDS]
    support_fee = setting["support_fee_calc_target"]
    support_basis = stored.support_basis if stored else "nondiscount"
    support_scope = stored.support_scope if stored else None
    return FeeTargets(
        substitution_basis=next(value for value in agency_fee if value in BASES),
        substitution_scope=next(value for value in agency_fee if value in SCOPES),
        support_basis=support_fee if support_fee in BASES else support_basis,
        support_scope=support_fee if support_fee in SCOPES else support_scope,
    )


def find_support_conflicts(setting: Any, target: Any) -> Iterator[Violation]:
    """Report a target of the support fee that differs from the word in the setting.

    A scope of null differs too: it would ignore the word.
    """
    if not isinstance(setting, dict) or not isinstance(target, dict):
        return
    word = setting.get("support_fee_calc_target")
    for name, words in (("usage", BASES), ("scope", SCOPES)):
        if word in words and target.get(name) != word:
            rule = f"{word} when invoices.support_fee_calc_target is {word}"
            yield Violation(f"support_fee_target.{name}", rule)


def find_target_conflicts(setting: Mapping[str, Any], path: str) -> Iterator[Violation]:
    """Report two agency fee fields that set the same dimension, so that the other is missing."""
    first, second = (setting.get(field) for field in AGENCY_FEE_FIELDS)
    for dimension, other in ((BASES, SCOPES), (SCOPES, BASES)):
        if first in dimension and second in dimension:
            condition = f"{AGENCY_FEE_FIELDS[0]} is {' or '.join(dimension)}"
            rule = f"one of {', '.join(other)} when {condition}"
            yield Violation(f"{path}.{AGENCY_FEE_FIELDS[1]}", rule)
