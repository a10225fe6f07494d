"""Bodies of credit notes."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described, text_length
from nimbill.invoicing.credit_notes.credit_note_rules import CreditKind

AMOUNTS_MAX = 200
LINES_MAX = 2_000


class ManualCredit(Body, frozen=True, kw_only=True):
    """An amount before tax, in the currency of the invoice; `tax_free` is not subject to tax."""

    basis: ClassVar[Basis] = chosen("credit-notes")

    description: Annotated[str, text_length(1, 200)]
    amount: Decimal
    tax_free: bool = False


class CreditNoteRequest(Body, frozen=True, kw_only=True):
    """`lines` are names such as usage-1 or support, with kind lines; `amounts` are by hand."""

    basis: ClassVar[Basis] = chosen("credit-notes")

    kind: CreditKind
    reason: Annotated[str, text_length(1, 1_000)]
    lines: list[Annotated[str, text_length(1, 100)]] | None = None
    amounts: list[ManualCredit] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        kind = sent.get("kind")
        for field, needed_by, most in (
            ("lines", CreditKind.lines, LINES_MAX),
            ("amounts", CreditKind.manual, AMOUNTS_MAX),
        ):
            value = sent.get(field)
            if kind != needed_by and value is not None:
                yield Violation(field, f"only with kind {needed_by}")
            elif kind == needed_by and not (isinstance(value, list) and 1 <= len(value) <= most):
                yield Violation(field, f"a list of 1 to {most} with kind {needed_by}")


class ShortCreditNote(Body, frozen=True, kw_only=True):
    """A credit note without its rows."""

    basis: ClassVar[Basis] = chosen("credit-notes")

    credit_note_id: str
    credit_note_no: str
    kind: CreditKind
    reason: str
    issue_date: str
    invoice_no: str
    month: str
    company_id: str
    vendor: BilledVendor
    currency: Currency
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    create_time: str
    created_by: Annotated[str, described("the name of the user")]
