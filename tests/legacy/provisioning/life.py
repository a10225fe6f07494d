"""A service with stacks as a user meets it: templates, what became of them, and their agents."""

from __future__ import annotations

import copy
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.command_line import PASSWORD
from tests.legacy.provisioning.cloud_server import CREDENTIAL, REGION
from tests.legacy.templates.sound import TEMPLATE
from tests.proof.real_server import RealServer

SECONDS_MAX = 90
SECONDS_BETWEEN_LOOKS = 0.1
_LAYER: dict[str, Any] = TEMPLATE["configurations"][0]


def layer(flag: str = "web", *, container: bool = True, **provision: Any) -> dict[str, Any]:
    """A sound one with another provision."""
    made = copy.deepcopy(_LAYER) | {"flag": flag}
    made["provision"] |= {"keypair": True, **provision}
    if not container:
        del made["container"]
    return made


def template(*layers: dict[str, Any], label: str = "shop") -> dict[str, Any]:
    return {
        "version": "2026-11-15",
        "label": label,
        "vendor": {"aws": {"cred": CREDENTIAL, "region": REGION}},
        "configurations": list(layers or [layer()]),
    }


@dataclass(frozen=True, slots=True)
class Life:
    """The master account of an organisation on a real server."""

    server: RealServer
    organisation: dict[str, str]
    headers: dict[str, str]  # of the legacy API
    core: dict[str, str]  # of billing administration

    def call(self, method: str, path: str, **what: Any) -> httpx.Response:
        what = {"headers": self.headers, "timeout": 30, **what}
        return httpx.request(method, f"{self.server.url}{path}", **what)

    def apply(self, body: dict[str, Any]) -> str:
        answer = self.call("POST", "/v3/alm/template", json=body)
        assert answer.status_code == 201, answer.text
        assert answer.json()["stack_status"] == "CREATE_IN_PROGRESS"
        stack_id: str = answer.json()["stack_id"]
        return stack_id

    def update(self, stack_id: str, body: dict[str, Any]) -> None:
        answer = self.call("PUT", f"/v3/alm/template/{stack_id}", json=body)
        assert answer.status_code == 202, answer.text

    def delete(self, stack_id: str) -> None:
        answer = self.call("DELETE", f"/v3/alm/stack/{stack_id}")
        assert answer.status_code == 200, answer.text

    def stack(self, stack_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/v3/alm/stack/{stack_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def settled(self, stack_id: str) -> dict[str, Any]:
        """The stack once it is in progress no longer."""
        until = time.monotonic() + SECONDS_MAX
        while (found := self.stack(stack_id))["stack_status"].endswith("IN_PROGRESS"):
            assert time.monotonic() < until, f"{found}\n{self.server.log.read_text()[-4000:]}"
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return found

    def status(self, stack_id: str) -> str:
        return str(self.settled(stack_id)["stack_status"])

    def items(self, label: str = "shop") -> dict[str, tuple[str, list[str]]]:
        """The layers of a deployment of one stack: status and instances by flag."""
        answer = self.call("GET", f"/m/core/v0/deployments/{label}", headers=self.core)
        if answer.status_code == 404:
            return {}
        (stack,) = answer.json()["stacks"]
        return {
            item["name"]: (item["status"], [one["value"] for one in item["resources"]])
            for item in stack["items"]
        }

    def containers(self, stack_id: str) -> dict[str, str]:
        """Their status by id."""
        found = self.call("GET", "/v3/alm/container", params={"stack_id": stack_id})
        assert found.status_code == 200, found.text
        return {one["container_id"]: one["status"] for one in found.json()}

    def agent_headers(self, stack_id: str) -> dict[str, str]:
        """Of the stack's own agent."""
        body = {
            "grant_type": "client_credentials",
            "client_id": stack_id,
            "client_secret": self.stack(stack_id)["auth_token"],
        }
        return self._bearer(body)

    def _bearer(self, body: dict[str, str]) -> dict[str, str]:
        answer = httpx.post(f"{self.server.url}/v3/access_token", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def new_life(server: RealServer) -> Life:
    """An organisation of its own on the server."""
    made = server.init("Stacks", PASSWORD)
    body = {
        "grant_type": "password",
        "client_id": made["client_id"],
        "client_secret": made["client_secret"],
        "username": "root",
        "password": PASSWORD,
    }
    answer = httpx.post(f"{server.url}/v3/access_token", json=body, timeout=30)
    assert answer.status_code == 200, answer.text
    legacy = {"Authorization": f"Bearer {answer.json()['access_token']}"}
    core = {"Authorization": f"Bearer {server.token(made)}"}
    return Life(server, made, legacy, core)


def config_file_in(user_data: str, folder: Path) -> Path:
    """What cloud-init would write for the agent, written."""
    first, _, document = user_data.partition("\n")
    assert first == "#cloud-config"
    (written,) = [
        one for one in json.loads(document)["write_files"] if one["path"].endswith("agent.json")
    ]
    assert (written["permissions"], written["owner"]) == ("0600", "root:root")
    file = folder / "agent.json"
    file.write_text(written["content"])
    file.chmod(0o600)
    return file
