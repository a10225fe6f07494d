"""The errors of the service, one class per HTTP status.

ServiceError
├── Invalid            400  the request violates rules; `violations` lists all of them
├── NotAuthenticated   401  no token, or an invalid or revoked one
├── NotPermitted       403  the caller lacks a permission
├── NotFound           404  the record does not exist or is not visible to the caller
├── Conflict           409  the request is valid but conflicts with stored records
├── VersionConflict    412  the object was changed since the version that If-Match names
├── Unreadable         4xx  the body is too slow, too large or of an unknown type: 408, 413, 415
├── TooManyRequests    429  the caller exceeds a rate limit; has a Retry-After
└── Unavailable        503  the database cannot be reached; has a Retry-After

The code tells the reason. The detail is a fixed sentence that never repeats what the caller sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

# See docs/choices.md, status-codes.


class OperatorError(Exception):
    """A command cannot continue; the message tells the operator why and, if known, what to do."""


class Violation(NamedTuple):
    field: str
    rule: str


class ServiceError(Exception):
    status: ClassVar[int]
    title: ClassVar[str]

    def __init__(
        self, code: str, detail: str, violations: Sequence[Violation] = (), retry_after: int = 0
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self.headers: Mapping[str, str] = {}
        self.fields: Mapping[str, Any] = {}  # further members of the problem details


class Invalid(ServiceError):
    status = 400
    title = "Invalid request"


class NotAuthenticated(ServiceError):
    status = 401
    title = "Not authenticated"


class NotPermitted(ServiceError):
    status = 403
    title = "Not permitted"


class NotFound(ServiceError):
    status = 404
    title = "Not found"


class Conflict(ServiceError):
    status = 409
    title = "Conflict"


class VersionConflict(ServiceError):
    """Somebody else changed the object; the response names the current version."""

    status = 412
    title = "Version conflict"

    def __init__(self, *, etag: str, changed_by: str | None, changed_at: str | None) -> None:
        detail = (
            "The record was changed since you read it. Read it again and repeat your change with "
            "the new version."
        )
        super().__init__("version_conflict", detail)
        self.headers = {"ETag": etag}
        self.fields = {"etag": etag, "changed_by": changed_by, "changed_at": changed_at}


class Unreadable(ServiceError):
    """The body cannot be read. The reason decides between three statuses."""

    status = 415
    title = "Request not readable"

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.status = status  # type: ignore[misc]  # three statuses share one meaning


class TooManyRequests(ServiceError):
    status = 429
    title = "Too many requests"


class Unavailable(ServiceError):
    status = 503
    title = "Temporarily unavailable"


def rule_violations_error(violations: Sequence[Violation]) -> Invalid:
    return Invalid("rule_broken", "The request violates one or more rules.", violations)


def refuse_if(violations: Sequence[Violation]) -> None:
    """Raise Invalid with every violation, or return when there is none."""
    if violations:
        raise rule_violations_error(violations)


def not_found() -> NotFound:
    """One response for all causes, so that it does not reveal records of other tenants."""
    return NotFound("not_found", "The record does not exist.")
