"""Bodies of the state of an invoice."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described, text_length
from nimbill.http.routing import REVISION_MAX
from nimbill.invoicing.documents.invoice_state import InvoiceState

INVOICES_MAX = 5_000

SeenRevisions = dict[str, Annotated[int, Meta(ge=1, le=REVISION_MAX)]]


def find_revisions_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    revisions = sent.get("revisions")
    if isinstance(revisions, dict) and not 1 <= len(revisions) <= INVOICES_MAX:
        yield Violation("revisions", f"1 to {INVOICES_MAX} invoices")


class SentInvoiceRequest(Body, frozen=True, kw_only=True):
    """The revision that was sent, which must be the current one."""

    basis: ClassVar[Basis] = chosen("sent-invoices")

    revision: Annotated[int, Meta(ge=1, le=REVISION_MAX)]


class MarkInvoicesRequest(Body, frozen=True, kw_only=True):
    """The invoices of a month that were sent: company_id to the current revision."""

    basis: ClassVar[Basis] = chosen("sent-invoices")

    vendor: BilledVendor
    revisions: SeenRevisions

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_revisions_violations(sent)


class MarkedInvoice(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("sent-invoices")

    company_id: str
    invoice_no: str
    revision: int


class MarkedInvoices(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("sent-invoices")

    marked: Annotated[list[MarkedInvoice], described("the invoices that this request marked")]
    already_sent: Annotated[
        list[MarkedInvoice], described("those that keep their first time and user")
    ]


class CancelledInvoiceRequest(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("cancelled-invoices")

    reason: Annotated[str, text_length(1, 1_000)]


class ReplacedInvoice(Body, frozen=True, kw_only=True):
    """An invoice that was sent and is not owed any more, because another one replaces it."""

    basis: ClassVar[Basis] = chosen("replaced-invoices")

    invoice_no: str
    revision: Annotated[int, described("the revision that was sent")]
    state: InvoiceState
    sent_time: str
    sent_by: Annotated[str, described("the name of the user")]
    replacement_no: Annotated[str, described("the number of the invoice in its place")]
    replaced_time: str
    replaced_by: Annotated[str, described("the name of the user")]
    reason: str
    import_id: Annotated[
        str | None, described("the import whose late costs the replacement contains")
    ]


class InvoiceStatus(Body, frozen=True, kw_only=True):
    """Where an invoice stands between its creation and the customer."""

    basis: ClassVar[Basis] = chosen("sent-invoices")

    invoice_no: str
    revision: int
    state: InvoiceState
    sent_time: str | None
    sent_by: Annotated[str | None, described("the name of the user")]
    publish_time: Annotated[
        str | None, described("from when customers see the sent invoice in the portal")
    ]
    cancelled_time: str | None
    cancelled_by: Annotated[str | None, described("the name of the user")]
    cancel_reason: str | None
    credited: Annotated[Decimal, described("the sum of its credit notes, tax included")]
    credit_notes: Annotated[list[str], described("the numbers of its credit notes")]
    replaces: Annotated[str | None, described("the number of the invoice that it replaces")]
    replaced: Annotated[
        list[ReplacedInvoice], described("the earlier invoices of the month, the newest first")
    ]
