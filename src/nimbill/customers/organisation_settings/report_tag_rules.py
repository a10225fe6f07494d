"""Rules of the tag keys by which costs are summed for reports, and the job that sums again."""

from collections.abc import Iterator
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("report-tag-keys")

KEYS_MAX = 5
KEY_LENGTH_MAX = 128
# The job that finds the months whose sums have other keys; its type belongs to the imports.
FIND_STALE_TAGS = "find_stale_tagged_sums"


def find_report_tag_violations(keys: Any) -> Iterator[Violation]:
    """Check an unvalidated value. Values of a wrong type are reported by the body check."""
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        return
    if len(keys) > KEYS_MAX:
        yield Violation("report_tag_keys", f"at most {KEYS_MAX} keys")
    if len(set(keys)) < len(keys):
        yield Violation("report_tag_keys", "each key once")
    if not all(key.isprintable() for key in keys):
        yield Violation("report_tag_keys", "printable keys")
