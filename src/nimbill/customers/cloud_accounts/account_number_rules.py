"""Formats of account numbers per vendor. Numbers are text, so leading zeros are significant.

A customer_id is also a path segment of the routes that change and delete the account, so it must
not contain a slash.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Customer cloud account")
slash_basis = chosen("account-paths")


class NumberFormat(NamedTuple):
    pattern: re.Pattern[str]
    description: str


class AccountNumberFormats(NamedTuple):
    customer_id: NumberFormat
    account_id: NumberFormat


FORMATS: Mapping[str, AccountNumberFormats] = {
    "aws": AccountNumberFormats(
        customer_id=NumberFormat(re.compile(r"[0-9]{12}"), "12 digits"),
        account_id=NumberFormat(re.compile(r"[0-9]{12}"), "12 digits"),
    ),
    "azure": AccountNumberFormats(
        customer_id=NumberFormat(re.compile(r"[^/]{16,36}"), "16 to 36 characters, none a slash"),
        account_id=NumberFormat(re.compile(r"[0-9]{7}"), "7 digits"),
    ),
}


def find_number_violations(body: Mapping[str, Any], *fields: str) -> Iterator[Violation]:
    """Check these fields of an unvalidated body against the formats of its vendor."""
    formats = FORMATS.get(str(body.get("vendor")))
    if formats is None:
        return
    for field in fields:
        value, number_format = body.get(field), getattr(formats, field)
        if isinstance(value, str) and not number_format.pattern.fullmatch(value):
            yield Violation(field, number_format.description)
