"""What the words of an invoice setting settle: on what amount a fee is taken, and of what.

Create and update use two fields crosswise. The word itself says which dimension it sets:
nondiscount and discounted the basis (before or after discount), cloudpayonly and cloudpaywithfee
the scope. A dimension that no word sets keeps its stored value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("crosswise-invoice-settings")

BASES = ("nondiscount", "discounted")
SCOPES = ("cloudpayonly", "cloudpaywithfee")
_PAIR = ("substitution_fee_calc_target", "substitution_fee_target_usage")


@dataclass(frozen=True, slots=True)
class Settled:
    substitution_basis: str
    substitution_scope: str
    support_basis: str
    support_scope: str | None


def settle(sent: Mapping[str, Any], before: Settled | None) -> Settled:
    """The dimensions after these words; sound ones, see `crossed`."""
    words = [sent[field] for field in _PAIR]
    support = sent["support_fee_calc_target"]
    return Settled(
        substitution_basis=_one_of(words, BASES),
        substitution_scope=_one_of(words, SCOPES),
        support_basis=support
        if support in BASES
        else (before.support_basis if before else "nondiscount"),
        support_scope=support if support in SCOPES else (before.support_scope if before else None),
    )


def _one_of(words: list[str], dimension: tuple[str, ...]) -> str:
    return next(word for word in words if word in dimension)


def crossed(sent: Mapping[str, Any], at: str) -> Iterator[Violation]:
    """Two words for one dimension of the agency fee leave the other without any."""
    first, second = (sent.get(field) for field in _PAIR)
    for dimension, other in ((BASES, SCOPES), (SCOPES, BASES)):
        if first in dimension and second in dimension:
            yield Violation(f"{at}.{_PAIR[1]}", f"one of {', '.join(other)} beside the other word")
