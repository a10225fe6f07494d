"""The limits of the checks of a month: their ranges."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.organisation_settings.check_limit_rules import find_check_limit_violations
from nimbill.foundation.errors import Violation

CHANGE = Violation("check_change_limit", "from 0 to 100, where 1 is 100 %")
MARGIN = Violation("check_margin_limit", "from -1 to 1, where 1 is 100 %")


@pytest.mark.parametrize(
    ("sent", "violations"),
    [
        ({}, []),
        ({"check_change_limit": None}, []),
        ({"check_change_limit": "text"}, []),  # the type is refused elsewhere
        ({"check_change_limit": 0, "check_margin_limit": -1}, []),
        ({"check_change_limit": 100, "check_margin_limit": 1}, []),
        ({"check_change_limit": Decimal("-0.01")}, [CHANGE]),
        ({"check_change_limit": Decimal("100.01")}, [CHANGE]),
        ({"check_margin_limit": Decimal("-1.01")}, [MARGIN]),
        ({"check_change_limit": 101, "check_margin_limit": 2}, [CHANGE, MARGIN]),
    ],
)
def test_limits_have_a_range(sent: dict[str, Any], violations: list[Violation]) -> None:
    assert list(find_check_limit_violations(sent)) == violations
