"""Bodies of the user and API client operations, row by row as specified."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text
from nimbill.identity.users.user_rules import (
    email_violations,
    password_violations,
    username_violations,
)


class TrueOrFalse(StrEnum):
    """Spelled as a text, as the specification has it."""

    true = "true"
    false = "false"


class Notification(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Subuser creation body")

    email: TrueOrFalse


class SubuserCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Subuser creation body")

    username: str
    password: str
    email: str | None = None
    notification: Notification

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from username_violations(sent.get("username"))
        yield from password_violations(sent.get("password"))
        if sent.get("email") is not None:
            yield from email_violations(sent["email"])


class Subuser(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("subuser-record")

    user_id: str
    username: str
    email: str | None
    root_user: str
    notification: Notification
    create_time: str


class PasswordChange(Body, frozen=True, kw_only=True):
    """The old password proves that it is oneself; who may modify users leaves it out."""

    basis: ClassVar[Basis] = chosen("password-change")

    password: str
    old_password: str | None = None

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return password_violations(sent.get("password"))


class ApiClientCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("API clients (base {users_url})")

    name: Annotated[str, text(1, 100)]


class ApiClient(Body, frozen=True, kw_only=True, omit_defaults=True):
    """`client_secret` is in clear in the answer to its creation alone, empty ever after."""

    basis: ClassVar[Basis] = stated("API client")

    client_id: str
    client_secret: str
    grant_type: str
    create_time: str
    user_id: str
    username: str | None = None
    name: str
