"""Balances of invoices and the rules of payments."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import add_decimals, sum_decimals
from nimbill.receivables.payments.payment_rules import (
    Balance,
    InvoiceNumber,
    PaymentState,
    count_days_overdue,
    exceeds_balance,
    find_payment_violations,
    parse_csv_amount,
    parse_csv_date,
    parse_invoice_no,
    round_to_unit,
)

TODAY = date(2026, 11, 17)


def balance(total: object, credited: object = 0, paid: object = 0) -> Balance:
    return Balance(*(Decimal(str(amount)) for amount in (total, credited, paid)))


@pytest.mark.parametrize(
    ("amounts", "left", "state"),
    [
        (balance(1000), 1000, PaymentState.open),
        (balance(1000, credited=400), 600, PaymentState.open),
        (balance(1000, paid=1), 999, PaymentState.partly_paid),
        (balance(1000, 400, 599), 1, PaymentState.partly_paid),
        (balance(1000, paid=1000), 0, PaymentState.paid),
        (balance(1000, credited=1000), 0, PaymentState.paid),
        (balance(1000, 400, 600), 0, PaymentState.paid),
        (balance(0), 0, PaymentState.paid),
        (balance(1000, paid=1001), -1, PaymentState.overpaid),
        (balance(1000, 1, 1000), -1, PaymentState.overpaid),
        (balance(-5), -5, PaymentState.overpaid),
        (balance("10.10", "0.05", "10.04"), Decimal("0.01"), PaymentState.partly_paid),
    ],
)
def test_the_state_follows_from_the_amounts(
    amounts: Balance, left: object, state: PaymentState
) -> None:
    assert (amounts.open_balance, amounts.state) == (left, state)


def test_only_more_than_the_open_balance_exceeds_it() -> None:
    assert not exceeds_balance(Decimal(600), balance(1000, paid=400))
    assert exceeds_balance(Decimal("600.01"), balance(1000, paid=400))
    assert exceeds_balance(Decimal(1), balance(1000, paid=1000))


@pytest.mark.parametrize(
    ("left", "due_date", "days"),
    [
        (1, "2026-11-16", 1),
        (1, "2026-11-17", 0),
        (1, "2026-11-18", 0),
        (1, "2025-11-17", 365),
        (0, "2026-11-16", 0),
        (-1, "2026-11-16", 0),
        (1, None, 0),
    ],
)
def test_an_invoice_is_overdue_from_the_day_after_its_due_date(
    left: int, due_date: str | None, days: int
) -> None:
    assert count_days_overdue(Decimal(left), due_date, TODAY) == days


@pytest.mark.parametrize(
    ("amount", "paid_on", "currency", "fields"),
    [
        ("1", "2026-11-17", Currency.jpy, []),
        ("1E+3", "0001-01-01", Currency.jpy, []),
        ("0.01", "2026-11-17", Currency.usd, []),
        ("0.5", "2026-11-17", Currency.jpy, ["amount"]),
        ("0.001", "2026-11-17", Currency.usd, ["amount"]),
        ("0", "2026-11-17", Currency.jpy, ["amount"]),
        ("-1", "2026-11-17", Currency.jpy, ["amount"]),
        ("1000000000000001", "2026-11-17", Currency.jpy, ["amount"]),
        ("1", "2026-11-18", Currency.jpy, ["paid_on"]),
        ("0", "9999-12-31", Currency.jpy, ["amount", "paid_on"]),
    ],
)
def test_a_payment_has_the_decimals_of_its_currency_and_is_not_in_the_future(
    amount: str, paid_on: str, currency: Currency, fields: list[str]
) -> None:
    violations = find_payment_violations(Decimal(amount), paid_on, currency, TODAY)

    assert [violation.field for violation in violations] == fields


@pytest.mark.parametrize(
    ("amount", "currency", "stored"),
    [("1E+3", Currency.jpy, "1000"), ("1000.0", Currency.jpy, "1000"), ("5", Currency.usd, "5.00")],
)
def test_an_amount_is_stored_with_the_decimals_of_its_currency(
    amount: str, currency: Currency, stored: str
) -> None:
    assert str(round_to_unit(Decimal(amount), currency)) == stored


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("202609-0001", InvoiceNumber("2026-09", 1)),
        ("202609-123456789", InvoiceNumber("2026-09", 123456789)),
        ("202609-1", None),
        ("202613-0001", None),
        ("2026-09-0001", None),
        ("202609-1234567890", None),
        ("CN202609-0001", None),
        ("", None),
    ],
)
def test_an_invoice_is_named_by_its_complete_number(
    text: str, number: InvoiceNumber | None
) -> None:
    assert parse_invoice_no(text) == number


@pytest.mark.parametrize("text", ["190472", "190,472", "190472.00", "190,472.00"])
def test_amounts_of_files_may_have_commas_between_thousands(text: str) -> None:
    assert parse_csv_amount(text) == Decimal(190472)


@pytest.mark.parametrize("text", ["", "1,00", "1 000", "1e3", "-1", "¥1", "NaN", "1,000,00", "１"])
def test_other_texts_are_no_amounts(text: str) -> None:
    assert parse_csv_amount(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026/10/5", "2026-10-05"),
        ("2026/10/05", "2026-10-05"),
        ("2026-10-05", "2026-10-05"),
        ("5/10/2026", "5/10/2026"),
    ],
)
def test_dates_of_files_may_be_written_by_spreadsheets(text: str, expected: str) -> None:
    assert parse_csv_date(text) == expected


amounts = st.decimals(0, 10**15, places=2, allow_nan=False)


@given(amounts, st.lists(amounts), st.lists(amounts))
def test_the_parts_of_a_balance_always_add_up_to_the_total(
    total: Decimal, notes: list[Decimal], paid: list[Decimal]
) -> None:
    found = Balance(total, sum_decimals(notes), sum_decimals(paid))

    parts = add_decimals(add_decimals(found.open_balance, found.paid), found.credited)
    assert parts == total
    assert (found.state is PaymentState.overpaid) is (found.open_balance < 0)
    assert (found.state is PaymentState.paid) is (found.open_balance == 0)
