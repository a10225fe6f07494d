"""The display flags by themselves: which there are, and what is refused as one."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.resellers.meta_flags import (
    FLAGS,
    HIDDEN_AT_FIRST,
    SHOWN_AT_FIRST,
    flag_violations,
)


def broken(meta: Any) -> list[tuple[str, str]]:
    return [tuple(violation) for violation in flag_violations(meta)]  # type: ignore[misc]


def test_there_are_thirty_four_and_the_one_of_the_sample() -> None:
    assert len(set(SHOWN_AT_FIRST) | set(HIDDEN_AT_FIRST)) == 34
    assert set(FLAGS) == {*SHOWN_AT_FIRST, *HIDDEN_AT_FIRST, "aq_link"}
    assert [name for name, shown in FLAGS.items() if shown] == list(SHOWN_AT_FIRST)


@pytest.mark.parametrize("meta", [{}, FLAGS, {"aq_link": True}, {"invoice": False}])
def test_known_flags_stand(meta: Any) -> None:
    assert broken(meta) == []


@pytest.mark.parametrize("meta", [None, [], "invoice", 7])
def test_what_is_no_object_is_left_to_its_type(meta: Any) -> None:
    assert broken(meta) == []


def test_an_unknown_flag_is_refused_and_not_repeated() -> None:
    assert broken({"invoice": True, "Invoice": True, "kanarienvogel": 1}) == [
        ("meta", "known flags only")
    ]


@pytest.mark.parametrize("value", [None, 0, 1, "true", [], {}])
def test_a_flag_is_true_or_false(value: Any) -> None:
    assert broken({"ri_purchased": value, "invoice": value}) == [
        ("meta.ri_purchased", "true or false"),
        ("meta.invoice", "true or false"),
    ]


def test_both_kinds_of_fault_are_named_at_once() -> None:
    assert broken({"unknown": True, "invoice": None}) == [
        ("meta", "known flags only"),
        ("meta.invoice", "true or false"),
    ]
