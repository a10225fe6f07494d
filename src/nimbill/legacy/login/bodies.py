"""The request and the response of the version 3 token endpoint."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, stated
from nimbill.http.request_bodies import Body


class LegacyTokenAnswer(Body, frozen=True, kw_only=True):
    """The version 3 token endpoint returns only these three fields."""

    basis: ClassVar[Basis] = stated("Token response")

    token_type: str = "Bearer"  # noqa: S105
    expires_in: int
    access_token: str


class LegacyTokenForm(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Token endpoints")

    client_id: str
    client_secret: str
    grant_type: str
    username: str | None = None
    password: str | None = None
