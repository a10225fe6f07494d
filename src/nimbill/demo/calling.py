"""A client of the service, as any other: it logs in and calls, over HTTP."""

import time
from collections.abc import Mapping
from copy import copy
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from nimbill.demo.accounts import DemoLogin
from nimbill.foundation import exact_json

SECONDS_MAX = 300  # a month's invoices, or their paper, on a machine that is busy
COME_BACK = (408, 429, 503)
JSON = {"Content-Type": "application/json"}


class DemoError(Exception):
    """The demo cannot go on; the message says why and what to do."""


class DemoClient:
    """A client of one organisation, with its token; files for it are laid into the folder."""

    def __init__(self, address: str, account: DemoLogin, folder: Path) -> None:
        self.account, self.folder = account, folder
        self._address = urlsplit(address)
        self._token = self._logged_in("/core/access_token", "client_credentials")

    def over_version_3(self) -> "DemoClient":
        """The same, as a user of the legacy API."""
        other = copy(self)
        other._token = self._logged_in("/v3/access_token", "password")
        return other

    def _logged_in(self, path: str, grant_type: str) -> dict[str, str]:
        form = {
            "grant_type": grant_type,
            "client_id": self.account.client_id,
            "client_secret": self.account.client_secret,
        }
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer = self._send("POST", path, urlencode(form).encode(), kind)
        if status == 401:
            raise DemoError(
                "the login kept beside the demo's data is not one of its database; remove the "
                "demo's data folder to start afresh"
            )
        if status != 200:
            raise DemoError(f"{path} answered {status}; see the demo's log")
        token = exact_json.read(answer)["access_token"]
        return {"Authorization": f"Bearer {token}"}

    def post(self, path: str, body: Mapping[str, Any], *, key: str) -> None:
        """Sent again after an interrupted start, the same key changes nothing twice."""
        self._change("POST", path, body, {"Idempotency-Key": key})

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        self._change("PUT", path, body, {})

    def get(self, path: str) -> Any:
        return exact_json.read(self.fetch(path))

    def fetch(self, path: str) -> bytes:
        """What is not JSON."""
        status, answer = self._patiently("GET", path, b"", self._token)
        if status != 200:
            raise DemoError(f"{path} answered {status}; see the demo's log")
        return answer

    def _change(
        self, method: str, path: str, body: Mapping[str, Any], more: Mapping[str, str]
    ) -> None:
        headers = {**self._token, **JSON, **more}
        status, answer = self._patiently(method, path, exact_json.write(body), headers)
        if status not in (200, 201, 202, 409):  # 409: somebody was there before the story
            code = exact_json.read(answer).get("code")
            raise DemoError(f"{path} answered {status}, {code}; see the demo's log")

    def _patiently(self, *call: Any) -> tuple[int, bytes]:
        """Whoever calls too often, or when the machine is too busy, is told to come back."""
        status, answer = self._send(*call)
        until = time.monotonic() + SECONDS_MAX
        while status in COME_BACK and time.monotonic() < until:
            time.sleep(1)
            status, answer = self._send(*call)
        return status, answer

    def _send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        connection = HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=SECONDS_MAX
        )
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
