"""The tag keys of a report."""

import pytest

from nimbill.foundation.errors import Invalid
from nimbill.portal.tags.tag_rules import KEY_LENGTH_MAX, is_tag_key, parse_keys


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("Team,Stage", ("Team", "Stage")),
        ("a\\,b,c", ("a,b", "c")),
        ("a b,c=d", ("a b", "c=d")),
    ],
)
def test_two_keys_are_separated_by_a_comma(keys: str, expected: tuple[str, str]) -> None:
    assert parse_keys(keys) == expected


@pytest.mark.parametrize(
    "keys", ["", "a", "a,", ",a", "a,a", "a,b,c", f"a,{'b' * (KEY_LENGTH_MAX + 1)}"]
)
def test_anything_but_two_different_keys_is_refused(keys: str) -> None:
    with pytest.raises(Invalid):
        parse_keys(keys)


@pytest.mark.parametrize(
    ("key", "is_valid"),
    [("", False), ("a", True), ("a" * KEY_LENGTH_MAX, True), ("a" * (KEY_LENGTH_MAX + 1), False)],
)
def test_a_key_has_a_length(key: str, is_valid: bool) -> None:
    assert is_tag_key(key) is is_valid
