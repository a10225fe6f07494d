"""Request and response bodies of the reseller account routes, as specified."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.customers.resellers.meta_flags import find_flag_violations
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, Success
from nimbill.identity.users.user_rules import find_password_violations


class InputType(StrEnum):
    """Auto generates the password, Custom uses the one sent."""

    Auto = "Auto"
    Custom = "Custom"


class ResellerCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller accounts")

    email: str
    company_id: str
    input_type: InputType
    notification: bool
    password: str | None = None
    meta: dict[str, Any]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_email_violations(sent.get("email"))
        yield from find_custom_password_violations(sent)
        yield from find_flag_violations(sent.get("meta"))


class ResellerPassword(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller accounts")

    input_type: InputType
    notification: bool
    password: str | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_custom_password_violations(sent)


class ResellerMeta(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller accounts")

    meta: dict[str, Any]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_flag_violations(sent.get("meta"))


class ResellerChanged(Success, frozen=True, kw_only=True):
    """`password` is only present if it was generated and no notification is sent."""

    basis: ClassVar[Basis] = chosen("reseller-accounts")

    user_id: str
    password: str | UnsetType = UNSET


class ResellerRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller account")

    user_id: str
    billinggroup_id: str
    billinggroup_name: str
    email: str
    company_id: str
    update_time: str | None
    password_update_time: str | None
    portal_registered: str
    meta: dict[str, bool]


class ResellerSession(Body, frozen=True, kw_only=True):
    """A browser in which the account is signed in to the portal."""

    basis: ClassVar[Basis] = chosen("reseller-sign-in")

    session_id: str
    user_agent: str | None
    address: str | None
    create_time: str
    last_use_time: str


def find_custom_password_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    """Custom requires a valid password; with Auto the password field is ignored."""
    if sent.get("input_type") == InputType.Custom:
        yield from find_password_violations(sent.get("password"))
