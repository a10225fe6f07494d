"""Request and response bodies of the user and API client routes, as specified."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.email_rules import find_email_violations
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length
from nimbill.identity.users.user_rules import find_password_violations, find_username_violations


class BooleanText(StrEnum):
    """A boolean that the specification represents as text."""

    true = "true"
    false = "false"


class Notification(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Subuser creation body")

    email: BooleanText


class SubuserCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Subuser creation body")

    username: str
    password: str
    email: str | None = None
    notification: Notification

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from find_username_violations(sent.get("username"))
        yield from find_password_violations(sent.get("password"))
        if sent.get("email") is not None:
            yield from find_email_violations(sent["email"])


class Subuser(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("subuser-record")

    user_id: str
    username: str
    email: str | None
    root_user: str
    notification: Notification
    create_time: str
    # with the parameter `details`, for callers who may read roles
    roles: list[str] | UnsetType = UNSET  # those of the product that the caller uses
    billing_group_count: int | UnsetType | None = UNSET  # null without a filter: every group


class PasswordChange(Body, frozen=True, kw_only=True):
    """`old_password` is required to change the own password, and ignored for other users."""

    basis: ClassVar[Basis] = chosen("password-change")

    password: str
    old_password: str | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_password_violations(sent.get("password"))


class EmailAddress(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("email-change")

    email: str | None


class EmailChange(Body, frozen=True, kw_only=True):
    """`old_password`, the current password, is required to change the own address."""

    basis: ClassVar[Basis] = chosen("email-change")

    email: str
    old_password: str | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_email_violations(sent.get("email"))


class ApiClientCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("API clients")

    name: Annotated[str, text_length(1, 100)]


class ApiClientRecord(Body, frozen=True, kw_only=True, omit_defaults=True):
    """`client_secret` is only present in the response that creates the client, else empty."""

    basis: ClassVar[Basis] = stated("API client")

    client_id: str
    client_secret: str
    grant_type: str
    create_time: str
    user_id: str
    username: str | None = None
    name: str
