"""Bodies of credit notes."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from nimbill.credit_notes.corrected_invoices.corrected_invoice import ChangedTerm
from nimbill.credit_notes.credit_note_rules import CreditKind
from nimbill.customers.billing_groups.operations import InvoiceSettingUpdate
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import NOT_EMPTY, Body, described, text_length
from nimbill.invoicing.calculation.sheet import InvoiceSheet

AMOUNTS_MAX = 200
LINES_MAX = 2_000


class ManualCredit(Body, frozen=True, kw_only=True):
    """An amount before tax, in the currency of the invoice; `tax_free` is not subject to tax."""

    basis: ClassVar[Basis] = chosen("credit-notes")

    description: Annotated[str, text_length(1, 200)]
    amount: Decimal
    tax_free: bool = False


class CreditNoteRequest(Body, frozen=True, kw_only=True):
    """`lines` are names such as usage-1 or support, with kind lines; `amounts` are by hand.

    `terms` are corrected terms, with kind correction.
    """

    basis: ClassVar[Basis] = chosen("credit-notes")

    kind: CreditKind
    reason: Annotated[str, text_length(1, 1_000)]
    lines: list[Annotated[str, text_length(1, 100)]] | None = None
    amounts: list[ManualCredit] | None = None
    terms: InvoiceSettingUpdate | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        kind, terms = sent.get("kind"), sent.get("terms")
        if (kind == CreditKind.correction) != (terms is not None):
            yield Violation("terms", f"with kind {CreditKind.correction}, and only with it")
        yield from find_term_violations(terms)
        for field, needed_by, most in (
            ("lines", CreditKind.lines, LINES_MAX),
            ("amounts", CreditKind.manual, AMOUNTS_MAX),
        ):
            value = sent.get(field)
            if kind != needed_by and value is not None:
                yield Violation(field, f"only with kind {needed_by}")
            elif kind == needed_by and not (isinstance(value, list) and 1 <= len(value) <= most):
                yield Violation(field, f"a list of 1 to {most} with kind {needed_by}")


def find_term_violations(terms: Any) -> Iterator[Violation]:
    """Check what a request that saves these terms checks beside the single fields."""
    if isinstance(terms, dict):
        for found in InvoiceSettingUpdate.rule_violations(terms):
            yield Violation(f"terms.{found.field}", found.rule)


class CorrectionPreviewRequest(Body, frozen=True, kw_only=True):
    """Either the import of late costs, or corrected terms; `one_off_lines` counts its entries."""

    basis: ClassVar[Basis] = chosen("corrections")

    import_id: Annotated[str, NOT_EMPTY] | None = None
    one_off_lines: bool | None = None
    terms: InvoiceSettingUpdate | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if (sent.get("import_id") is None) == (sent.get("terms") is None):
            yield Violation("body", "either import_id or terms")
        yield from find_term_violations(sent.get("terms"))


class CorrectedRate(Body, frozen=True, kw_only=True):
    """One tax rate, which is null for what is not subject to tax."""

    basis: ClassVar[Basis] = chosen("corrections")

    tax_rate: Decimal | None
    invoiced: Annotated[Decimal, described("on the invoice, before tax")]
    invoiced_tax: Decimal
    credited: Annotated[Decimal, described("returned by credit notes, before tax")]
    credited_tax: Decimal
    corrected: Annotated[Decimal, described("on the corrected invoice, before tax")]
    corrected_tax: Decimal
    difference: Annotated[
        Decimal, described("corrected minus what is left of the invoice, before tax")
    ]
    difference_tax: Decimal


class CorrectionPreview(Body, frozen=True, kw_only=True):
    """An invoice and what it would be if it were created correctly now; nothing is stored."""

    basis: ClassVar[Basis] = chosen("corrections")

    invoice_no: str
    revision: int
    month: str
    company_id: str
    vendor: BilledVendor
    currency: Currency
    exchange_rate: Annotated[Decimal, described("of the invoice, which is not corrected")]
    changed_terms: list[ChangedTerm]
    rates: list[CorrectedRate]
    invoiced_total: Annotated[Decimal, described("tax included")]
    credited_total: Annotated[Decimal, described("tax included")]
    corrected_total: Annotated[Decimal, described("tax included")]
    difference: Annotated[
        Decimal, described("corrected minus what is left of the invoice, tax included")
    ]
    netted: Annotated[
        Decimal, described("what entries of other months charge for it already, before tax")
    ]
    can_credit: Annotated[bool, described("whether a credit note can return the difference")]
    corrected: Annotated[InvoiceSheet, described("the lines of the corrected invoice")]


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
