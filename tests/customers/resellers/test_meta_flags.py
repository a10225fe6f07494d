"""Display flags: names, defaults and rules."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.resellers.meta_flags import (
    FLAGS,
    HIDDEN_BY_DEFAULT,
    VISIBLE_BY_DEFAULT,
    find_flag_violations,
)


def check(meta: Any) -> list[tuple[str, str]]:
    return [(violation.field, violation.rule) for violation in find_flag_violations(meta)]


def test_there_are_34_specified_flags_and_the_flag_of_the_sample() -> None:
    assert len(set(VISIBLE_BY_DEFAULT) | set(HIDDEN_BY_DEFAULT)) == 34
    assert set(FLAGS) == {*VISIBLE_BY_DEFAULT, *HIDDEN_BY_DEFAULT, "aq_link"}
    assert [name for name, visible in FLAGS.items() if visible] == list(VISIBLE_BY_DEFAULT)


@pytest.mark.parametrize("meta", [{}, FLAGS, {"aq_link": True}, {"invoice": False}])
def test_known_flags_are_accepted(meta: Any) -> None:
    assert check(meta) == []


@pytest.mark.parametrize("meta", [None, [], "invoice", 7])
def test_values_of_a_wrong_type_are_left_to_the_body_check(meta: Any) -> None:
    assert check(meta) == []


def test_an_unknown_flag_is_refused_without_repeating_its_name() -> None:
    assert check({"invoice": True, "Invoice": True, "unknown": 1}) == [("meta", "known flags only")]


@pytest.mark.parametrize("value", [None, 0, 1, "true", [], {}])
def test_a_flag_is_true_or_false(value: Any) -> None:
    assert check({"ri_purchased": value, "invoice": value}) == [
        ("meta.ri_purchased", "true or false"),
        ("meta.invoice", "true or false"),
    ]


def test_unknown_flags_and_wrong_values_are_reported_at_once() -> None:
    assert check({"unknown": True, "invoice": None}) == [
        ("meta", "known flags only"),
        ("meta.invoice", "true or false"),
    ]
