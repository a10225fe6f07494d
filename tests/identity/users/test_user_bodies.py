"""Field rules of the bodies that create subusers and API clients and change passwords."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.identity.users.bodies import ApiClientCreate, PasswordChange, SubuserCreate
from tests.body_violations import find_body_violations
from tests.identity.users.user_requests import build_subuser_body

VALID_USERNAMES = (
    *("abcd", "a" * 18, "ABCD", "0123", "a_.-", "-abc", "abc-", ".abc", "_..."),
    "Z-9_z.0123456789ab",
)
INVALID_USERNAMES = (
    *("abc", "a" * 19, "", "    "),
    *("abcd\n", "abcd\r", "ab cd", " abcd", "abcd ", "ab\tcd", "ab\u00a0cd", "ab\u3000cd"),
    *("ab@cd", "ab/cd", "ab\\cd", "ab%cd", "ab+cd", "ab:cd", "ab'cd", 'ab"cd', "ab<cd", "a*cd"),
    *("ａｂｃｄ", "ab１２", "ab．cd", "ab＿cd", "ab－cd"),  # full width
    *("аbcd", "αbcd", "\u212aelvin", "ıbcd", "ſbcd", "ñbcd", "はなこ", "花子さん"),
    *("ab‐cd", "ab–cd", "ab−cd", "ab·cd", "ab…cd"),  # similar to allowed characters
    *("abcd\u0301", "ab\u200bcd", "ab\u00adcd", "ab\u202ecd", "abc😀", "٠١٢٣", "abc²", "Ⅳabc"),
)
RESERVED_USERNAMES = ("role", "Roles", "TEMPLATES", "userRoles", "permissions", "....", "." * 18)

VALID_PASSWORDS = (
    "12345678",
    "a" * 18,
    " " * 8,
    "  spaces  ",
    "😀" * 8,
    "😀" * 18,
    "e\u0301" * 4,  # eight code points, four characters on the screen
    "e\u0301" * 9,
    "パスワードです！",
    "tab\tand\nline",
)
INVALID_PASSWORDS = (
    "",
    "1234567",
    "a" * 19,
    "a" * 10_000,
    "😀" * 7,  # 28 bytes
    "😀" * 19,
    "e\u0301" * 3 + "e",  # seven code points
    "e\u0301" * 9 + "e",
    " 123456",
)

VALID_EMAILS = (
    "a@b",
    "hanako@example.com",
    "Hanako.S+billing_1@Mail.Example.co.jp",
    "o'hara!#$%&*/?=^`{|}~@x-y.example",
    "花子@例え.テスト",
    "a@1.2.3.4",
    f"{'a' * 242}@example.com",
)
INVALID_EMAILS = (
    *("", "hanako", "@", "@example.com", "hanako@", "a@b@c", "a@@b"),
    *("a b@example.com", " a@b", "a@b ", "a@b\n", "a@b\r\nBcc: c@d", "a\t@b", "a@b c"),
    *("a@.b", "a@b..c", "a@b.", "a@-b", "a@_b", "a@b/c", "a@b:25", "a@[1.2.3.4]"),
    *("<a@b>", "a@b>", "a@b,c", "a,b@c", "a;b@c", '"a b"@c', "a(b)@c", "a@b<script>", "=?x?=@b"),
    *("a@b\x01", "a\x7f@b", "a\u200b@b", "a@b\u202e", "a\u00a0@b"),
    f"{'a' * 243}@example.com",
)


def check(**changes: Any) -> list[tuple[str, str]]:
    return find_body_violations(SubuserCreate, build_subuser_body(**changes))


@pytest.mark.parametrize("value", [None, ...])
def test_username_password_and_notification_are_required(value: Any) -> None:
    assert check() == check(email=value) == []
    for field in ("username", "password", "notification"):
        assert check(**{field: value}) == [(field, "required")]


def test_a_username_has_4_to_18_letters_digits_and_three_other_characters() -> None:
    for username in VALID_USERNAMES:
        assert check(username=username) == [], username
    for username in INVALID_USERNAMES:
        violations = [("username", "4 to 18 letters, digits, _, . or -")]
        assert check(username=username) == violations, username


def test_reserved_words_are_refused_as_usernames() -> None:
    for username in RESERVED_USERNAMES:
        assert check(username=username) == [("username", "not a reserved word")], username


def test_a_password_has_8_to_18_code_points() -> None:
    for password in VALID_PASSWORDS:
        assert check(password=password) == [], password
        assert find_body_violations(PasswordChange, {"password": password}) == []
    for password in INVALID_PASSWORDS:
        violations = [("password", "length 8 to 18")]
        assert check(password=password) == violations, password
        assert find_body_violations(PasswordChange, {"password": password}) == violations


def test_an_email_is_an_address() -> None:
    for email in VALID_EMAILS:
        assert check(email=email) == [], email
    for email in INVALID_EMAILS:
        assert check(email=email) == [("email", "an e-mail address")], email


@pytest.mark.parametrize("field", ["username", "password", "email"])
@pytest.mark.parametrize("value", [12345678, 12.5, True, [], ["abcdefgh"], {"abcdefgh": 1}])
def test_a_value_of_a_wrong_type_is_refused(field: str, value: Any) -> None:
    assert check(**{field: value}) == [(field, "a text")]


def test_notification_is_an_object() -> None:
    values: tuple[Any, ...] = ("true", True, [], 1)
    for value in values:
        assert check(notification=value) == [("notification", "an object")]


def test_the_notification_email_is_the_text_true_or_false() -> None:
    absent: list[dict[str, Any]] = [{}, {"email": None}, {"mail": "true"}]

    for text in ("true", "false"):
        assert check(notification={"email": text}) == []
    for email in (True, False, "True", "FALSE", "yes", "", 1, 0, [], ["true"]):
        violations = [("notification.email", "one of true, false")]
        assert check(notification={"email": email}) == violations
    for notification in absent:
        assert check(notification=notification) == [("notification.email", "required")]


def test_a_password_change_holds_texts() -> None:
    for password in (None, 12345678, ["12345678"]):
        rule = "required" if password is None else "a text"
        violations = find_body_violations(PasswordChange, {"password": password})
        assert violations == [("password", rule)]
    body = {"password": "12345678", "old_password": ["a"]}
    assert find_body_violations(PasswordChange, body) == [("old_password", "a text")]


def test_a_client_name_has_1_to_100_characters() -> None:
    for name in ("x", "n" * 100, "夜間エクスポート", "😀" * 100, " "):
        assert find_body_violations(ApiClientCreate, {"name": name}) == []
    invalid: list[Any] = ["", "n" * 101, "😀" * 101, 1, True, ["a"], {"a": "b"}]
    for name in invalid:
        violations = find_body_violations(ApiClientCreate, {"name": name})
        assert violations == [("name", "length 1 to 100")]
    assert find_body_violations(ApiClientCreate, {"name": None}) == [("name", "required")]
