"""What `by` may ask for: account, service, tag:KEY, line_type, day, by comma."""

import re
from dataclasses import dataclass

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if

basis = chosen("read-costs")

WORDS = ("account", "service", "line_type", "day")
TAG = "tag:"
KEY_LENGTH_MAX = 1000
RULE = (
    "account, service, tag:KEY, line_type and day, by comma, each at most once; one tag, and none "
    "beside day; a comma inside a key is written \\,"
)


@dataclass(frozen=True, slots=True)
class Grouping:
    words: tuple[str, ...]  # as asked, `tag` for the tag
    tag_key: str | None = None


def grouping(by: str) -> Grouping:
    """Invalid where it asks for anything else."""
    asked = re.split(r"(?<!\\),", by)
    keys = [one.removeprefix(TAG).replace("\\,", ",") for one in asked if one.startswith(TAG)]
    plain = [one for one in asked if not one.startswith(TAG)]
    known = set(plain) <= set(WORDS) and len(set(plain)) == len(plain)
    one_tag = len(keys) <= 1 and all(len(key) <= KEY_LENGTH_MAX for key in keys)
    if not known or not one_tag or (keys and "day" in plain):
        refuse_if([Violation("by", RULE)])
    words = tuple("tag" if one.startswith(TAG) else one for one in asked)
    return Grouping(words, keys[0] if keys else None)
