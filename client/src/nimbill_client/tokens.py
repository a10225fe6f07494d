"""Access tokens: obtained when needed, renewed before they expire, shared by all threads."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from nimbill_client.clock import Clock
from nimbill_client.credentials import Credentials
from nimbill_client.errors import ConnectionFailed, LoginFailed
from nimbill_client.record import Record

RENEWAL_SECONDS = 30  # before a token expires


class TokenResponse(Record, frozen=True, kw_only=True):
    access_token: str
    expires_in: int
    refresh_token: str


class TokenSource:
    """Provides a valid access token."""

    def __init__(
        self,
        credentials: Credentials,
        request_token: Callable[[Mapping[str, Any]], TokenResponse],
        clock: Clock,
    ) -> None:
        self._credentials = credentials
        self._request_token = request_token
        self._clock = clock
        self._lock = threading.Lock()
        self._response: TokenResponse | None = None
        self._valid = False
        self._renew_at = clock.now()

    def get(self) -> str:
        with self._lock:
            if self._response is None or not self._valid or self._clock.now() >= self._renew_at:
                self._response = self._renew()
                lifetime = self._response.expires_in
                margin = min(RENEWAL_SECONDS, lifetime // 10)
                self._renew_at = self._clock.now() + lifetime - margin
                self._valid = True
            return self._response.access_token

    def discard(self, access_token: str) -> None:
        """Renew this token at its next use, unless another thread has renewed it."""
        with self._lock:
            if self._response is not None and self._response.access_token == access_token:
                self._valid = False

    def _renew(self) -> TokenResponse:
        """Refresh a user's token, because that is cheaper than checking the password again."""
        if self._response is not None and self._credentials.is_user:
            form = self._credentials.build_refresh(self._response.refresh_token)
            # A refresh token is valid once. If its response was lost, only a login helps.
            self._response = None
            try:
                return self._request_token(form)
            except (ConnectionFailed, LoginFailed):
                pass
        return self._request_token(self._credentials.build_login())
