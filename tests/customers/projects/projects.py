"""Create and list projects."""

from __future__ import annotations

from typing import Any

from tests.problem_responses import HttpResponse
from tests.running_service import Service

PATH = "/m/core/project"

PROJECT: dict[str, Any] = {
    "project_code": "P-001",
    "project_label": "さくら移行",
    "project_currency": "jpy",
}


def post_project(service: Service, headers: Any = None, **fields: Any) -> HttpResponse:
    return service.http.post(PATH, json=PROJECT | fields, headers=headers or service.root())


def create_project(service: Service, headers: Any = None, **fields: Any) -> str:
    """Create a project and return its id."""
    response = post_project(service, headers, **fields)
    assert response.status_code == 200, response.text
    project_id: str = response.json()["project_id"]
    return project_id


def list_projects(service: Service, headers: Any = None) -> Any:
    response = service.http.get(PATH, headers=headers or service.root())
    assert response.status_code == 200
    return response.json()
