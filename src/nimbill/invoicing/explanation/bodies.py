"""Bodies of the explanation of an invoice."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described

AmountKind = Literal["usage", "support", "agency", "entry", "item", "pre_tax", "tax", "total"]
PartKind = Literal["usage", "moved_fee", "entry", "item", "support", "line", "remainder"]


class ExplainedPart(Body, frozen=True, kw_only=True):
    """A part of the base; the parts of an amount add up to its base exactly."""

    basis: ClassVar[Basis] = chosen("invoice-explanation")

    kind: Annotated[
        PartKind,
        described(
            "usage: costs of a service; moved_fee: a fee of a moved reservation; entry, item, "
            "support: an amount that counts; line: a printed amount; remainder: what a negative "
            "base that counts as zero adds, or digits after the thirtieth"
        ),
    ]
    line: Annotated[str | None, described("the line of this invoice that explains the part")]
    label: str
    customer_id: str | None
    customer_name: str | None
    service: str | None
    day: Annotated[str | None, described("yyyy-mm-dd; null if the part covers the month")]
    amount: Decimal
    currency: Currency


class ExplainedAmount(Body, frozen=True, kw_only=True):
    """A printed amount with its rule, its base and its working."""

    basis: ClassVar[Basis] = chosen("invoice-explanation")

    line: Annotated[str, described("names the amount in this invoice, for example usage-1 or tax")]
    kind: AmountKind
    label: Annotated[str, described("service, description or label; the kind of fees and totals")]
    customer_id: Annotated[str | None, described("the account of usage and entries")]
    customer_name: str | None
    tag: Annotated[str | None, described("the tag value of usage on an invoice by tag")]
    service: str | None
    rule: Annotated[str, described("a word that stays the same between versions")]
    rule_text: Annotated[str, described("the rule in a few words")]
    charge: Annotated[Decimal | None, described("as printed before discount; null without one")]
    amount: Annotated[Decimal, described("as printed, in the invoice's currency")]
    base: Annotated[
        Decimal | None, described("exact; what the amount is calculated from; null if it is fixed")
    ]
    base_currency: Currency | None
    discount_rate: Annotated[Decimal | None, described("null if no discount applies")]
    exchange_rate: Annotated[Decimal | None, described("null if nothing was converted")]
    unrounded: Annotated[Decimal, described("the amount before rounding, up to 30 decimals")]
    working: Annotated[str, described("the calculation from the base to the amount")]
    sources: list[str]
    by_day: Annotated[bool, described("whether the parts have days")]
    parts: Annotated[
        list[ExplainedPart] | None, described("only with the parameter line, otherwise null")
    ]


class InvoiceExplanation(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-explanation")

    invoice_no: str
    revision: int
    month: str
    vendor: BilledVendor
    company_id: str
    currency: Currency
    cost_currency: Currency
    exchange_rate: Decimal
    rounding: Rounding
    lines: list[ExplainedAmount]
