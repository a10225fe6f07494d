"""The tag keys of a report: one, or two that are separated by a comma."""

import re

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if

basis = chosen("portal-tags")

KEY_LENGTH_MAX = 1000
KEY_RULE = f"a tag key of 1 to {KEY_LENGTH_MAX} characters"
RULE = (
    f"two different tag keys of 1 to {KEY_LENGTH_MAX} characters, separated by a comma; "
    "a comma inside a key is written \\,"
)
RULE_FOR_CUSTOMERS = (
    "tag keys of the setting report_tag_keys; ask your reseller to add the key to it"
)
RULE_FOR_ORGANISATIONS = (
    "tag keys of the organisation setting report_tag_keys; add the key to it with "
    "PUT /m/core/settings"
)


def is_tag_key(key: str) -> bool:
    return 1 <= len(key) <= KEY_LENGTH_MAX


def parse_keys(keys: str) -> tuple[str, str]:
    """Parse the parameter `keys`."""
    parsed = [key.replace("\\,", ",") for key in re.split(r"(?<!\\),", keys)]
    is_valid = len(parsed) == 2 and parsed[0] != parsed[1]
    if not is_valid or not all(is_tag_key(key) for key in parsed):
        refuse_if([Violation("keys", RULE)])
    return parsed[0], parsed[1]
