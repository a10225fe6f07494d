"""Request and response bodies of token endpoints and console sessions."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length
from nimbill.identity.users.user_rules import find_password_violations


class TokenResponse(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Token response")

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  # the scheme, not a secret
    expires_in: int
    id_token: str
    refresh_token: str


class TokenForm(Body, frozen=True, kw_only=True):
    """The fields of a token request. The grant type determines which are required."""

    basis: ClassVar[Basis] = stated("Token endpoints")

    grant_type: str
    client_id: str | None = None
    client_secret: str | None = None
    username: str | None = None
    password: str | None = None
    refresh_token: str | None = None
    scope: str | None = None


class SignInRequest(Body, frozen=True, kw_only=True):
    """`organisation` is the id or the short name."""

    basis: ClassVar[Basis] = chosen("console-sessions")

    organisation: Annotated[str, text_length(1, 100)]
    username: Annotated[str, text_length(1, 254)]
    password: Annotated[str, text_length(1, 128)]


class SessionResponse(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("console-sessions")

    access_token: str
    token_type: str = "Bearer"  # noqa: S105
    expires_in: int
    organisation_id: str
    user_id: str
    username: str


class ConsoleSession(Body, frozen=True, kw_only=True):
    """`current` is true for the session that the request belongs to."""

    basis: ClassVar[Basis] = chosen("session-list")

    session_id: str
    product: str
    user_agent: str | None
    address: str | None
    create_time: str
    last_use_time: str
    current: bool


class PasswordResetRequest(Body, frozen=True, kw_only=True):
    """`organisation` is the id or the short name, `username` the name or the e-mail address."""

    basis: ClassVar[Basis] = chosen("password-links")

    organisation: Annotated[str, text_length(1, 100)]
    username: Annotated[str, text_length(1, 254)]


class PasswordResetConfirm(Body, frozen=True, kw_only=True):
    """`organisation` and `token` are those of the mailed link."""

    basis: ClassVar[Basis] = chosen("password-links")

    organisation: Annotated[str, text_length(1, 100)]
    token: Annotated[str, text_length(1, 100)]
    password: str

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_password_violations(sent.get("password"))


class OAuthError(Body, frozen=True, kw_only=True):
    """An error response as defined in RFC 6749, section 5.2."""

    basis: ClassVar[Basis] = chosen("token-endpoint-errors")

    error: str
    error_description: str
