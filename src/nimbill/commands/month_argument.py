"""Checks a month argument before the database is opened."""

from nimbill.foundation.calendar_month import RULE, is_month
from nimbill.foundation.errors import Invalid, Violation


def refuse_invalid_month(month: str) -> None:
    if not is_month(month):
        raise Invalid("rule_broken", "The month is invalid.", [Violation("month", RULE)])
