"""What is left to pay of an invoice, and which payments are refused. Pure functions."""

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from nimbill.credit_notes.credit_note_rules import describe_unit, is_payable
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.money import Rounding, round_amount, subtract_decimals, to_exact

basis = chosen("payments")

_INVOICE_NO = re.compile(r"(20[0-9]{2})(0[1-9]|1[0-2])-([0-9]{4,9})")
# what spreadsheets write: 190,472 and 2026/10/5
_CSV_AMOUNT = re.compile(r"([0-9]{1,30}|[0-9]{1,3}(?:,[0-9]{3}){1,9})(\.[0-9]{1,30})?")
_CSV_DATE = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})")


class PaymentState(StrEnum):
    open = "open"  # nothing is paid
    partly_paid = "partly_paid"
    paid = "paid"  # nothing is left to pay, also if credit notes returned it
    overpaid = "overpaid"  # the customer gets money back


class BalanceFilter(StrEnum):
    """Which sent invoices a list of receivables contains."""

    open = "open"  # the open balance is not 0
    overdue = "overdue"
    settled = "settled"  # the open balance is 0
    all = "all"


class Balance(NamedTuple):
    """What an invoice charges, what its credit notes returned, and what was paid; with tax."""

    total: Decimal
    credited: Decimal
    paid: Decimal

    @property
    def open_balance(self) -> Decimal:
        return subtract_decimals(subtract_decimals(self.total, self.credited), self.paid)

    @property
    def state(self) -> PaymentState:
        left = self.open_balance
        if left < 0:
            return PaymentState.overpaid
        if left == 0:
            return PaymentState.paid
        return PaymentState.partly_paid if self.paid > 0 else PaymentState.open


class InvoiceNumber(NamedTuple):
    month: str
    number: int


def count_days_overdue(open_balance: Decimal, due_date: str | None, today: date) -> int:
    """Count the days since the due date; 0 if nothing is left to pay or it is not due."""
    if due_date is None or open_balance <= 0:
        return 0
    return max(0, (today - date.fromisoformat(due_date)).days)


def exceeds_balance(amount: Decimal, balance: Balance) -> bool:
    return amount > balance.open_balance


def find_payment_violations(
    amount: Decimal, paid_on: str, currency: Currency, today: date
) -> Iterator[Violation]:
    """Check an amount and a valid date against the currency of the invoice and today."""
    if not is_payable(amount, currency):
        yield Violation("amount", describe_unit(currency))
    if paid_on > today.isoformat():
        yield Violation("paid_on", "not later than today in the time zone of the organisation")


def round_to_unit(amount: Decimal, currency: Currency) -> Decimal:
    """Give a valid amount as many decimals as its currency has; its value does not change."""
    return round_amount(to_exact(amount), currency, Rounding.down)


def parse_invoice_no(text: str) -> InvoiceNumber | None:
    match = _INVOICE_NO.fullmatch(text)
    if match is None:
        return None
    year, month, number = match.groups()
    return InvoiceNumber(f"{year}-{month}", int(number))


def parse_csv_amount(text: str) -> Decimal | str:
    """Read an amount, also with commas between thousands; any other text is returned."""
    if _CSV_AMOUNT.fullmatch(text) is None:
        return text
    return Decimal(text.replace(",", ""))


def parse_csv_date(text: str) -> str:
    """Write a date like 2026/10/5 as 2026-10-05; any other text is returned."""
    match = _CSV_DATE.fullmatch(text)
    if match is None:
        return text
    year, month, day = match.groups()
    return f"{year}-{month:0>2}-{day:0>2}"
