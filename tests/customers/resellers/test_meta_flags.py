"""Display flags: names, defaults and rules."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.resellers.meta_flags import (
    FLAGS,
    HIDDEN_BY_DEFAULT,
    VISIBLE_BY_DEFAULT,
    find_flag_violations,
    read_flags,
)


def check(meta: Any) -> list[tuple[str, str]]:
    return [(violation.field, violation.rule) for violation in find_flag_violations(meta)]


def test_there_are_34_specified_flags_and_the_flag_of_the_sample() -> None:
    assert len(set(VISIBLE_BY_DEFAULT) | set(HIDDEN_BY_DEFAULT)) == 34
    assert set(FLAGS) == {*VISIBLE_BY_DEFAULT, *HIDDEN_BY_DEFAULT, "aq_link"}
    assert [name for name, visible in FLAGS.items() if visible] == list(VISIBLE_BY_DEFAULT)


@pytest.mark.parametrize(
    "meta", [{}, FLAGS, {"aq_link": True}, {"aqua_link": True}, {"invoice": False}]
)
def test_known_flags_are_accepted(meta: Any) -> None:
    assert check(meta) == []


@pytest.mark.parametrize("meta", [None, [], "invoice", 7])
def test_values_of_a_wrong_type_are_left_to_the_body_check(meta: Any) -> None:
    assert check(meta) == []


def test_an_unknown_flag_is_refused_by_its_name() -> None:
    assert check({"invoice": True, "Invoice": True, "unknown": 1}) == [
        ("meta.Invoice", "not a known flag"),
        ("meta.unknown", "not a known flag"),
    ]


@pytest.mark.parametrize("name", ["", "a b", "<script>", "canary-7c1f", "x" * 65, "über", "a\n"])
def test_a_text_that_is_no_name_is_not_repeated(name: str) -> None:
    assert check({name: True}) == [("meta", "known flags only")]


def test_at_most_20_unknown_flags_are_named() -> None:
    violations = check({f"flag_{number}": True for number in range(30)})

    assert len(violations) == 21
    assert violations[-1] == ("meta", "known flags only")


@pytest.mark.parametrize("value", [0, 1, "true", "", [], {}])
def test_a_flag_is_true_or_false(value: Any) -> None:
    assert check({"ri_purchased": value, "aqua_link": value}) == [
        ("meta.ri_purchased", "true or false"),
        ("meta.aqua_link", "true or false"),
    ]


def test_unknown_flags_and_wrong_values_are_reported_at_once() -> None:
    assert check({"unknown": True, "invoice": 1}) == [
        ("meta.unknown", "not a known flag"),
        ("meta.invoice", "true or false"),
    ]


def test_null_means_that_the_flag_is_absent() -> None:
    meta = {"invoice": None, "aq_link": None, "aqua_link": True, "usage_tag": False}

    assert check(meta) == []
    assert read_flags(meta) == {"aq_link": True, "usage_tag": False}


@pytest.mark.parametrize("value", [True, False])
def test_the_alias_of_the_published_sample_may_repeat_the_flag(value: bool) -> None:
    meta = {"aq_link": value, "aqua_link": value}

    assert check(meta) == []
    assert read_flags(meta) == {"aq_link": value}


@pytest.mark.parametrize("value", [True, False])
def test_an_alias_that_contradicts_its_flag_is_refused(value: bool) -> None:
    assert check({"aq_link": value, "aqua_link": not value}) == [
        ("meta.aqua_link", "the value of aq_link, of which it is another name")
    ]
