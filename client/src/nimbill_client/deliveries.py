"""Mails with invoices: preview, sending, what became of each, and when customers see invoices."""

from typing import Any

from nimbill_client.bodies import (
    InvoiceDelivery,
    InvoiceStatus,
    SendingPreview,
    SendInvoicesRequest,
    SentInvoices,
)
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

PATH = "/m/core/invoices/{month}/deliveries"
INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}"
RETRY_PATH = "/m/core/deliveries/{delivery_id}/retry"


class Deliveries:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def preview(self, month: str, request: SendInvoicesRequest) -> SendingPreview:
        """Show the mails that would be sent; nothing is stored."""
        call = Call(method="POST", path=f"{PATH}/preview", ids={"month": month}, body=request)
        return self._connection.fetch(SendingPreview, call)

    def send(
        self, month: str, request: SendInvoicesRequest, *, key: str | None = None
    ) -> SentInvoices:
        """Mark invoices as sent and mail them to the contacts of the customers."""
        call = Call(method="POST", path=PATH, ids={"month": month}, body=request, key=key)
        return self._connection.fetch(SentInvoices, call)

    def list_month(
        self, month: str, *, vendor: BilledVendor | None = None, state: str | None = None
    ) -> list[InvoiceDelivery]:
        query: dict[str, Any] = {"vendor": vendor, "state": state}
        call = Call(method="GET", path=PATH, ids={"month": month}, query=query)
        return self._connection.fetch(list[InvoiceDelivery], call)

    def list_of_invoice(
        self, month: str, company_id: str, vendor: BilledVendor
    ) -> list[InvoiceDelivery]:
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=f"{INVOICE_PATH}/deliveries", ids=ids)
        return self._connection.fetch(list[InvoiceDelivery], call)

    def retry(self, delivery_id: str, *, key: str | None = None) -> InvoiceDelivery:
        """Send a mail again that failed or whose outcome is unknown."""
        ids = {"delivery_id": delivery_id}
        return self._connection.fetch(
            InvoiceDelivery, Call(method="POST", path=RETRY_PATH, ids=ids, key=key)
        )

    def publish(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        publish_time: str,
        *,
        key: str | None = None,
    ) -> InvoiceStatus:
        """Choose from when customers see a sent invoice in the portal."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        body = {"publish_time": publish_time}
        call = Call(method="PUT", path=f"{INVOICE_PATH}/publication", ids=ids, body=body, key=key)
        return self._connection.fetch(InvoiceStatus, call)
