"""Bodies of payments."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from nimbill.foundation import calendar_date
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described, text_length
from nimbill.invoicing.documents.invoice_state import InvoiceState
from nimbill.receivables.payments.payment_rules import PaymentState

PaidOn = Annotated[str, described(calendar_date.RULE)]
PaymentNote = Annotated[str, text_length(1, 1_000)]


def _find_date_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    paid_on = sent.get("paid_on")
    if isinstance(paid_on, str) and not calendar_date.is_date(paid_on):
        yield Violation("paid_on", calendar_date.RULE)


class PaymentRequest(Body, frozen=True, kw_only=True):
    """An amount in the currency of the invoice; `overpaid` allows more than the open balance."""

    basis: ClassVar[Basis] = chosen("payments")

    amount: Decimal
    paid_on: PaidOn
    note: PaymentNote | None = None
    overpaid: bool | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from _find_date_violations(sent)


class CsvPayment(Body, frozen=True, kw_only=True):
    """A line of a file; `again` allows a payment that equals another one."""

    basis: ClassVar[Basis] = chosen("payments")

    invoice_no: Annotated[str, text_length(1, 100)]
    amount: Decimal
    paid_on: PaidOn
    note: PaymentNote | None = None
    again: Literal["yes"] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from _find_date_violations(sent)


class ReversedPaymentRequest(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("payments")

    reason: Annotated[str, text_length(1, 1_000)]


class Payment(Body, frozen=True, kw_only=True):
    """A payment; one that was reversed does not count."""

    basis: ClassVar[Basis] = chosen("payments")

    payment_id: str
    invoice_no: str
    month: str
    company_id: str
    billinggroup_name: str
    vendor: BilledVendor
    currency: Currency
    amount: Decimal
    paid_on: str
    note: str | None
    create_time: str
    created_by: Annotated[str, described("the name of the user")]
    reversed_time: str | None
    reversed_by: Annotated[str | None, described("the name of the user")]
    reverse_reason: str | None


class PaymentsRecorded(Body, frozen=True, kw_only=True):
    """The payments of a file, in the order of its lines."""

    basis: ClassVar[Basis] = chosen("payments")

    created: list[Payment]


class InvoicePayments(Body, frozen=True, kw_only=True):
    """The balance of an invoice and its payments; only a sent invoice is ever overdue."""

    basis: ClassVar[Basis] = chosen("payments")

    invoice_no: str
    invoice_state: InvoiceState
    currency: Currency
    total: Decimal
    credited: Annotated[Decimal, described("the sum of its credit notes, tax included")]
    paid: Annotated[Decimal, described("the sum of its payments that were not reversed")]
    open_balance: Annotated[Decimal, described("total - credited - paid")]
    state: PaymentState
    due_date: str | None
    overdue: bool
    days_overdue: int
    payments: list[Payment]


class Receivable(Body, frozen=True, kw_only=True):
    """A sent invoice; its open balance is negative if the customer paid too much."""

    basis: ClassVar[Basis] = chosen("payments")

    invoice_no: str
    month: str
    company_id: str
    billinggroup_name: str
    vendor: BilledVendor
    currency: Currency
    total: Decimal
    credited: Decimal
    paid: Decimal
    open_balance: Decimal
    state: PaymentState
    due_date: str | None
    days_overdue: Annotated[int, described("0 if the invoice is not overdue")]


class ReceivableTotal(Body, frozen=True, kw_only=True):
    """The sums of sent invoices in one currency."""

    basis: ClassVar[Basis] = chosen("payments")

    currency: Currency
    invoices: Annotated[int, described("how many")]
    total: Decimal
    credited: Decimal
    paid: Decimal
    open_balance: Decimal
    overdue: Annotated[Decimal, described("the part of the open balance that is overdue")]
