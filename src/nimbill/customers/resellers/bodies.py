"""Bodies of the reseller account operations, row by row as specified."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.customers.resellers.meta_flags import flag_violations
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, Success
from nimbill.identity.users.user_rules import email_violations, password_violations


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
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from email_violations(sent.get("email"))
        yield from custom_password_violations(sent)
        yield from flag_violations(sent.get("meta"))


class ResellerPassword(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller accounts")

    input_type: InputType
    notification: bool
    password: str | None = None

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return custom_password_violations(sent)


class ResellerMeta(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Reseller accounts")

    meta: dict[str, Any]

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return flag_violations(sent.get("meta"))


class ResellerChanged(Success, frozen=True, kw_only=True):
    """`password` stands in the answer once, when it was made here and nobody is written to."""

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


def custom_password_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    """Custom needs a password; what is sent along with Auto is not looked at."""
    if sent.get("input_type") == InputType.Custom:
        yield from password_violations(sent.get("password"))
