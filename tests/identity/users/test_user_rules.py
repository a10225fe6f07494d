"""What a username, a password and an e-mail address may be, rule by rule."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.identity.users.user_rules import (
    PASSWORD_LENGTH_MAX,
    PASSWORD_LENGTH_MIN,
    RESERVED_USERNAMES,
    email_violations,
    password_violations,
    username_violations,
)
from tests.characters import CHARACTERS
from tests.contract.specification import section, specification, table

ALLOWED = set(ascii_letters + digits + "_.-")
NO_TEXTS: list[Any] = [None, 12345678, True, ["abcdefgh"], b"abcdefgh", {"abcdefgh": 1}]
RULE, RESERVED = "4 to 18 letters, digits, _, . or -", "not a reserved word"


def rules_broken_by(username: object) -> list[str]:
    broken = list(username_violations(username))
    assert {violation.field for violation in broken} <= {"username"}
    return [violation.rule for violation in broken]


def test_the_rules_are_those_of_the_specification() -> None:
    rows = {
        row[0]: row[1:] for row in table(section(specification(), "Subuser creation body"), "Field")
    }
    limits = {row[0]: row[2] for row in table(section(specification(), "Limits"), "Limit")}

    signs = "length 4 to 18; allowed characters: letters, digits, `_`, `.`, `-`"
    assert rows["username"] == ["string", "Yes", signs]
    least, most = PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX
    assert rows["password"] == ["string", "Yes", f"length {least} to {most}"]
    assert rows["email"] == ["string", "No", "e-mail address"]
    assert rows["notification.email"] == ["string", "Yes", '`"true"` or `"false"` (strings)']
    assert limits["username"] == "4 to 18 characters"
    assert limits["password"] == f"{least} to {most} characters"


def test_a_username_has_4_to_18_characters() -> None:
    fine = [length for length in range(30) if not rules_broken_by("a" * length)]

    assert fine == list(range(4, 19))


@pytest.mark.parametrize("pattern", ["abc{}", "{}abc", "ab{}cd", "{0}{0}{0}{0}x"])
def test_a_username_holds_these_characters_and_no_others(pattern: str) -> None:
    allowed = {one for one in CHARACTERS if not rules_broken_by(pattern.format(one))}

    assert allowed == ALLOWED


@given(st.text(alphabet="aZ09_.- é\n/", max_size=22))
def test_a_username_is_judged_as_the_row_says(username: str) -> None:
    as_said = 4 <= len(username) <= 18 and set(username) <= ALLOWED
    broken = rules_broken_by(username)

    assert (broken == [RULE]) is not as_said
    if as_said and username.strip("."):
        assert broken == []


def test_reserved_words_are_no_usernames_in_whatever_letters() -> None:
    for word in RESERVED_USERNAMES:
        for spelled in (word, word.upper(), word.capitalize()):
            assert rules_broken_by(spelled) == [RESERVED]
        assert rules_broken_by(f"{word}1") == []
    for dots in range(4, 19):
        assert rules_broken_by("." * dots) == [RESERVED]
    assert rules_broken_by("...-") == []


@pytest.mark.parametrize("value", NO_TEXTS)
def test_what_is_no_text_is_none_of_them(value: Any) -> None:
    assert rules_broken_by(value) == [RULE]
    assert list(password_violations(value)) == [("password", "length 8 to 18")]
    assert list(email_violations(value)) == [("email", "an e-mail address")]


@given(st.text(max_size=24))
def test_a_password_is_counted_in_code_points_and_nothing_else_matters(password: str) -> None:
    broken = list(password_violations(password, field="secret"))

    assert broken == ([] if 8 <= len(password) <= 18 else [("secret", "length 8 to 18")])


@settings(max_examples=50)
@given(st.emails().filter(lambda email: "=?" not in email))
def test_an_ordinary_email_address_is_taken(email: str) -> None:
    assert list(email_violations(email)) == []


@given(st.text(max_size=12), st.text(max_size=12))
def test_an_email_address_has_one_at_and_nothing_that_breaks_a_header(
    left: str, right: str
) -> None:
    email = f"{left}@{right}"
    if not list(email_violations(email)):
        assert email.count("@") == 1
        assert left
        assert right
        assert email.isprintable()
        assert not set(email) & set(' <>,;:"()[]\\')
        assert "=?" not in email


def test_an_email_address_has_at_most_254_characters() -> None:
    longest = f"{'a' * 242}@example.com"

    assert len(longest) == 254
    assert list(email_violations(longest)) == []
    assert list(email_violations(f"a{longest}"))


def test_a_hostile_email_address_is_judged_at_once() -> None:
    """A rule that tried every way to cut it would take years; too long ones are not even read."""
    for hostile in ("a@" + "a-" * 124 + "!", "a@" + "a." * 126, "a" * 100_000 + "@b", "@" * 254):
        assert list(email_violations(hostile)) == [("email", "an e-mail address")]
