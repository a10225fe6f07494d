"""An HTTP client of the service, used by the demo like any other client."""

import time
from collections.abc import Mapping
from copy import copy
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from nimbill.demo.logins import DemoLogin
from nimbill.foundation import exact_json
from nimbill.foundation.errors import OperatorError

REQUEST_SECONDS_MAX = 300  # invoices or PDF files of a month, on a busy machine
RETRY_STATUSES = (408, 429, 503)
JSON = {"Content-Type": "application/json"}


class DemoError(OperatorError):
    """The demo cannot continue; the message says why and what to do."""


class DemoClient:
    """A client of one organisation; `folder` is the data folder of the demo."""

    def __init__(self, address: str, login: DemoLogin, folder: Path) -> None:
        self.login, self.folder = login, folder
        self._address = urlsplit(address)
        self._headers = self._log_in("/core/access_token", "client_credentials")

    def log_in_to(self, path: str, grant_type: str) -> "DemoClient":
        """Return a client of the same organisation with a token from another endpoint."""
        client = copy(self)
        client._headers = self._log_in(path, grant_type)
        return client

    def _log_in(self, path: str, grant_type: str) -> dict[str, str]:
        form = {
            "grant_type": grant_type,
            "client_id": self.login.client_id,
            "client_secret": self.login.client_secret,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, content = self._send("POST", path, urlencode(form).encode(), headers)
        if status == 401:
            raise DemoError(
                "The login stored in demo.json does not belong to the demo's database. Remove the "
                "demo's data folder to start again."
            )
        if status != 200:
            raise DemoError(f"{path} returned {status}. See demo.log in the demo's data folder.")
        token = exact_json.decode(content)["access_token"]
        return {"Authorization": f"Bearer {token}"}

    def post(self, path: str, body: Mapping[str, Any], *, key: str) -> None:
        """Repeating a request with the same idempotency key changes nothing."""
        self._change("POST", path, body, {"Idempotency-Key": key})

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        self._change("PUT", path, body, {})

    def get(self, path: str) -> Any:
        return exact_json.decode(self.get_bytes(path))

    def get_bytes(self, path: str) -> bytes:
        status, content = self._send_with_retries("GET", path, b"", self._headers)
        if status != 200:
            raise DemoError(f"{path} returned {status}. See demo.log in the demo's data folder.")
        return content

    def _change(
        self, method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> None:
        all_headers = {**self._headers, **JSON, **headers}
        status, content = self._send_with_retries(
            method, path, exact_json.encode(body), all_headers
        )
        if status not in (200, 201, 202, 409):  # 409: it exists from an interrupted start
            code = exact_json.decode(content).get("code")
            raise DemoError(
                f"{path} returned {status}, {code}. See demo.log in the demo's data folder."
            )

    def _send_with_retries(self, *request: Any) -> tuple[int, bytes]:
        """Retries while the service limits the rate or is overloaded."""
        status, content = self._send(*request)
        deadline = time.monotonic() + REQUEST_SECONDS_MAX
        while status in RETRY_STATUSES and time.monotonic() < deadline:
            time.sleep(1)
            status, content = self._send(*request)
        return status, content

    def _send(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        connection = HTTPConnection(
            self._address.hostname or "", self._address.port, timeout=REQUEST_SECONDS_MAX
        )
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
