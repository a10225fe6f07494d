"""The tag keys of reports."""

from typing import Any

import pytest

from nimbill.customers.organisation_settings.report_tag_rules import (
    KEYS_MAX,
    find_report_tag_violations,
)


@pytest.mark.parametrize(
    ("keys", "rules"),
    [
        ([], []),
        (["team", "stage"], []),
        ([f"key{number}" for number in range(KEYS_MAX)], []),
        ([f"key{number}" for number in range(KEYS_MAX + 1)], ["at most 5 keys"]),
        (["team", "team"], ["each key once"]),
        (["te\nam"], ["printable keys"]),
        (None, []),  # the body check reports types
        (["team", 1], []),
    ],
)
def test_keys_are_few_different_and_printable(keys: Any, rules: list[str]) -> None:
    violations = list(find_report_tag_violations(keys))

    assert [violation.rule for violation in violations] == rules
    assert {violation.field for violation in violations} <= {"report_tag_keys"}
