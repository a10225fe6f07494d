"""The rule of e-mail addresses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation.email_rules import find_email_violations


@pytest.mark.parametrize("value", [None, 12345678, True, ["a@b"], b"a@b", {"a@b": 1}])
def test_values_of_a_wrong_type_are_refused(value: Any) -> None:
    assert list(find_email_violations(value)) == [("email", "an e-mail address")]
    assert list(find_email_violations(value, "reply_to")) == [("reply_to", "an e-mail address")]


@pytest.mark.parametrize(
    "email",
    [
        "a@b.jp",
        "first.last+billing@accounts.example.co.jp",
        "o'brien@example.ie",
        "!#$%&'*+-/=^_`{|}~?@example.com",
        "ROOT@EXAMPLE.COM",
        "1@2.example",
        "a@xn--wgv71a119e.jp",
        f"{'a' * 64}@{'b' * 63}.example",
    ],
)
def test_an_ordinary_email_address_is_accepted(email: str) -> None:
    assert list(find_email_violations(email)) == []


@given(st.text(max_size=12), st.text(max_size=12))
def test_an_email_address_has_one_at_and_no_header_syntax(left: str, right: str) -> None:
    email = f"{left}@{right}"
    if not list(find_email_violations(email)):
        assert email.count("@") == 1
        assert left
        assert right
        assert email.isprintable()
        assert not set(email) & set(' <>,;:"()[]\\')
        assert "=?" not in email


def test_an_email_address_has_at_most_254_characters() -> None:
    longest = f"{'a' * 242}@example.com"

    assert len(longest) == 254
    assert list(find_email_violations(longest)) == []
    assert list(find_email_violations(f"a{longest}"))


def test_a_hostile_email_address_is_refused_quickly() -> None:
    """The pattern must not backtrack exponentially; addresses that are too long are not matched."""
    for hostile in ("a@" + "a-" * 124 + "!", "a@" + "a." * 126, "a" * 100_000 + "@b", "@" * 254):
        assert list(find_email_violations(hostile)) == [("email", "an e-mail address")]
