"""Response bodies of the fees; amounts are those of the invoice before they are rounded."""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body
from nimbill.portal.usage.bodies import UnpricedUsage, UsageTotal


class FeeKind(StrEnum):
    fee = "fee"
    credit = "credit"
    refund = "refund"
    other = "other"


class CustomerFee(Body, frozen=True, kw_only=True):
    """A provisional fee is on no invoice yet."""

    basis: ClassVar[Basis] = chosen("portal-fees")

    month: str
    vendor: str
    customer_id: str
    customer_name: str
    description: str
    currency: Currency
    amount: Decimal
    tax_free: bool
    provisional: bool


class CustomerFees(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-fees")

    kind: FeeKind
    rows: list[CustomerFee]
    totals: list[UsageTotal]
    unpriced: list[UnpricedUsage]
