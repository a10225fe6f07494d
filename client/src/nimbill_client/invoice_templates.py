"""Invoice templates: who issues the invoices, and when they are due."""

from nimbill_client.connection import Call, Connection
from nimbill_client.record import Record, Success

PATH = "/m/core/invoicetemplate"
TEMPLATE_PATH = "/m/core/invoicetemplate/{invoice_template_id}"


class InvoiceTemplateRecord(Record, frozen=True, kw_only=True):
    name: str
    company: str
    postal: str | None = None
    address: str | None = None
    phone: str | None = None
    contact: str | None = None
    registration_number: str | None = None
    bank_account: str | None = None
    notes: str | None = None
    due_rule: str | None = None
    due_days: int | None = None
    accent_colour: str | None = None
    invoice_template_id: str
    etag: str = ""  # the version, where it was asked for


class InvoiceTemplateBody(Record, frozen=True, kw_only=True):
    name: str
    company: str
    postal: str | None = None
    address: str | None = None
    phone: str | None = None
    contact: str | None = None
    registration_number: str | None = None
    bank_account: str | None = None
    notes: str | None = None
    due_rule: str | None = None
    due_days: int | None = None
    accent_colour: str | None = None


class InvoiceTemplateCreated(Record, frozen=True, kw_only=True):
    invoice_template_id: str


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
