"""Which invoices a searched text names: `202609-0012`, `202609` or the number alone."""

import re
from dataclasses import dataclass

from nimbill.foundation.basis import chosen

basis = chosen("search")

_WITH_MONTH = re.compile(r"(20[0-9]{2})-?(0[1-9]|1[0-2])(?:-([0-9]{1,9}))?")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class NamedInvoices:
    """None in a field means any."""

    month: str | None
    number: int | None


def parse_invoice_number(text: str) -> NamedInvoices | None:
    """Return the month and number that the text names, or None if it is no invoice number."""
    if match := _WITH_MONTH.fullmatch(text):
        year, month, number = match.groups()
        return NamedInvoices(f"{year}-{month}", None if number is None else int(number))
    if _NUMBER.fullmatch(text):
        return NamedInvoices(None, int(text))
    return None
