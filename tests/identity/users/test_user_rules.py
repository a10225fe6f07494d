"""Rules of usernames and passwords."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.identity.users.user_rules import (
    PASSWORD_LENGTH_MAX,
    PASSWORD_LENGTH_MIN,
    RESERVED_USERNAMES,
    find_password_violations,
    find_username_violations,
)
from tests.contract.specification import read_table
from tests.sample_characters import CHARACTERS

ALLOWED = set(ascii_letters + digits + "_.-")
WRONG_TYPES: list[Any] = [None, 12345678, True, ["abcdefgh"], b"abcdefgh", {"abcdefgh": 1}]
RULE, RESERVED = "4 to 18 letters, digits, _, . or -", "not a reserved word"


def check_username(username: object) -> list[str]:
    violations = list(find_username_violations(username))
    assert {violation.field for violation in violations} <= {"username"}
    return [violation.rule for violation in violations]


def test_the_rules_are_those_of_the_specification() -> None:
    rows = {row[0]: row[1:] for row in read_table("Subuser creation body")}
    limits = {row[0]: row[2] for row in read_table("Limits", "Limit")}

    characters = "length 4 to 18; allowed characters: letters, digits, `_`, `.`, `-`"
    assert rows["username"] == ["string", "Yes", characters]
    least, most = PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX
    assert rows["password"] == ["string", "Yes", f"length {least} to {most}"]
    assert rows["email"] == ["string", "No", "e-mail address"]
    assert rows["notification.email"] == ["string", "Yes", '`"true"` or `"false"` (strings)']
    assert limits["username"] == "4 to 18 characters"
    assert limits["password"] == f"{least} to {most} characters"


def test_a_username_has_4_to_18_characters() -> None:
    valid = [length for length in range(30) if not check_username("a" * length)]

    assert valid == list(range(4, 19))


@pytest.mark.parametrize("pattern", ["abc{}", "{}abc", "ab{}cd", "{0}{0}{0}{0}x"])
def test_a_username_consists_of_allowed_characters(pattern: str) -> None:
    allowed = {each for each in CHARACTERS if not check_username(pattern.format(each))}

    assert allowed == ALLOWED


@given(st.text(alphabet="aZ09_.- é\n/", max_size=22))
def test_any_text_is_checked_for_length_and_characters(username: str) -> None:
    valid = 4 <= len(username) <= 18 and set(username) <= ALLOWED
    violations = check_username(username)

    assert (violations == [RULE]) is not valid
    if valid and username.strip("."):
        assert violations == []


def test_reserved_words_are_refused_in_any_case() -> None:
    for word in RESERVED_USERNAMES:
        for spelling in (word, word.upper(), word.capitalize()):
            assert check_username(spelling) == [RESERVED]
        assert check_username(f"{word}1") == []
    for dots in range(4, 19):
        assert check_username("." * dots) == [RESERVED]
    assert check_username("...-") == []


@pytest.mark.parametrize("value", WRONG_TYPES)
def test_values_of_a_wrong_type_are_refused(value: Any) -> None:
    assert check_username(value) == [RULE]
    assert list(find_password_violations(value)) == [("password", "length 8 to 18")]


@given(st.text(max_size=24))
def test_only_the_number_of_code_points_of_a_password_is_checked(password: str) -> None:
    violations = list(find_password_violations(password, field="secret"))

    assert violations == ([] if 8 <= len(password) <= 18 else [("secret", "length 8 to 18")])
