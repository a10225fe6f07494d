"""Bodies of the recalculation operations, row by row as specified."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, stated
from nimbill.foundation.calendar_month import CalendarMonth
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body


class RecalculationRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Recalculation record")

    id: str
    customer_id: str
    customer_name: str
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    project_code: str | None
    calc_type: str
    platform_type: str
    description: str
    product_name: str
    product_code: str
    account_id: str
    currency_code: str
    unblended_cost: str
    time_interval: str
    usage_start: str
    apply: bool
    exchange_rate: Decimal | None
    tax_free: bool
    vendor: BilledVendor
    applied_month: str | UnsetType | None = UNSET  # with the parameter `details`


class RecalculationApply(Body, frozen=True, kw_only=True):
    """Every field is required, also when `apply` is false."""

    basis: ClassVar[Basis] = stated("Recalculation")

    data: list[str]
    month: CalendarMonth
    exchange_rate: Decimal
    tax_free: bool
    apply: bool
    vendor: BilledVendor

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("data") == []:
            yield Violation("data", "one id or more")
        rate = sent.get("exchange_rate")
        if isinstance(rate, int | Decimal) and rate < 0:
            yield Violation("exchange_rate", "0 or more")
