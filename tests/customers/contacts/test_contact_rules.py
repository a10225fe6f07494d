"""The rules of a contact's name and address, and of the contacts of a group."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.contacts.contact_rules import (
    CONTACTS_MAX,
    HONORIFICS,
    find_contact_conflict,
    find_contact_violations,
)

EMAIL = "hanako@example.com"


def find(name: Any, email: Any = EMAIL) -> list[str]:
    return [each.field for each in find_contact_violations({"name": name, "email": email})]


@pytest.mark.parametrize("name", ["山田 花子", "経理部", "Hanako Yamada", "王様のレストラン 佐藤"])
def test_a_name_is_one_line(name: str) -> None:
    assert find(name) == []


@pytest.mark.parametrize(
    "name", ["", " ", "山田\n花子", "a\r\nBcc: b@example.com", "a\u2028b", "\0"]
)
def test_a_name_of_several_lines_or_none_is_refused(name: str) -> None:
    assert find(name) == ["name"]


@pytest.mark.parametrize("honorific", HONORIFICS)
def test_a_name_ends_without_an_honorific(honorific: str) -> None:
    assert find(f"山田 花子{honorific}") == ["name"]
    assert find(f"山田 花子 {honorific} ") == ["name"]


@pytest.mark.parametrize(
    "email", [None, "", "a", "a@b c", "a@b\r\nBcc: c@d", "A <a@b.c>", "a@b,c@d"]
)
def test_a_bad_address_is_refused(email: Any) -> None:
    assert find("山田 花子", email) == ["email"]


def test_a_name_of_a_wrong_type_is_left_to_the_body() -> None:
    assert find(3) == []
    assert find(None) == []


def test_a_group_has_an_address_once_in_any_letter_case() -> None:
    assert find_contact_conflict("Hanako@Example.com", [EMAIL]) == "contact_email_taken"
    assert find_contact_conflict(EMAIL, ["taro@example.com"]) is None


def test_a_group_has_a_limited_number_of_contacts() -> None:
    others = [f"{number}@example.com" for number in range(CONTACTS_MAX)]

    assert find_contact_conflict(EMAIL, others) == "too_many_contacts"
    assert find_contact_conflict(EMAIL, others[1:]) is None
    assert find_contact_conflict(others[0], others) == "contact_email_taken"
