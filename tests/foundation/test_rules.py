"""Rules for field values, at their limits."""

from decimal import Decimal

import pytest

from nimbill.foundation.rules import Rule, between, one_of, per_vendor


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        ("jpy", True),
        ("usd", True),
        ("JPY", False),
        ("jpy ", False),
        ("", False),
        (None, False),
        (["jpy"], False),
        (1, False),
    ],
)
def test_one_of_accepts_only_its_exact_values(value: object, *, allowed: bool) -> None:
    assert one_of("jpy", "usd").allows(value) is allowed


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        (Decimal(0), True),
        (Decimal("-0"), True),
        (Decimal("0.10"), True),
        (Decimal("0.1000000000000000000000000001"), False),
        (Decimal("-0.0000000001"), False),
        (0, True),
        (1, False),
        ("0.05", False),
        (0.05, False),
        (None, False),
    ],
)
def test_between_is_inclusive_and_accepts_only_exact_numbers(
    value: object, *, allowed: bool
) -> None:
    assert between("0", "0.10").allows(value) is allowed


def test_str_of_a_rule_describes_it() -> None:
    assert str(one_of("jpy", "usd")) == "one of jpy, usd"
    assert str(one_of("allusage")) == "one of allusage"
    assert str(between("0", "0.10")) == "from 0 to 0.10"
    assert str(between("0", "1000000")) == "from 0 to 1000000"


def test_each_vendor_has_its_own_rule_and_others_have_none() -> None:
    rules = per_vendor(aws=one_of("fix", "aws_business"), azure=one_of("fix"))

    assert rules["aws"].allows("aws_business")
    assert not rules["azure"].allows("aws_business")
    with pytest.raises(KeyError):
        rules["gcp"]


def test_per_vendor_is_not_itself_a_rule() -> None:
    assert isinstance(one_of("fix"), Rule)
    assert isinstance(between("0", "1"), Rule)
    assert not isinstance(per_vendor(aws=one_of("fix")), Rule)
