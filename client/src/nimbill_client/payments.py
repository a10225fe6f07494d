"""Payments received for sent invoices, and what is still open."""

from collections.abc import Iterator
from typing import Literal

from nimbill_client.bodies import (
    InvoicePayments,
    Payment,
    PaymentRequest,
    PaymentsRecorded,
    Receivable,
    ReceivableTotal,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor

INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}/payments"
PAYMENT_PATH = f"{INVOICE_PATH}/{{payment_id}}/reversed"
LIST_PATH = "/m/core/payments"
RECEIVABLES = "/m/core/receivables"

BalanceFilter = Literal["open", "overdue", "settled", "all"]


class Payments:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def record(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        payment: PaymentRequest,
        *,
        key: str | None = None,
    ) -> Payment:
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="POST", path=INVOICE_PATH, ids=ids, body=payment, key=key)
        return self._connection.fetch(Payment, call)

    def record_from_csv(self, content: bytes, *, key: str | None = None) -> PaymentsRecorded:
        """Record a payment for each line of a CSV file, or none if one line is refused."""
        call = Call(method="POST", path=f"{LIST_PATH}/csv", csv=content, key=key)
        return self._connection.fetch(PaymentsRecorded, call)

    def reverse(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        payment_id: str,
        reason: str,
        *,
        key: str | None = None,
    ) -> Payment:
        """Take a payment back; this cannot be undone."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor, "payment_id": payment_id}
        call = Call(method="PUT", path=PAYMENT_PATH, ids=ids, body={"reason": reason}, key=key)
        return self._connection.fetch(Payment, call)

    def read_invoice(self, month: str, company_id: str, vendor: BilledVendor) -> InvoicePayments:
        """Read the open balance of an invoice, with its payments."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=INVOICE_PATH, ids=ids)
        return self._connection.fetch(InvoicePayments, call)

    def list_all(
        self,
        *,
        first_day: str | None = None,
        last_day: str | None = None,
        company_id: str | None = None,
    ) -> Iterator[Payment]:
        """List payments by date (yyyy-mm-dd); both days are included."""
        query = {"from": first_day, "to": last_day, "company_id": company_id}
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[Payment], Call(method="GET", path=LIST_PATH, query={**query, **page})
            )
        )

    def list_receivables(
        self,
        *,
        balance: BalanceFilter = "open",
        company_id: str | None = None,
        vendor: BilledVendor | None = None,
    ) -> Iterator[Receivable]:
        """List sent invoices by due date; by default those whose open balance is not 0."""
        query = {"balance": balance, "company_id": company_id, "vendor": vendor}
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[Receivable], Call(method="GET", path=RECEIVABLES, query={**query, **page})
            )
        )

    def sum_receivables(
        self,
        *,
        balance: BalanceFilter = "open",
        company_id: str | None = None,
        vendor: BilledVendor | None = None,
    ) -> list[ReceivableTotal]:
        """Add up sent invoices by currency."""
        query = {"balance": balance, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=f"{RECEIVABLES}/totals", query=query)
        return self._connection.fetch(list[ReceivableTotal], call)
