"""Response bodies of the routes on reservations and savings plans.

Amounts are at the customer's price, unrounded. What the vendor's lines do not state is null.
"""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body
from nimbill.portal.usage.bodies import UnpricedUsage, UsageMonth


class CommitmentState(StrEnum):
    active = "active"
    expired = "expired"


class Reservation(Body, frozen=True, kw_only=True):
    """A reservation, or the part of one that was moved to or from an account.

    A part that was moved to the account has no reservation_id, which names its former owner.
    """

    basis: ClassVar[Basis] = chosen("portal-reservations")

    id: str
    reservation_id: str | None
    vendor: str
    customer_id: str
    customer_name: str
    service: str
    instance_type: str
    platform: str
    tenancy: str
    region: str
    zone: str
    scope: str
    number: int | None
    payment_option: str
    offer_class: str
    term_length: str
    start: str
    end: str
    state: CommitmentState
    moved: bool
    currency: Currency | None
    fee: Decimal | None


class ReservationList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-reservations")

    month: str
    rows: list[Reservation]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class ReservationUse(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-reservations")

    id: str
    reservation_id: str | None
    vendor: str
    customer_id: str
    customer_name: str
    service: str
    instance_type: str
    region: str
    number: int | None
    moved: bool
    hours_bought: int | None
    hours_used: Decimal | None
    percentage: Decimal | None


class ReservationUseList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-reservations")

    month: str
    rows: list[ReservationUse]


class Recommendation(Body, frozen=True, kw_only=True):
    """`amount` is what all hours of the row cost on demand; a saving is not calculated."""

    basis: ClassVar[Basis] = chosen("portal-recommendations")

    vendor: str
    customer_id: str
    customer_name: str
    service: str
    region: str
    usage_type: str
    instance_type: str
    platform: str
    tenancy: str
    hours: Decimal
    days: int
    number: int
    currency: Currency | None
    amount: Decimal | None


class RecommendationList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-recommendations")

    month: str
    month_hours: int
    rows: list[Recommendation]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class SavingsPlan(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-savings-plans")

    savings_plan_id: str
    vendor: str
    customer_id: str
    customer_name: str
    payment_option: str
    term_length: str
    start: str
    end: str
    state: CommitmentState
    currency: Currency | None
    fee: Decimal | None
    covered_usage: Decimal | None
    used_percentage: Decimal | None


class SavingsPlanList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-savings-plans")

    month: str
    rows: list[SavingsPlan]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]
