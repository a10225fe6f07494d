"""Sends CSV files, and lists the audit rows that they leave."""

from __future__ import annotations

from typing import Any

from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service


def post_csv(
    service: Service, path: str, *lines: str, headers: Any = None, encoding: str = "utf-8"
) -> HttpResponse:
    """Send these lines; the first is the header."""
    return service.http.post(
        path,
        content="\r\n".join([*lines, ""]).encode(encoding),
        headers={"Content-Type": "text/csv"} | (headers or service.root()),
    )


def list_errors(response: HttpResponse, status: int = 400) -> list[tuple[str, str]]:
    problem = read_problem(response, status)
    return [(violation["field"], violation["rule"]) for violation in problem["violations"]]


def list_audit_rows(service: Service, action: str) -> list[dict[str, Any]]:
    """List the rows of an action, oldest first."""
    rows = service.http.get("/m/core/audit", headers=service.root()).json()
    return [row for row in reversed(rows) if row["action"] == action]
