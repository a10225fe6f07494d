"""Parses the query parameter `by`: account, service, tag:KEY, line_type, day."""

import re
from dataclasses import dataclass

from nimbill.foundation.errors import Violation, refuse_if

DIMENSIONS = ("account", "service", "line_type", "day")
TAG_PREFIX = "tag:"
KEY_LENGTH_MAX = 1000
TAGS_MAX = 2
RULE = (
    "account, service, tag:KEY, line_type and day, separated by commas, each at most once; at most "
    "two different tags; a comma inside a key is written \\,"
)
RULE_ROWS = "a grouping with at most {} rows; choose fewer dimensions, or one vendor"


@dataclass(frozen=True, slots=True)
class Grouping:
    # in the requested order, `tag` and `tag_2` for tags
    dimensions: tuple[str, ...]
    tag_keys: tuple[str, ...] = ()

    @property
    def needs_tagged_sums(self) -> bool:
        """Sums by one tag or by day are always stored, all others only for some tag keys."""
        return len(self.tag_keys) > 1 or (bool(self.tag_keys) and "day" in self.dimensions)


def parse_grouping(by: str) -> Grouping:
    items = re.split(r"(?<!\\),", by)
    others = [item for item in items if not item.startswith(TAG_PREFIX)]
    keys: list[str] = []
    dimensions: list[str] = []
    for item in items:
        if item.startswith(TAG_PREFIX):
            keys.append(item.removeprefix(TAG_PREFIX).replace("\\,", ","))
            dimensions.append("tag" if len(keys) == 1 else f"tag_{len(keys)}")
        else:
            dimensions.append(item)
    valid_dimensions = set(others) <= set(DIMENSIONS) and len(set(others)) == len(others)
    valid_tags = len(keys) <= TAGS_MAX and len(set(keys)) == len(keys)
    if not valid_dimensions or not valid_tags or any(len(key) > KEY_LENGTH_MAX for key in keys):
        refuse_if([Violation("by", RULE)])
    return Grouping(tuple(dimensions), tuple(keys))
