"""Read problem details (RFC 9457) and check what all of them have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

CANARY = "canary-7c1f"


class HttpResponse(Protocol):
    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def text(self) -> str: ...

    def json(self) -> Any: ...


# A correct password that a second step must follow.
SECOND_STEP_CODES = ("second_factor_required", "second_factor_setup_required")
SECOND_STEP_FIELDS = ("sign_in_token", "totp", "passkey")


def read_problem(response: HttpResponse, status: int) -> dict[str, Any]:
    """Return the problem details after checking status, fields and the absence of sent values."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert {"type", "title", "status", "detail", "code", "instance"} <= set(problem)
    assert set(problem) <= {
        *("type", "title", "status", "detail", "code", "instance", "violations"),
        *(("etag", "changed_by", "changed_at") if status == 412 else ()),
        *(SECOND_STEP_FIELDS if problem["code"] in SECOND_STEP_CODES else ()),
    }
    assert problem["status"] == status
    assert problem["instance"] == f"urn:request:{response.headers['x-request-id']}"
    assert CANARY not in response.text
    assert CANARY not in repr(response.headers)
    return problem


def read_violations(response: HttpResponse) -> list[tuple[str, str]]:
    """Return field and rule of every violation of a response with status 400."""
    problem = read_problem(response, 400)
    assert problem["code"] == "rule_broken"
    return [(violation["field"], violation["rule"]) for violation in problem["violations"]]
