"""Which findings an invoice has, compared with the month before."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from nimbill.closing.checks.bodies import FindingCause, FindingCode
from nimbill.closing.checks.finding_rules import (
    CheckLimits,
    InvoiceFigures,
    convert_amount_before,
    find_change_cause,
    find_findings,
)
from nimbill.foundation.currency import Currency

LIMITS = CheckLimits(change=Decimal("0.3"), margin=Decimal(0))
USUAL = InvoiceFigures(
    currency=Currency.jpy,
    cost_currency=Currency.usd,
    exchange_rate=Decimal(150),
    amount=Decimal(16500),
    vendor_cost=Decimal(15000),
)


def find(
    current: InvoiceFigures | None,
    before: InvoiceFigures | None = USUAL,
    limits: CheckLimits = LIMITS,
    *,
    has_costs: bool = True,
) -> dict[str, str]:
    found = find_findings(current, before, limits, has_costs=has_costs)
    return {code.value: cause.value for code, cause in found}


def test_an_invoice_like_the_one_before_has_no_finding() -> None:
    assert find(USUAL) == {}


@pytest.mark.parametrize(
    ("amount", "is_found"), [(21450, False), (21451, True), (11550, False), (11549, True)]
)
def test_a_change_of_exactly_the_limit_is_no_finding(amount: int, *, is_found: bool) -> None:
    current = replace(USUAL, amount=Decimal(amount), vendor_cost=Decimal(1))

    assert ("change_above_limit" in find(current)) is is_found


def test_anything_after_nothing_is_a_change() -> None:
    nothing = replace(USUAL, amount=Decimal(0), vendor_cost=Decimal(0))

    assert find(USUAL, nothing) == {"change_above_limit": "usage"}


@pytest.mark.parametrize(
    ("vendor_cost", "limit", "cause"),
    [
        (16500, "0", None),
        (16501, "0", "sold_below_cost"),
        (14850, "0.1", None),
        (14851, "0.1", "low_margin"),
        (16600, "-0.1", None),
    ],
)
def test_a_margin_below_the_limit_is_found(vendor_cost: int, limit: str, cause: str | None) -> None:
    current = replace(USUAL, vendor_cost=Decimal(vendor_cost))

    found = find(current, USUAL, replace(LIMITS, margin=Decimal(limit)))

    assert found.get("margin_below_limit") == cause


@pytest.mark.parametrize(
    ("amount", "vendor_cost", "expected"),
    [
        (0, 0, ("zero", "no_costs")),
        (0, 5, ("zero", "credits")),
        (-1, 5, ("negative", "credits")),
    ],
)
def test_zero_and_negative_amounts_are_found(
    amount: int, vendor_cost: int, expected: tuple[str, str]
) -> None:
    current = replace(USUAL, amount=Decimal(amount), vendor_cost=Decimal(vendor_cost))

    assert expected in find(current).items()


def test_new_and_vanished_customers_are_found() -> None:
    assert find(USUAL, None) == {"new_customer": "no_invoice_before"}
    assert find(None, has_costs=False) == {"vanished_customer": "no_costs"}
    assert find(None, has_costs=True) == {"vanished_customer": "not_invoiced"}
    assert find(None, None) == {}


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"amount": 33000, "vendor_cost": 30000}, FindingCause.usage),
        ({"amount": 33000, "vendor_cost": 30000, "exchange_rate": 300}, FindingCause.exchange_rate),
        ({"amount": 33000}, FindingCause.terms),
        ({"amount": 5000}, FindingCause.terms),
        ({"amount": -5000}, FindingCause.usage),
        ({"amount": 33000, "cost_currency": Currency.jpy}, FindingCause.usage),
    ],
)
def test_the_cause_is_what_moved_the_amount_most(
    changes: dict[str, int | Currency], cause: FindingCause
) -> None:
    values: dict[str, Any] = {
        name: value if isinstance(value, Currency) else Decimal(value)
        for name, value in changes.items()
    }

    assert find_change_cause(replace(USUAL, **values), USUAL) is cause


def test_a_rate_that_is_not_used_is_no_cause() -> None:
    """Costs in yen on an invoice in yen are not converted; costs in yen may be sold in dollars."""
    in_yen = replace(USUAL, cost_currency=Currency.jpy)
    in_dollars = replace(
        in_yen, currency=Currency.usd, amount=Decimal(110), vendor_cost=Decimal(100)
    )
    other_rate: dict[str, Any] = {"exchange_rate": Decimal(300)}
    doubled: dict[str, Any] = {"amount": Decimal(33000), "vendor_cost": Decimal(30000)}
    halved: dict[str, Any] = {"amount": Decimal(55), "vendor_cost": Decimal(50)}

    used = replace(in_dollars, **other_rate, **halved)

    assert find_change_cause(replace(in_yen, **other_rate, **doubled), in_yen) is FindingCause.usage
    assert find_change_cause(used, in_dollars) is FindingCause.exchange_rate


def test_an_earlier_amount_in_another_currency_is_converted_at_its_own_rate() -> None:
    before = replace(USUAL, currency=Currency.usd, amount=Decimal("110.00"))

    assert convert_amount_before(replace(USUAL, exchange_rate=Decimal(100)), before) == 16500
    assert convert_amount_before(USUAL, USUAL) == 16500


def test_findings_come_in_the_order_of_their_codes() -> None:
    current = replace(USUAL, vendor_cost=Decimal(99999))
    codes = list(FindingCode)
    positions = [
        codes.index(code) for code, _ in find_findings(current, None, LIMITS, has_costs=True)
    ]

    assert positions == sorted(positions)
    assert len(positions) == 2
