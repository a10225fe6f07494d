"""What the agent takes for a change, against a service that says whatever it is told to."""

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
class Said:
    """The configuration that is given, and what containers were reported to do."""

    url: str = ""
    configuration: dict[str, Any] = field(default_factory=dict)
    of_containers: list[str] = field(default_factory=list)


@pytest.fixture
def said() -> Iterator[Said]:
    said = Said()

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's word
            self._answer(said.configuration)

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/container_status"):
                said.of_containers.append(sent["status"])
            self._answer({"access_token": "token"})

        def _answer(self, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            return

    with run_http_server(Answering) as said.url:
        yield said


def test_two_changes_in_one_second_are_both_taken_up(said: Said) -> None:
    config = AgentConfig(said.url, "stk", "web", "token", instance_id="i-1", metadata_address="")
    agent = StackAgent(config)
    said.configuration = {"updated": 1_800_000_000, "image": "shop:1"}
    agent.boot()
    said.of_containers.clear()

    said.configuration = {"updated": 1_800_000_000, "image": "shop:2"}
    agent.poll()
    agent.poll()

    assert said.of_containers == ["updating", "running"]
