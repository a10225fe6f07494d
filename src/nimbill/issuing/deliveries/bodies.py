"""Bodies of mailing invoices, of the preview and of what became of each mail."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from nimbill.customers.contacts.records import SendAs
from nimbill.foundation import clock
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described
from nimbill.http.routing import REVISION_MAX
from nimbill.issuing.deliveries.problem_rules import DeliveryProblem
from nimbill.issuing.sending.publish_time_rules import find_publish_time_violations

Revision = Annotated[int, Meta(ge=1, le=REVISION_MAX)]


class DeliveryMethod(StrEnum):
    pdf = "pdf"  # the invoice is attached
    link = "link"  # to the invoice in the portal


class DeliveryState(StrEnum):
    queued = "queued"
    sending = "sending"
    delivered = "delivered"  # the mail server has accepted it
    failed = "failed"
    unknown = "unknown"  # nobody knows whether the mail server has accepted it


class SendInvoicesRequest(Body, frozen=True, kw_only=True):
    """Without `company_ids`, every invoice of the month that has no problem."""

    basis: ClassVar[Basis] = chosen("mailed-invoices")

    vendor: BilledVendor
    method: DeliveryMethod
    company_ids: list[str] | None = None
    revisions: Annotated[
        dict[str, Revision] | None,
        described("the revision that was seen, by company_id; another one is not sent"),
    ] = None
    publish_time: Annotated[
        str | None,
        described("an RFC 3339 timestamp from which customers see the invoices; default: now"),
    ] = None
    again: Annotated[bool | None, described("also mail invoices that were sent")] = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        publish_time = sent.get("publish_time")
        if publish_time is None:
            return
        yield from find_publish_time_violations(publish_time, clock.now())
        if sent.get("again") is True:
            yield Violation("publish_time", "not with `again`: change the publication instead")


class PublicationRequest(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("published-invoices")

    publish_time: Annotated[
        str, described("an RFC 3339 timestamp; a time in the past publishes at once")
    ]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_publish_time_violations(sent.get("publish_time"), clock.now())


class Recipient(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    name: str
    email: str
    send_as: SendAs


class PreviewedMail(Body, frozen=True, kw_only=True):
    """A mail as it would be sent; with problems it is not."""

    basis: ClassVar[Basis] = chosen("mailed-invoices")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    company_name: str
    invoice_no: str
    revision: int
    currency: Currency
    total: Annotated[Decimal, described("of the invoice, tax included")]
    due_date: str | None
    language: Language
    recipients: list[Recipient]
    subject: str
    text: str
    attachment: Annotated[str | None, described("the name of the file; null with a link")]
    problems: list[DeliveryProblem]


class SendingPreview(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    month: str
    vendor: str
    method: DeliveryMethod
    ready: Annotated[int, described("how many of the mails have no problem")]
    mails: list[PreviewedMail]


class QueuedMail(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    company_id: str
    invoice_no: str
    revision: int
    delivery_id: str


class SkippedInvoice(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    company_id: str
    problems: list[DeliveryProblem]


class SentInvoices(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    sent: list[QueuedMail]
    skipped: list[SkippedInvoice]


class RefusedRecipient(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("mailed-invoices")

    email: str
    cause: str


class InvoiceDelivery(Body, frozen=True, kw_only=True):
    """One mail with one invoice, and what became of it."""

    basis: ClassVar[Basis] = chosen("mailed-invoices")

    delivery_id: str
    month: str
    company_id: str
    billinggroup_name: str
    vendor: str
    invoice_no: str
    revision: int
    method: DeliveryMethod
    state: DeliveryState
    cause: Annotated[str | None, described("what the mail server answered last, if it refused")]
    message_id: Annotated[str, described("the Message-ID; the same after a retry")]
    language: Language
    recipients: list[Recipient]
    refused: Annotated[list[RefusedRecipient], described("recipients that the mail server refused")]
    subject: str
    text: str
    attachment: str | None
    attempts: int
    created_by: str
    create_time: str
    update_time: str
    delivered_time: str | None
