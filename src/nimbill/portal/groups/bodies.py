"""Request and response bodies of account groups and of usage by group."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, Success, text_length
from nimbill.portal.usage.bodies import UnpricedUsage, UsageMonth, UsageTotal

MEMBERS_MAX = 5_000

GroupName = Annotated[str, text_length(1, 100)]


def _find_member_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    customer_ids = sent.get("customer_ids")
    if isinstance(customer_ids, list) and len(customer_ids) > MEMBERS_MAX:
        yield Violation("customer_ids", f"at most {MEMBERS_MAX:,} accounts")


class AccountGroupCreate(Body, frozen=True, kw_only=True):
    """Users of the organisation name the company; a customer has only one."""

    basis: ClassVar[Basis] = chosen("account-groups")

    name: GroupName
    customer_ids: list[str]
    company_id: str | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return _find_member_violations(sent)


class AccountGroupChange(Body, frozen=True, kw_only=True):
    """What is absent does not change."""

    basis: ClassVar[Basis] = chosen("account-groups")

    name: GroupName | None = None
    customer_ids: list[str] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return _find_member_violations(sent)


class AccountGroup(Body, frozen=True, kw_only=True):
    """A group with those of its accounts that the caller sees."""

    basis: ClassVar[Basis] = chosen("account-groups")

    group_id: str
    company_id: str
    name: str
    customer_ids: list[str]


class AccountGroupDeleted(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("account-groups")

    company_id: str


class GroupUsageRow(Body, frozen=True, kw_only=True):
    """Group and name are null for accounts in no group."""

    basis: ClassVar[Basis] = chosen("account-groups")

    month: str
    vendor: str
    group_id: str | None
    group_name: str | None
    service: str
    marketplace: bool
    currency: Currency
    amount: Decimal


class GroupUsage(Body, frozen=True, kw_only=True):
    """The totals count an account once, also if it is in several groups."""

    basis: ClassVar[Basis] = chosen("account-groups")

    rows: list[GroupUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]
