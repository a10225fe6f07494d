"""Rules of the colour of the portal: white text on it must be readable."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("portal-branding")

CONTRAST_MIN = Decimal("4.5")  # of normal text, WCAG 2.2 level AA
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_WEIGHTS = (Decimal("0.2126"), Decimal("0.7152"), Decimal("0.0722"))
_WHITE = Decimal("1.05")
_BLACK = Decimal("0.05")


def find_colour_violations(colour: Any) -> Iterator[Violation]:
    """Check an unvalidated value; an empty text clears the colour."""
    if not isinstance(colour, str) or not colour:
        return
    if _COLOUR.fullmatch(colour) is None:
        yield Violation("portal_colour", "# and six hexadecimal digits")
    elif compute_contrast(colour) < CONTRAST_MIN:
        rule = f"a darker colour: the contrast to white text must be at least {CONTRAST_MIN}:1"
        yield Violation("portal_colour", rule)


def compute_contrast(colour: str) -> Decimal:
    """Return the contrast of white text on the colour, from 1 to 21, as WCAG defines it."""
    parts = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
    luminance = sum(
        (weight * _linearize(part) for weight, part in zip(_WEIGHTS, parts, strict=True)),
        Decimal(0),
    )
    return _WHITE / (luminance + _BLACK)


def _linearize(part: int) -> Decimal:
    share = Decimal(part) / 255
    if share <= Decimal("0.04045"):
        return share / Decimal("12.92")
    return ((share + Decimal("0.055")) / Decimal("1.055")) ** Decimal("2.4")
