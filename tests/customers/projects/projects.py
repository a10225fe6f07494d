"""A sound project to start from, and how projects are made and listed."""

from __future__ import annotations

from typing import Any

from tests.answers import Answer
from tests.running_service import Service

PATH = "/m/core/project"

PROJECT: dict[str, Any] = {
    "project_code": "P-001",
    "project_label": "さくら移行",
    "project_currency": "jpy",
}


def create(service: Service, headers: Any = None, **fields: Any) -> Answer:
    return service.http.post(PATH, json=PROJECT | fields, headers=headers or service.root())


def made(service: Service, headers: Any = None, **fields: Any) -> str:
    answer = create(service, headers, **fields)
    assert answer.status_code == 200, answer.text
    project_id: str = answer.json()["project_id"]
    return project_id


def projects(service: Service, headers: Any = None) -> Any:
    answer = service.http.get(PATH, headers=headers or service.root())
    assert answer.status_code == 200
    return answer.json()
