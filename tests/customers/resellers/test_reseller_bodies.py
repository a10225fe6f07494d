"""Field rules of the bodies that create and change reseller accounts."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.resellers.bodies import ResellerCreate, ResellerMeta, ResellerPassword
from nimbill.customers.resellers.meta_flags import FLAGS
from tests.body_violations import find_body_violations
from tests.customers.resellers.reseller_accounts import CUSTOM_PASSWORD, build_body

PASSWORD_BODY = {"input_type": "Custom", "notification": False, "password": CUSTOM_PASSWORD}


def check_create(**changes: Any) -> list[tuple[str, str]]:
    return find_body_violations(ResellerCreate, build_body("cmp_one", **changes))


def check_password(**changes: Any) -> list[tuple[str, str]]:
    body = {name: value for name, value in (PASSWORD_BODY | changes).items() if value is not ...}
    return find_body_violations(ResellerPassword, body)


@pytest.mark.parametrize("value", [..., None])
def test_required_fields_may_not_be_absent_or_null(value: Any) -> None:
    for field in ("email", "company_id", "input_type", "notification", "meta"):
        assert check_create(**{field: value}) == [(field, "required")]
    for field in ("input_type", "notification"):
        assert check_password(**{field: value}) == [(field, "required")]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("input_type", "auto", "one of Auto, Custom"),
        ("input_type", "AUTO", "one of Auto, Custom"),
        ("input_type", "custom", "one of Auto, Custom"),
        ("input_type", "", "one of Auto, Custom"),
        ("input_type", 1, "one of Auto, Custom"),
        ("input_type", True, "one of Auto, Custom"),
        ("notification", "true", "true or false"),
        ("notification", "false", "true or false"),
        ("notification", 1, "true or false"),
        ("notification", 0, "true or false"),
        ("notification", {}, "true or false"),
        ("password", 12345678, "a text"),
    ],
)
def test_values_of_a_wrong_type_are_refused(field: str, value: Any, rule: str) -> None:
    assert check_create(**{field: value}) == [(field, rule)]
    assert check_password(**{field: value}) == [(field, rule)]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("email", 7, "a text"),
        ("email", ["a@example.com"], "a text"),
        ("company_id", 7, "a text"),
        ("company_id", True, "a text"),
        ("meta", [], "an object"),
        ("meta", "{}", "an object"),
        ("meta", True, "an object"),
    ],
)
def test_a_new_account_with_a_value_of_a_wrong_type_is_refused(
    field: str, value: Any, rule: str
) -> None:
    assert check_create(**{field: value}) == [(field, rule)]


@pytest.mark.parametrize("password", ["12345678", "x" * 18, "パスワードは八文字", "  spaces  "])
def test_a_custom_password_of_8_to_18_characters_is_accepted(password: str) -> None:
    assert check_create(password=password) == check_password(password=password) == []


@pytest.mark.parametrize("password", ["", "1234567", "x" * 19, "七文字ですよね", ..., None])
def test_any_other_custom_password_is_refused(password: Any) -> None:
    violations = [("password", "length 8 to 18")]

    assert check_create(password=password) == check_password(password=password) == violations


@pytest.mark.parametrize("password", [..., None, "x"])
def test_with_auto_the_password_is_ignored(password: Any) -> None:
    assert check_create(input_type="Auto", password=password) == []
    assert check_password(input_type="Auto", password=password) == []


@pytest.mark.parametrize(
    "email",
    [
        "a@b",
        "hanako.sato+billing@mail.example.co.jp",
        "o'neil@example.com",
        "UPPER@EXAMPLE.COM",
        "花子@例え.jp",
        f"{'a' * 242}@example.com",
    ],
)
def test_an_email_address_is_accepted(email: str) -> None:
    assert check_create(email=email) == []


@pytest.mark.parametrize(
    "email",
    [
        "",
        "hanako",
        "@example.com",
        "hanako@",
        "a@b@example.com",
        "a b@example.com",
        "a@exa mple.com",
        "a@example.com ",
        " a@example.com",
        "a@example.com\r\nBcc: b@example.com",
        "a@example.com\n",
        "a\t@example.com",
        "a,b@example.com",
        "Hanako <a@example.com>",
        '"a"@example.com',
        "a@example..com",
        "a@-example.com",
        "a@.com",
        "=?utf-8?q?victim=40example.net=2C?=@example.com",
        "=?utf-8?b?dmljdGltQGV4YW1wbGUubmV0LA==?=@example.com",
        "a\u2028@example.com",
        f"{'a' * 243}@example.com",
    ],
)
def test_any_other_text_is_refused_as_email_address(email: str) -> None:
    assert check_create(email=email) == [("email", "an e-mail address")]


# ── display flags ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("meta", [{}, dict(FLAGS), {"aq_link": True}])
def test_known_flags_are_accepted(meta: dict[str, Any]) -> None:
    assert check_create(meta=meta) == find_body_violations(ResellerMeta, {"meta": meta}) == []


@pytest.mark.parametrize(
    ("name", "violation"),
    [
        ("unknown", ("meta.unknown", "not a known flag")),
        ("INVOICE", ("meta.INVOICE", "not a known flag")),
        ("invoice ", ("meta", "known flags only")),
        ("__proto__", ("meta", "known flags only")),
    ],
)
def test_an_unknown_flag_is_refused(name: str, violation: tuple[str, str]) -> None:
    meta = {"invoice": True, name: True}
    violations = [violation]

    assert check_create(meta=meta) == violations
    assert find_body_violations(ResellerMeta, {"meta": meta}) == violations


@pytest.mark.parametrize("value", ["true", 1, 0, [], {}, "", 1.0])
def test_a_flag_is_true_or_false(value: Any) -> None:
    violations = [("meta.open_api", "true or false")]

    assert check_create(meta={"open_api": value}) == violations
    assert find_body_violations(ResellerMeta, {"meta": {"open_api": value}}) == violations


@pytest.mark.parametrize(
    ("body", "violation"),
    [
        ({}, ("meta", "required")),
        ({"meta": None}, ("meta", "required")),
        ({"meta": []}, ("meta", "an object")),
        ({"meta": "invoice"}, ("meta", "an object")),
        ({"invoice": True}, ("meta", "required")),
    ],
)
def test_a_change_of_flags_nests_them_in_meta(body: Any, violation: tuple[str, str]) -> None:
    assert find_body_violations(ResellerMeta, body) == [violation]
