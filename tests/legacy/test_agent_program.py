"""The agent applies every changed configuration, against a fake service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from nimbill.legacy.agent_program import AgentConfig, StackAgent
from tests.legacy.http_server import run_http_server


@dataclass
class FakeService:
    """Returns a configuration, and stores the reported status of containers."""

    url: str = ""
    configuration: dict[str, Any] = field(default_factory=dict)
    container_statuses: list[str] = field(default_factory=list)


@pytest.fixture
def fake_service() -> Iterator[FakeService]:
    fake_service = FakeService()

    class AgentApiHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(fake_service.configuration)

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/container_status"):
                fake_service.container_statuses.append(sent["status"])
            self._respond({"access_token": "token"})

        def _respond(self, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            return

    with run_http_server(AgentApiHandler) as fake_service.url:
        yield fake_service


def test_two_changes_within_one_second_are_both_applied(fake_service: FakeService) -> None:
    config = AgentConfig(
        fake_service.url, "stk", "web", "token", instance_id="i-1", metadata_address=""
    )
    agent = StackAgent(config)
    fake_service.configuration = {"updated": 1_800_000_000, "image": "shop:1"}
    agent.boot()
    fake_service.container_statuses.clear()

    fake_service.configuration = {"updated": 1_800_000_000, "image": "shop:2"}
    agent.poll()
    agent.poll()

    assert fake_service.container_statuses == ["updating", "running"]
