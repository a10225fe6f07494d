"""A month that a command was given, before anything is opened for it."""

from nimbill.foundation.calendar_month import RULE, is_month
from nimbill.foundation.errors import Invalid, Violation


def refuse_no_month(month: str) -> None:
    """Paths and bodies say the same by their types."""
    if not is_month(month):
        raise Invalid("rule_broken", "the month cannot be read", [Violation("month", RULE)])
