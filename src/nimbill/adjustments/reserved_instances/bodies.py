"""Bodies of the reserved-instance operations, row by row as specified."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar, Literal

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body


class ReservedInstanceRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("RI purchased record")

    billinggroup_id: str
    billinggroup_name: str
    customer_id: str
    customer_name: str
    dest_customer_id: str
    id: str
    arn: str
    start: str
    end: str
    instance_type: str
    modification_status: str
    offer_class: str
    paid_by: str
    payment_option: str
    platform: str
    region: str
    scope: str
    service: str
    tenancy: str
    term_length: str
    usage_type: str
    vendor: BilledVendor
    zone: str
    normalization_factor: Decimal
    number: int
    unblended_rate: Decimal
    upfront_value: Decimal
    remove: bool
    disabled: bool
    # with the parameter `details`
    currency: str | UnsetType = UNSET  # of rate and upfront value; "" if no fee was delivered
    dest_customer_name: str | UnsetType = UNSET
    dest_company_id: str | UnsetType = UNSET


class ReservedInstanceMove(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reserved-instance records")

    customer_id: str
    number: int
    vendor: Literal["aws"]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        number = sent.get("number")
        if isinstance(number, int) and number < 1:
            yield Violation("number", "1 or more")
