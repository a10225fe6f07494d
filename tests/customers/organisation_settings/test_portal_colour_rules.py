"""The colour of the portal."""

from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.organisation_settings.portal_colour_rules import (
    compute_contrast,
    find_colour_violations,
)

WRITTEN = "# and six hexadecimal digits"
DARKER = "a darker colour: the contrast to white text must be at least 4.5:1"


@pytest.mark.parametrize(
    ("colour", "rules"),
    [
        (None, []),
        ("", []),
        (7, []),  # the body check reports types
        ("#1a5fb4", []),
        ("#1A5FB4", []),
        ("#000000", []),
        ("#767676", []),  # the lightest grey that is dark enough
        ("#777777", [DARKER]),
        ("#ffffff", [DARKER]),
        ("#ffd700", [DARKER]),
        ("1a5fb4", [WRITTEN]),
        ("#1a5fb", [WRITTEN]),
        ("#1a5fb4\n", [WRITTEN]),
        ("red", [WRITTEN]),
        ("#12345g", [WRITTEN]),
        ("#000000; } * { display: none", [WRITTEN]),
    ],
)
def test_white_text_must_be_readable_on_the_colour(colour: Any, rules: list[str]) -> None:
    violations = list(find_colour_violations(colour))

    assert [violation.rule for violation in violations] == rules
    assert {violation.field for violation in violations} <= {"portal_colour"}


@pytest.mark.parametrize(
    ("colour", "contrast"),
    [("#000000", "21"), ("#ffffff", "1"), ("#767676", "4.54"), ("#ff0000", "4.00")],
)
def test_the_contrast_is_that_of_wcag(colour: str, contrast: str) -> None:
    assert round(compute_contrast(colour), 2) == Decimal(contrast)
