"""The conversion of a fee to the customer's currency."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from nimbill.foundation.currency import Currency
from nimbill.portal.fees.operations import convert_fee
from nimbill.portal.prices import CustomerPrice, NoPrice


def build_row(currency_code: str = "USD", exchange_rate: str = "0") -> Any:
    return SimpleNamespace(
        entry_id="rce_1",
        customer_id="111111111111",
        calc_type="Fee",
        description="a certificate",
        unblended_cost=Decimal(10),
        currency_code=currency_code,
        exchange_rate=Decimal(exchange_rate),
        tax_free=False,
    )


def build_price(currency: Currency = Currency.jpy, rate: str | None = "150") -> CustomerPrice:
    return CustomerPrice(
        currency=currency,
        discount_rate=Decimal("0.5"),
        exchange_rate=None if rate is None else Decimal(rate),
        is_provisional=True,
    )


@pytest.mark.parametrize(
    ("row", "price", "amount"),
    [
        (build_row(), build_price(), 1500),
        (build_row(exchange_rate="120"), build_price(), 1200),
        (build_row(exchange_rate="120"), build_price(rate=None), 1200),
        (build_row(), build_price(Currency.usd, None), 10),
        (build_row("JPY"), build_price(rate=None), 10),
        (build_row("JPY", "5"), build_price(Currency.usd), 2),
    ],
)
def test_a_fee_is_converted_at_its_own_rate_or_the_months_without_discount(
    row: Any, price: CustomerPrice, amount: int
) -> None:
    assert convert_fee(row, "first", price) == amount


@pytest.mark.parametrize(
    ("row", "price", "reason"),
    [
        (build_row(), None, "settings_missing"),
        (build_row(), build_price(rate=None), "rate_missing"),
        (build_row("EUR"), build_price(), "unsupported_currency"),
    ],
)
def test_a_fee_that_cannot_be_converted_has_a_reason(
    row: Any, price: CustomerPrice | None, reason: str
) -> None:
    with pytest.raises(NoPrice) as error:
        convert_fee(row, "first", price)

    assert error.value.reason == reason
