"""Who logs in: an API client, or a user through an API client."""

from dataclasses import dataclass, field
from typing import Any

MISSING = (
    "Give client_id and client_secret, as `nimbill init` prints them; to log in as a user, give "
    "username and password too."
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The representation contains no secret."""

    client_id: str
    client_secret: str = field(repr=False)
    username: str | None = None
    password: str | None = field(repr=False, default=None)

    def __post_init__(self) -> None:
        has_user = bool(self.username), bool(self.password)
        if not self.client_id or not self.client_secret or has_user[0] != has_user[1]:
            raise ValueError(MISSING)

    @property
    def is_user(self) -> bool:
        return self.username is not None

    def build_login(self) -> dict[str, Any]:
        """Return the form of the token endpoint."""
        form = {"client_id": self.client_id, "client_secret": self.client_secret}
        if self.is_user:
            user = {"username": self.username, "password": self.password}
            return {"grant_type": "password", **form, **user}
        return {"grant_type": "client_credentials", **form}

    def build_refresh(self, refresh_token: str) -> dict[str, Any]:
        return {
            "grant_type": "refresh_token",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "refresh_token": refresh_token,
        }
