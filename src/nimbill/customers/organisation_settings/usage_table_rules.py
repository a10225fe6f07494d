"""The organisation's own table of fee rates by amount: bands that rise and end in an open one."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("organisation-settings")

BANDS_MAX = 50


def usage_table_violations(bands: Any) -> Iterator[Violation]:
    """Whatever was sent; what is not a list of bands is reported by its type already."""
    if not isinstance(bands, list) or not all(isinstance(band, dict) for band in bands):
        return
    if len(bands) > BANDS_MAX:
        yield Violation("usage_table", f"at most {BANDS_MAX} bands")
    yield from _unsound_ends([band.get("upto") for band in bands])
    for index, band in enumerate(bands):
        rate = band.get("rate")
        if isinstance(rate, int | Decimal) and not 0 <= rate <= 1:
            yield Violation(f"usage_table[{index}].rate", "from 0 to 1")


def _unsound_ends(ends: list[Any]) -> Iterator[Violation]:
    if ends and ends[-1] is not None:
        yield Violation(f"usage_table[{len(ends) - 1}].upto", "null in the last band")
    before: int | Decimal = 0
    for index, end in enumerate(ends[:-1]):
        if not isinstance(end, int | Decimal) or end <= before:
            yield Violation(f"usage_table[{index}].upto", "more than in the band before")
        else:
            before = end
