"""Parses the query parameter `by`: account, service, tag:KEY, line_type, day."""

import re
from dataclasses import dataclass

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, refuse_if

basis = chosen("read-costs")

DIMENSIONS = ("account", "service", "line_type", "day")
TAG_PREFIX = "tag:"
KEY_LENGTH_MAX = 1000
RULE = (
    "account, service, tag:KEY, line_type and day, separated by commas, each at most once; at most "
    "one tag, not together with day; a comma inside a key is written \\,"
)


@dataclass(frozen=True, slots=True)
class Grouping:
    dimensions: tuple[str, ...]  # in the requested order, `tag` for the tag
    tag_key: str | None = None


def parse_grouping(by: str) -> Grouping:
    items = re.split(r"(?<!\\),", by)
    keys = [
        item.removeprefix(TAG_PREFIX).replace("\\,", ",")
        for item in items
        if item.startswith(TAG_PREFIX)
    ]
    others = [item for item in items if not item.startswith(TAG_PREFIX)]
    valid_dimensions = set(others) <= set(DIMENSIONS) and len(set(others)) == len(others)
    valid_tags = len(keys) <= 1 and all(len(key) <= KEY_LENGTH_MAX for key in keys)
    if not valid_dimensions or not valid_tags or (keys and "day" in others):
        refuse_if([Violation("by", RULE)])
    dimensions = tuple("tag" if item.startswith(TAG_PREFIX) else item for item in items)
    return Grouping(dimensions, keys[0] if keys else None)
