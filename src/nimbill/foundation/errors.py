"""Everything we refuse, drawn as a tree.

ServiceError
├── Invalid            400  the request breaks a rule; `violations` lists every one
├── NotAuthenticated   401  no token, or one that does not stand
├── NotPermitted       403  the token stands, the caller may not do this
├── NotFound           404  no such record, or not the caller's
├── Conflict           409  the request is sound but the records forbid it
├── Unreadable         4xx  too slow, too large or of a kind we do not read: 408, 413, 415
├── TooMany            429  more requests than allowed; says when to come back
└── Unavailable        503  the database is away; says when to come back

The reason is a code, not another class. The detail is a fixed sentence: what the caller sent is
never repeated.
"""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from nimbill.foundation.basis import chosen

basis = chosen("status-codes")


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


class Unreadable(ServiceError):
    """The body cannot be taken: which of the three statuses is given with the reason."""

    status = 415
    title = "Request not readable"

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.status = status  # type: ignore[misc]  # three statuses share one meaning


class TooMany(ServiceError):
    status = 429
    title = "Too many requests"


class Unavailable(ServiceError):
    status = 503
    title = "Temporarily unavailable"


def refuse_if(violations: Sequence[Violation]) -> None:
    """Raise Invalid with every violation, or return when there is none."""
    if violations:
        raise Invalid("rule_broken", "the request breaks a rule", violations)


def not_found() -> NotFound:
    """The one answer for what is not there, was deleted, or belongs to somebody else."""
    return NotFound("not_found", "there is no such record")
