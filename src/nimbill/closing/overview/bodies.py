"""Bodies of the short invoice list and of the comparison with an earlier month."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described
from nimbill.invoicing.documents.document import InvoiceWarningCode
from nimbill.invoicing.documents.invoice_state import InvoiceState


class ShortInvoice(Body, frozen=True, kw_only=True):
    """A billing group with its invoice; everything after the name is null without one."""

    basis: ClassVar[Basis] = chosen("invoice-summary")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    company_name: str
    invoice_no: str | None
    revision: int | None
    state: InvoiceState | None
    currency: Currency | None
    issue_date: str | None
    due_date: str | None
    pre_tax: Decimal | None
    taxable: Annotated[Decimal | None, described("the part of pre_tax that is taxed")]
    tax_rate: Decimal | None
    tax: Decimal | None
    total: Decimal | None
    total_before: Annotated[
        Decimal | None,
        described("of the month before; null without an invoice in the same currency"),
    ]
    change: Annotated[Decimal | None, described("total - total_before")]
    change_rate: Annotated[
        Decimal | None, described("change / total_before, four decimals; 0.3 is 30 %")
    ]
    warnings: list[InvoiceWarningCode]
    create_time: Annotated[str | None, described("of the current revision")]
    outdated: Annotated[
        bool, described("whether terms, rate, memo or items were changed since; month is open")
    ]


class CurrencyTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-summary")

    currency: Currency
    invoices: int
    pre_tax: Decimal
    tax: Decimal
    total: Decimal


class MonthSummary(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-summary")

    month: str
    vendor: BilledVendor
    closed: Annotated[bool, described("whether the month is closed")]
    count: Annotated[int, described("billing groups of the selection, without paging")]
    totals: Annotated[
        list[CurrencyTotal],
        described("of the selection, without paging and without cancelled invoices"),
    ]
    invoices: list[ShortInvoice]


class ChangeCause(StrEnum):
    usage = "usage"
    exchange_rate = "exchange_rate"
    discount = "discount"
    currency = "currency"
    support = "support"
    agency = "agency"
    entries = "entries"
    items = "items"
    tax = "tax"


class CausedChange(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-comparison")

    cause: ChangeCause
    amount: Annotated[Decimal, described("what the cause adds to the total, or takes from it")]


class ComparedAmount(Body, frozen=True, kw_only=True):
    """A printed amount of both invoices; null where an invoice does not have it."""

    basis: ClassVar[Basis] = chosen("invoice-comparison")

    kind: Literal["usage", "support", "agency", "entry", "item"]
    label: Annotated[str, described("service, description or label; the kind of fees")]
    customer_id: str | None
    customer_name: str | None
    tag: str | None
    service: str | None
    amount: Decimal | None
    amount_before: Decimal | None
    change: Decimal
    cost: Annotated[Decimal | None, described("only of usage: the costs behind it, exact")]
    cost_before: Decimal | None
    line: Annotated[str | None, described("the line in the explanation of the invoice")]
    line_before: str | None


class InvoiceComparison(Body, frozen=True, kw_only=True):
    """Amounts before are in the currency of the invoice, at the rate of the earlier invoice."""

    basis: ClassVar[Basis] = chosen("invoice-comparison")

    company_id: str
    vendor: BilledVendor
    month: str
    month_before: str
    invoice_no: str
    invoice_no_before: Annotated[str | None, described("null if there is no earlier invoice")]
    currency: Currency
    cost_currency: Currency
    exchange_rate: Decimal
    exchange_rate_before: Decimal | None
    discount_rate: Decimal
    discount_rate_before: Decimal | None
    pre_tax: Decimal
    pre_tax_before: Decimal | None
    tax: Decimal
    tax_before: Decimal | None
    total: Decimal
    total_before: Decimal | None
    change: Annotated[Decimal, described("total - total_before")]
    change_rate: Annotated[
        Decimal | None, described("change / total_before, four decimals; 0.3 is 30 %")
    ]
    causes: Annotated[
        list[CausedChange], described("they add up to change; the largest first, none is zero")
    ]
    amounts: Annotated[list[ComparedAmount], described("the largest change first")]


class ComparedTax(Body, frozen=True, kw_only=True):
    """What two revisions contain for one tax rate; null where a revision does not have it."""

    basis: ClassVar[Basis] = chosen("revision-comparison")

    tax_rate: Annotated[Decimal | None, described("null for what is not subject to tax")]
    pre_tax: Decimal | None
    pre_tax_before: Decimal | None
    tax: Decimal | None
    tax_before: Decimal | None


class RevisionComparison(Body, frozen=True, kw_only=True):
    """Amounts before are in the currency of the revision, at the rate of the other one."""

    basis: ClassVar[Basis] = chosen("revision-comparison")

    invoice_no: str
    revision: int
    revision_before: Annotated[int | None, described("null if there is no earlier revision")]
    currency: Currency
    added: list[ComparedAmount]
    removed: list[ComparedAmount]
    changed: Annotated[list[ComparedAmount], described("the largest change first")]
    taxes: Annotated[list[ComparedTax], described("one for each tax rate")]
    pre_tax: Decimal
    pre_tax_before: Decimal | None
    tax: Decimal
    tax_before: Decimal | None
    total: Decimal
    total_before: Decimal | None
