"""The limits of the checks of a month."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("month-checks")

# setting to the lowest and the highest value
LIMITS: Mapping[str, tuple[int, int]] = {
    "check_change_limit": (0, 100),
    "check_margin_limit": (-1, 1),
}


def find_check_limit_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    for name, (lowest, highest) in LIMITS.items():
        limit = sent.get(name)
        if isinstance(limit, int | Decimal) and not lowest <= limit <= highest:
            yield Violation(name, f"from {lowest} to {highest}, where 1 is 100 %")
