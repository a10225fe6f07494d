"""Which usage of an import is compared with that of the months before."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from nimbill.costs.lake.records import USAGE
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.imports import commit_import
from nimbill.imports.commit_import import find_anomaly

PAYER, OTHER = "111111111111", "222222222222"
STEADY = [Decimal(100)] * 3


def total(
    cost: str, payer: str = PAYER, kind: str = USAGE, currency: str = "USD"
) -> dict[str, Any]:
    return {"payer_id": payer, "kind": kind, "currency": currency, "cost": cost}


def check(
    monkeypatch: pytest.MonkeyPatch, *totals: dict[str, Any], provisional: bool = False
) -> str | None:
    """Both payers used 100 dollars in each of three months before."""
    previous = {(PAYER, "USD"): STEADY, (OTHER, "USD"): STEADY}
    monkeypatch.setattr(commit_import, "load_previous_usage", AsyncMock(return_value=previous))
    period = BillingPeriod("2026-09", "aws")
    nothing = cast(Any, None)
    return asyncio.run(find_anomaly(nothing, nothing, period, totals, provisional=provisional))


def test_the_usage_of_a_payer_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, total("60"), total("40")) is None

    reason = check(monkeypatch, total("160"), total("40"))

    assert reason == f"payer {PAYER}: usage is far above that of the previous months"


def test_each_payer_and_currency_is_compared_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, total("100"), total("100", OTHER)) is None
    assert check(monkeypatch, total("100"), total("900", currency="JPY")) is None

    reason = check(monkeypatch, total("100"), total("900", OTHER))

    assert reason == f"payer {OTHER}: usage is far above that of the previous months"


def test_only_usage_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, total("100"), total("900", kind="tax")) is None


def test_a_provisional_month_may_be_low(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(monkeypatch, total("1"), provisional=True) is None
    assert check(monkeypatch, total("1")) is not None
