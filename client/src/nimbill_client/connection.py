"""Sends requests: with a token, an idempotency key, and retries."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from nimbill_client import exact_json
from nimbill_client.clock import Clock, Deadline
from nimbill_client.credentials import Credentials
from nimbill_client.errors import (
    ApiError,
    ConnectionFailed,
    NimbillError,
    NotAuthenticated,
    UnexpectedResponse,
    is_temporary,
    read_error,
)
from nimbill_client.retries import choose_delay, parse_retry_after
from nimbill_client.tokens import TokenResponse, TokenSource

T = TypeVar("T")

TOKEN_PATH = "/core/access_token"  # noqa: S105
PORTAL_TOKEN_PATH = "/access_token"  # noqa: S105
CONNECT_SECONDS = 10
# After these, the same request may succeed. A repeat is safe because of its idempotency key.
BROKEN_CONNECTION = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. `path` is a path of the OpenAPI document, and `ids` are its parameters."""

    method: str
    path: str
    ids: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | int | None] = field(default_factory=dict)
    body: object = field(default=None, repr=False)
    csv: bytes | None = None
    form: Mapping[str, Any] | None = field(default=None, repr=False)
    files: Sequence[Path] = ()
    key: str | None = None
    link: str | None = field(default=None, repr=False)  # a signed address instead of the path
    seconds_max: int | None = None  # for all attempts together
    with_token: bool = True
    repeatable: bool = True  # whether it may be sent again after a broken connection

    @property
    def operation(self) -> str:
        return f"{self.method} {self.path}"

    def build_path(self) -> str:
        ids = {name: quote(value, safe="") for name, value in self.ids.items()}
        return self.link or self.path.format(**ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """`timeout` is for one attempt, `retry_seconds` for all attempts of a request together."""

    timeout: int = 60
    retry_seconds: int = 60
    user_agent: str = "nimbill-client"
    token_path: str = TOKEN_PATH
    transport: httpx.BaseTransport | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=Clock, repr=False)


class Connection:
    """A pool of connections to one service, with the token of one caller. Threads may share it."""

    def __init__(self, url: str, credentials: Credentials, settings: ConnectionSettings) -> None:
        self.url = check_url(url)
        self.clock = settings.clock
        self._retry_seconds = settings.retry_seconds
        self._token_path = settings.token_path
        self._http = httpx.Client(
            base_url=self.url,
            headers={"User-Agent": settings.user_agent},
            timeout=httpx.Timeout(settings.timeout, connect=CONNECT_SECONDS),
            transport=settings.transport,
        )
        self._tokens = TokenSource(credentials, self._request_token, settings.clock)

    def close(self) -> None:
        self._http.close()

    def fetch(self, result: type[T], call: Call) -> T:
        """Send a request and return its result, or raise an error of this package."""

        def read(response: httpx.Response) -> T:
            return _decode(call, response.read(), result)

        return self._send(call, read)

    def download(self, call: Call, file: Path) -> Path:
        """Write the response to a file, which appears only when it is complete."""

        def write(response: httpx.Response) -> Path:
            part = file.with_name(f".{file.name}.part")
            try:
                with part.open("wb") as out:
                    out.writelines(response.iter_bytes())
                return part.replace(file)
            finally:
                part.unlink(missing_ok=True)

        return self._send(call, write)

    def download_link(self, link: str, file: Path) -> Path:
        """Download by a signed link, which may lead to another host: the token is not sent."""
        return self.download(
            Call(method="GET", path="/d/{export_id}", link=link, with_token=False), file
        )

    def _send(self, call: Call, consume: Callable[[httpx.Response], T]) -> T:
        """Repeat a request until it succeeds, is refused, or its time is over."""
        deadline = Deadline(self.clock, call.seconds_max or self._retry_seconds)
        headers = _build_headers(call)
        attempt, renewed = 0, False
        while True:
            token = self._tokens.get() if call.with_token else None
            answer = self._try(call, headers, token, consume)
            if not isinstance(answer, NimbillError):
                return answer
            if isinstance(answer, NotAuthenticated) and token is not None and not renewed:
                self._tokens.discard(token)
                renewed = True
                continue
            retry_after = answer.retry_after if isinstance(answer, ApiError) else None
            can_repeat = call.repeatable or isinstance(answer, ApiError)
            if not (is_temporary(answer) and can_repeat):
                raise answer
            if not deadline.sleep(choose_delay(attempt, retry_after)):
                raise answer
            attempt += 1

    def _try(
        self,
        call: Call,
        headers: Mapping[str, str],
        token: str | None,
        consume: Callable[[httpx.Response], T],
    ) -> T | NimbillError:
        """Send the request once; return what went wrong if it may be repeated."""
        all_headers = {**headers, **({"Authorization": f"Bearer {token}"} if token else {})}
        try:
            with ExitStack() as stack:
                request = self._build_request(call, all_headers, stack)
                response = self._http.send(request, stream=True)
                stack.callback(response.close)
                if response.is_success:
                    return consume(response)
                retry_after = parse_retry_after(response.headers.get("Retry-After"))
                return read_error(
                    call.operation, response.status_code, response.read(), retry_after
                )
        except BROKEN_CONNECTION as failure:
            return _describe_failure(call, failure)
        except httpx.RequestError as failure:
            raise _describe_failure(call, failure) from None

    def _build_request(
        self, call: Call, headers: Mapping[str, str], stack: ExitStack
    ) -> httpx.Request:
        """Open the files again for each attempt."""
        files = [
            ("file", (file.name, stack.enter_context(file.open("rb")), "application/octet-stream"))
            for file in call.files
        ]
        return self._http.build_request(
            call.method,
            call.build_path(),
            params={name: value for name, value in call.query.items() if value is not None} or None,
            content=_encode_content(call),
            data=call.form,
            files=files or None,
            headers=headers,
        )

    def _request_token(self, form: Mapping[str, Any]) -> TokenResponse:
        """A refresh token is valid once, so its request is not repeated blindly."""
        call = Call(
            method="POST",
            path=self._token_path,
            form=form,
            with_token=False,
            repeatable="refresh_token" not in form,
        )
        return self.fetch(TokenResponse, call)


def check_url(url: str) -> str:
    """Refuse an address with a password, which would appear in logs."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("The url must begin with https:// or http:// and name a host.")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("The url must contain no user, no password, no query and no fragment.")
    return url.rstrip("/")


def _build_headers(call: Call) -> dict[str, str]:
    """All attempts have the same idempotency key, so that the change is made once."""
    headers = {}
    if call.with_token and call.method != "GET":
        headers["Idempotency-Key"] = call.key or f"nimbill-client-{secrets.token_hex(16)}"
    if call.csv is not None:
        headers["Content-Type"] = "text/csv"
    elif call.body is not None:
        headers["Content-Type"] = "application/json"
    return headers


def _encode_content(call: Call) -> bytes | None:
    if call.csv is not None:
        return call.csv
    return None if call.body is None else exact_json.encode(call.body)


def _decode(call: Call, content: bytes, result: type[T]) -> T:
    try:
        return exact_json.decode(content, result)
    except msgspec.MsgspecError as error:
        # The error names the place in the response, not the value.
        raise UnexpectedResponse(
            f"{call.operation}: the response is not as expected ({error}). Check that the versions "
            "of client and service are the same."
        ) from None


def _describe_failure(call: Call, failure: httpx.RequestError) -> ConnectionFailed:
    reason = str(failure) or type(failure).__name__
    return ConnectionFailed(f"{call.operation}: the connection to the service failed ({reason}).")
