"""Bodies of the operations on costs."""

from decimal import Decimal
from typing import ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import Vendor
from nimbill.http.request_bodies import Body


class CostSum(Body, frozen=True, kw_only=True):
    """Has only the fields of the requested grouping; `tag_value` is null for untagged lines."""

    basis: ClassVar[Basis] = chosen("read-costs")

    vendor: Vendor
    customer_id: str | UnsetType = UNSET
    company_id: str | UnsetType | None = UNSET
    service: str | UnsetType = UNSET
    marketplace: bool | UnsetType = UNSET
    tag_value: str | UnsetType | None = UNSET
    tag_value_2: str | UnsetType | None = UNSET
    line_type: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    day: str | UnsetType = UNSET
    currency: str
    cost: Decimal
    lines: int


class CostTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("read-costs")

    vendor: Vendor
    currency: str
    cost: Decimal
    lines: int


class MonthCosts(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("read-costs")

    month: str
    vendor: Vendor | None
    provisional: bool
    parked: bool
    rows: list[CostSum]
    totals: list[CostTotal]
