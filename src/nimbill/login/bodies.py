"""What a token endpoint answers."""

from typing import ClassVar

from nimbill.basis import Basis, chosen, stated
from nimbill.bodies import Body


class TokenAnswer(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Token response")

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  # the scheme, not a secret
    expires_in: int
    id_token: str


class TokenRefusal(Body, frozen=True, kw_only=True):
    """RFC 6749 section 5.2, which every OAuth client understands."""

    basis: ClassVar[Basis] = chosen("token-endpoint-errors")

    error: str
    error_description: str
