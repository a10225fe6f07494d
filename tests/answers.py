"""What every answer that says no must look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

CANARY = "canary-7c1f"


class Answer(Protocol):
    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def text(self) -> str: ...

    def json(self) -> Any: ...


def problem_of(answer: Answer, status: int) -> dict[str, Any]:
    """The problem details of a refusal, after everything they must always hold was checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "code", "instance"} <= set(problem)
    assert set(problem) <= {
        *("type", "title", "status", "detail", "code", "instance", "violations"),
    }
    assert problem["status"] == status
    assert problem["instance"] == f"urn:request:{answer.headers['x-request-id']}"
    assert CANARY not in answer.text
    assert CANARY not in repr(answer.headers)
    return problem


def violations_of(answer: Answer) -> list[tuple[str, str]]:
    """Field and rule of every violation of a 400."""
    problem = problem_of(answer, 400)
    assert problem["code"] == "rule_broken"
    return [(each["field"], each["rule"]) for each in problem["violations"]]
