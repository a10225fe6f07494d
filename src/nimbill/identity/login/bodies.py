"""What a token endpoint answers."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import Body, text


class TokenAnswer(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Token response")

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  # the scheme, not a secret
    expires_in: int
    id_token: str
    refresh_token: str


class TokenForm(Body, frozen=True, kw_only=True):
    """The fields of a token request; which are needed depends on the grant."""

    basis: ClassVar[Basis] = stated("Token endpoints")

    grant_type: str
    client_id: str | None = None
    client_secret: str | None = None
    username: str | None = None
    password: str | None = None
    refresh_token: str | None = None
    scope: str | None = None


class SignIn(Body, frozen=True, kw_only=True):
    """`organisation` is its id or its short name."""

    basis: ClassVar[Basis] = chosen("console-sessions")

    organisation: Annotated[str, text(1, 100)]
    username: Annotated[str, text(1, 254)]
    password: Annotated[str, text(1, 128)]


class SignedIn(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("console-sessions")

    access_token: str
    token_type: str = "Bearer"  # noqa: S105
    expires_in: int
    organisation_id: str
    user_id: str
    username: str


class TokenRefusal(Body, frozen=True, kw_only=True):
    """RFC 6749 section 5.2, which every OAuth client understands."""

    basis: ClassVar[Basis] = chosen("token-endpoint-errors")

    error: str
    error_description: str
