"""Formats of account numbers per vendor. Numbers are text, so leading zeros are significant.

A customer_id is also a path segment of the routes that change and delete the account, so it must
not contain a slash. The route that deletes it separates the two ids by a bar.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendor_names import BILLED_VENDORS

basis = stated("Customer cloud account")
slash_basis = chosen("account-paths")
vendors_basis = chosen("vendors")


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


# The ids of vendors that the specification does not name; a path of dots only would be shortened.
_OTHER_ID = NumberFormat(
    re.compile(r"(?=.*[0-9A-Za-z])(?! )[ -.0-{}~]{1,64}(?<! )"),
    "1 to 64 printable ASCII characters with a letter or digit, none a slash or a bar, "
    "without spaces around them",
)
OTHER_FORMATS = AccountNumberFormats(customer_id=_OTHER_ID, account_id=_OTHER_ID)


def find_number_violations(
    body: Mapping[str, Any], *fields: str, vendors: Sequence[str] = BILLED_VENDORS
) -> Iterator[Violation]:
    """Check these fields of an unvalidated body against the formats of its vendor.

    `vendors` are those that the organisation bills; the body check refuses others.
    """
    vendor = body.get("vendor")
    if vendor not in vendors:
        return
    formats = FORMATS.get(str(vendor), OTHER_FORMATS)
    for field in fields:
        value, number_format = body.get(field), getattr(formats, field)
        if isinstance(value, str) and not number_format.pattern.fullmatch(value):
            yield Violation(field, number_format.description)
