"""What we refuse: one class for each status, a code for each reason, nothing repeated."""

import pytest

from nimbill.foundation import errors
from nimbill.foundation.errors import (
    Invalid,
    NotFound,
    ServiceError,
    Unreadable,
    Violation,
    refuse_if,
)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.Invalid, 400),
        (errors.NotAuthenticated, 401),
        (errors.NotPermitted, 403),
        (errors.NotFound, 404),
        (errors.Conflict, 409),
        (errors.TooMany, 429),
        (errors.Unavailable, 503),
    ],
)
def test_each_refusal_has_its_status(kind: type[ServiceError], status: int) -> None:
    refusal = kind("reason", "a sentence")

    assert refusal.status == status
    assert refusal.title
    assert (refusal.code, refusal.detail, refusal.violations) == ("reason", "a sentence", ())


def test_the_tree_in_the_first_lines_names_every_refusal() -> None:
    drawn = errors.__doc__ or ""

    for kind in ServiceError.__subclasses__():
        if kind.__module__ == errors.__name__:
            assert f"─ {kind.__name__} " in drawn


@pytest.mark.parametrize("status", [408, 413, 415])
def test_a_body_that_cannot_be_taken_says_which_way(status: int) -> None:
    assert Unreadable(status, "reason", "a sentence").status == status
    assert Unreadable.status == 415


def test_no_violation_is_no_refusal() -> None:
    refuse_if([])


def test_all_violations_are_refused_together() -> None:
    broken = [Violation("a", "required"), Violation("b", "one of x, y")]

    with pytest.raises(Invalid) as refusal:
        refuse_if(broken)

    assert refusal.value.violations == tuple(broken)
    assert refusal.value.code == "rule_broken"


def test_what_is_not_there_has_one_answer() -> None:
    one, other = errors.not_found(), errors.not_found()

    assert isinstance(one, NotFound)
    assert (one.code, one.detail) == (other.code, other.detail)
