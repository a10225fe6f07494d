"""Values of FOCUS files that need no large library: periods and names of account types."""

from datetime import datetime, timedelta

from nimbill.foundation.calendar_month import month_end

# See docs/choices.md, focus-export.

SUB_ACCOUNT_TYPES = {"aws": "Account", "azure": "Subscription", "gcp": "Project"}


def next_month_start(month: str) -> datetime:
    """The end of a billing period, which is exclusive."""
    return month_end(month) + timedelta(microseconds=1)


def name_sub_account_type(vendor: str) -> str:
    return SUB_ACCOUNT_TYPES.get(vendor, "Account")
