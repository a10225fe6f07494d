"""Bodies of the checks of a month."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described


class FindingCode(StrEnum):
    """What looks wrong. The order is that of the list for one billing group."""

    change_above_limit = "change_above_limit"
    margin_below_limit = "margin_below_limit"
    zero = "zero"
    negative = "negative"
    new_customer = "new_customer"
    vanished_customer = "vanished_customer"
    missing_data = "missing_data"


class FindingCause(StrEnum):
    """Why, as far as the stored figures tell."""

    # of change_above_limit: what moved the amount most
    usage = "usage"
    exchange_rate = "exchange_rate"
    terms = "terms"
    # of margin_below_limit
    sold_below_cost = "sold_below_cost"
    low_margin = "low_margin"
    # of zero and negative
    no_costs = "no_costs"  # also of vanished_customer
    credits = "credits"
    # of new_customer and vanished_customer
    no_invoice_before = "no_invoice_before"
    not_invoiced = "not_invoiced"
    # of missing_data
    account_without_costs = "account_without_costs"


class CheckFinding(Body, frozen=True, kw_only=True):
    """One finding; company_id, vendor and month lead to its invoice."""

    basis: ClassVar[Basis] = chosen("month-checks")

    code: Annotated[FindingCode, described("what looks wrong")]
    cause: Annotated[FindingCause, described("why, as far as the stored figures tell")]
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    vendor: BilledVendor
    month: str
    customer_id: Annotated[str | None, described("the account, only of missing_data")]
    customer_name: Annotated[str | None, described("its name, only of missing_data")]
    invoice_no: Annotated[str | None, described("null if the month has no invoice")]
    currency: Annotated[
        str | None, described("of all amounts: of the invoice, or of the account's costs")
    ]
    amount: Annotated[Decimal | None, described("invoiced before tax; null without an invoice")]
    amount_before: Annotated[
        Decimal | None,
        described(
            "invoiced before tax last month, in the same currency at last month's rate; "
            "of missing_data the account's costs last month"
        ),
    ]
    change: Annotated[
        Decimal | None, described("amount / amount_before - 1, four decimals; 0.3 is 30 %")
    ]
    vendor_cost: Annotated[Decimal | None, described("what the vendor charged, without tax")]
    margin: Annotated[Decimal | None, described("amount - vendor_cost")]
    margin_rate: Annotated[Decimal | None, described("margin / amount, four decimals")]


class CheckList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("month-checks")

    month: str
    change_limit: Annotated[Decimal, described("organisation setting check_change_limit")]
    margin_limit: Annotated[Decimal, described("organisation setting check_margin_limit")]
    counts: Annotated[dict[str, int], described("findings of the month by code, without paging")]
    total: Annotated[int, described("findings with the requested code, without paging")]
    findings: list[CheckFinding]
