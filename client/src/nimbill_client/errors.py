"""What can go wrong. No message contains a secret or what was sent."""

from collections.abc import Sequence
from http import HTTPStatus

import msgspec

from nimbill_client import exact_json
from nimbill_client.record import Record

KEY_IN_USE = "idempotency_key_in_use"
NO_DETAILS = "The response has no problem details."
# A redirect is not followed, because the token would be sent to another address.
REDIRECTED = "The address redirects to another one. Check the url of the client."


class NimbillError(Exception):
    """The base of all errors of this package."""


class ConnectionFailed(NimbillError):
    """The service could not be reached, or the connection broke."""


class UnexpectedResponse(NimbillError):
    """The response is not what this version of the client expects."""


class WaitTimeout(NimbillError):
    """Something was not finished in time; it continues in the service."""


class Violation(Record, frozen=True, kw_only=True):
    """A field of the request and the rule that it violates."""

    field: str
    rule: str


class ApiError(NimbillError):
    """The service refused a request; `code` does not change between versions."""

    def __init__(self, operation: str, problem: "Problem", retry_after: int | None = None) -> None:
        self.status = problem.status
        self.code = problem.code
        self.title = problem.title
        self.detail = problem.detail
        self.instance = problem.instance
        self.violations: Sequence[Violation] = problem.violations
        self.retry_after = retry_after
        rules = "".join(f"\n  {each.field}: {each.rule}" for each in problem.violations)
        super().__init__(f"{operation}: {self.status} {self.code}: {self.detail}{rules}")


class InvalidRequest(ApiError):
    """400, 413 or 415: the request is malformed or violates a rule; see `violations`."""


class NotAuthenticated(ApiError):
    """401: the token is invalid, and a new one is too."""


class Forbidden(ApiError):
    """403: the user lacks the permission."""


class NotFound(ApiError):
    """404: it does not exist, or the user may not see it."""


class Conflict(ApiError):
    """409: the current state does not allow it; see `code` and `violations`."""


class TooManyRequests(ApiError):
    """429: the service still limited the rate when the time for retries was over."""


class Unavailable(ApiError):
    """408 or 5xx: the service was still not available when the time for retries was over."""


class LoginFailed(ApiError):
    """The token endpoint refused the credentials; `code` is the error of OAuth 2."""


class Problem(Record, frozen=True, kw_only=True):
    """Problem details as in RFC 9457."""

    status: int
    code: str = ""
    title: str = ""
    detail: str = ""
    instance: str = ""
    violations: list[Violation] = msgspec.field(default_factory=list)


class OAuthError(Record, frozen=True, kw_only=True):
    error: str
    error_description: str = ""


ERRORS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    429: TooManyRequests,
}
TEMPORARY_STATUSES = frozenset({408, 429, 502, 503, 504})


def read_error(
    operation: str, status: int, content: bytes, retry_after: int | None = None
) -> ApiError:
    """Return the error of a response; a proxy may have answered without problem details."""
    try:
        problem = exact_json.decode(content, Problem)
    except msgspec.MsgspecError:
        login = _read_login_error(operation, status, content)
        if login is not None:
            return login
        problem = Problem(status=status, detail=REDIRECTED if status < 400 else NO_DETAILS)
    problem = msgspec.structs.replace(
        problem, status=status, title=problem.title or _name_status(status)
    )
    error = ERRORS.get(status, Unavailable if status >= 500 or status == 408 else ApiError)
    return error(operation, problem, retry_after)


def _read_login_error(operation: str, status: int, content: bytes) -> LoginFailed | None:
    try:
        answer = exact_json.decode(content, OAuthError)
    except msgspec.MsgspecError:
        return None
    problem = Problem(
        status=status,
        code=answer.error,
        title="Login failed",
        detail=answer.error_description,
    )
    return LoginFailed(operation, problem)


def _name_status(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def is_temporary(error: NimbillError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, ApiError):
        return error.status in TEMPORARY_STATUSES or error.code == KEY_IN_USE
    return isinstance(error, ConnectionFailed)
