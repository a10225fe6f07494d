"""Errors: one class per HTTP status, with a code, a detail and violations."""

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
        (errors.TooManyRequests, 429),
        (errors.Unavailable, 503),
    ],
)
def test_each_error_class_has_its_status(kind: type[ServiceError], status: int) -> None:
    error = kind("reason", "a sentence")

    assert error.status == status
    assert error.title
    assert (error.code, error.detail, error.violations) == ("reason", "a sentence", ())


def test_the_module_docstring_lists_every_error_class() -> None:
    docstring = errors.__doc__ or ""

    for kind in ServiceError.__subclasses__():
        if kind.__module__ == errors.__name__:
            assert f"─ {kind.__name__} " in docstring


@pytest.mark.parametrize("status", [408, 413, 415])
def test_an_unreadable_body_has_one_of_three_statuses(status: int) -> None:
    assert Unreadable(status, "reason", "a sentence").status == status
    assert Unreadable.status == 415


def test_without_violations_nothing_is_raised() -> None:
    refuse_if([])


def test_all_violations_are_reported_together() -> None:
    violations = [Violation("a", "required"), Violation("b", "one of x, y")]

    with pytest.raises(Invalid) as refused:
        refuse_if(violations)

    assert refused.value.violations == tuple(violations)
    assert refused.value.code == "rule_broken"


def test_a_missing_record_always_gets_the_same_response() -> None:
    first, second = errors.not_found(), errors.not_found()

    assert isinstance(first, NotFound)
    assert (first.code, first.detail) == (second.code, second.detail)
