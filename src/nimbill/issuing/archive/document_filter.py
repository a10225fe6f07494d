"""Which documents of the archive are meant: ranges of date and amount, and the counterparty."""

import re
from dataclasses import dataclass
from decimal import Decimal

from nimbill.foundation import calendar_date
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.issuing.archive.bodies import DocumentKind, DocumentState

AMOUNT_PATTERN = r"^-?[0-9]{1,15}(\.[0-9]{1,6})?$"
AMOUNT_RULE = "a number with at most 15 digits, and 6 behind the point"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """None selects all. Both ends of a range are included; amounts include tax."""

    date_from: str | None = None
    date_to: str | None = None
    amount_from: Decimal | None = None
    amount_to: Decimal | None = None
    currency: Currency | None = None
    counterparty: str | None = None
    kind: DocumentKind | None = None
    state: DocumentState | None = None
    search: str | None = None  # a text in the number or the name on the document


def parse_filter(
    *,
    date_from: str | None,
    date_to: str | None,
    amount_from: str | None,
    amount_to: str | None,
    currency: Currency | None = None,
    counterparty: str | None = None,
    kind: DocumentKind | None = None,
    state: DocumentState | None = None,
    search: str | None = None,
) -> DocumentFilter:
    """Refuse what is neither a date nor an amount, and ranges that contain nothing."""
    violations: list[Violation] = []
    first, last = (
        _parse_date(name, text, violations)
        for name, text in (("date_from", date_from), ("date_to", date_to))
    )
    low, high = (
        _parse_amount(name, text, violations)
        for name, text in (("amount_from", amount_from), ("amount_to", amount_to))
    )
    if first is not None and last is not None and first > last:
        violations.append(Violation("date_to", "not before date_from"))
    if low is not None and high is not None and low > high:
        violations.append(Violation("amount_to", "not less than amount_from"))
    refuse_if(violations)
    return DocumentFilter(
        date_from=first,
        date_to=last,
        amount_from=low,
        amount_to=high,
        currency=currency,
        counterparty=counterparty,
        kind=kind,
        state=state,
        search=search,
    )


def _parse_date(name: str, text: str | None, violations: list[Violation]) -> str | None:
    if text is None or calendar_date.is_date(text):
        return text
    violations.append(Violation(name, calendar_date.RULE))
    return None


def _parse_amount(name: str, text: str | None, violations: list[Violation]) -> Decimal | None:
    if text is None or re.fullmatch(AMOUNT_PATTERN, text, re.ASCII):
        return None if text is None else Decimal(text)
    violations.append(Violation(name, AMOUNT_RULE))
    return None
