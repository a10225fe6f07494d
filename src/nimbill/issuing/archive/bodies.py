"""Response bodies of the archive."""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body


class DocumentKind(StrEnum):
    invoice = "invoice"
    credit_note = "credit_note"


class DocumentState(StrEnum):
    """Those of an invoice; a credit note is always issued."""

    created = "created"
    sent = "sent"
    credited = "credited"  # sent, and returned in full by credit notes
    replaced = "replaced"
    cancelled = "cancelled"
    issued = "issued"


class ArchivedDocument(Body, frozen=True, kw_only=True):
    """The counterparty is the company named on the document."""

    basis: ClassVar[Basis] = chosen("document-archive")

    kind: DocumentKind
    number: str
    revision: int | None
    credit_note_id: str | None
    issue_date: str
    month: str
    vendor: str
    company_id: str
    counterparty: str
    currency: Currency
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    state: DocumentState


class ArchiveKey(Body, frozen=True, kw_only=True):
    """The public key that verifies exports of this installation."""

    basis: ClassVar[Basis] = chosen("document-archive")

    algorithm: str
    public_key: str
    fingerprint: str
