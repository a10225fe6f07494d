"""Rules of the usage table: fee rates by amount, in ascending bands of which the last is open."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("organisation-settings")

BANDS_MAX = 50


def find_usage_table_violations(bands: Any) -> Iterator[Violation]:
    """Check an unvalidated value. Values of a wrong type are reported by the body check."""
    if not isinstance(bands, list) or not all(isinstance(band, dict) for band in bands):
        return
    if len(bands) > BANDS_MAX:
        yield Violation("usage_table", f"at most {BANDS_MAX} bands")
    yield from _find_limit_violations([band.get("upto") for band in bands])
    for index, band in enumerate(bands):
        rate = band.get("rate")
        if isinstance(rate, int | Decimal) and not 0 <= rate <= 1:
            yield Violation(f"usage_table[{index}].rate", "from 0 to 1")


def _find_limit_violations(limits: list[Any]) -> Iterator[Violation]:
    if limits and limits[-1] is not None:
        yield Violation(f"usage_table[{len(limits) - 1}].upto", "null in the last band")
    previous: int | Decimal = 0
    for index, limit in enumerate(limits[:-1]):
        if not isinstance(limit, int | Decimal) or limit <= previous:
            yield Violation(f"usage_table[{index}].upto", "more than in the band before")
        else:
            previous = limit
