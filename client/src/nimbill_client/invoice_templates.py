"""Invoice templates: who issues the invoices, and when they are due."""

from nimbill_client.bodies import (
    InvoiceTemplateBody,
    InvoiceTemplateCreated,
    InvoiceTemplateRecord,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/core/invoicetemplate"
TEMPLATE_PATH = "/m/core/invoicetemplate/{invoice_template_id}"


class InvoiceTemplates:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> list[InvoiceTemplateRecord]:
        return self._connection.fetch(list[InvoiceTemplateRecord], Call(method="GET", path=PATH))

    def create(
        self, template: InvoiceTemplateBody, *, key: str | None = None
    ) -> InvoiceTemplateCreated:
        call = Call(method="POST", path=PATH, body=template, key=key)
        return self._connection.fetch(InvoiceTemplateCreated, call)

    def update(
        self, invoice_template_id: str, template: InvoiceTemplateBody, *, key: str | None = None
    ) -> None:
        ids = {"invoice_template_id": invoice_template_id}
        call = Call(method="POST", path=TEMPLATE_PATH, ids=ids, body=template, key=key)
        self._connection.fetch(Success, call)

    def delete(self, invoice_template_id: str, *, key: str | None = None) -> None:
        ids = {"invoice_template_id": invoice_template_id}
        call = Call(method="DELETE", path=TEMPLATE_PATH, ids=ids, key=key)
        self._connection.fetch(Success, call)
