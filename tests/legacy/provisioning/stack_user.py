"""A user of version 3 who applies templates and waits for the stacks; and their templates."""

from __future__ import annotations

import copy
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.legacy.token_product import LEGACY
from tests.legacy.http_server import ServiceBridge
from tests.legacy.provisioning.cloud_server import CREDENTIAL, REGION
from tests.legacy.templates.template_requests import TEMPLATE
from tests.running_service import Service

SECONDS_MAX = 90
POLL_SECONDS = 0.02
_LAYER: dict[str, Any] = TEMPLATE["configurations"][0]


def build_layer(flag: str = "web", *, container: bool = True, **provision: Any) -> dict[str, Any]:
    layer = copy.deepcopy(_LAYER) | {"flag": flag}
    layer["provision"] |= {"keypair": True, **provision}
    if not container:
        del layer["container"]
    return layer


def build_stack_template(*layers: dict[str, Any], label: str = "shop") -> dict[str, Any]:
    return {
        "version": "2026-11-15",
        "label": label,
        "vendor": {"aws": {"cred": CREDENTIAL, "region": REGION}},
        "configurations": list(layers or [build_layer()]),
    }


@dataclass(frozen=True, slots=True)
class StackUser:
    """The master account of an organisation."""

    service: Service
    organisation: NewOrganisation
    address: str  # at which agents reach the API

    def call(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        headers = headers or self.service.root(self.organisation, LEGACY)
        return self.service.http.request(method, path, headers=headers, **options)

    def apply(self, template: dict[str, Any]) -> str:
        response = self.call("POST", "/v3/alm/template", json=template)
        assert response.status_code == 201, response.text
        assert response.json()["stack_status"] == "CREATE_IN_PROGRESS"
        stack_id: str = response.json()["stack_id"]
        return stack_id

    def update(self, stack_id: str, template: dict[str, Any]) -> None:
        response = self.call("PUT", f"/v3/alm/template/{stack_id}", json=template)
        assert response.status_code == 202, response.text

    def delete(self, stack_id: str) -> None:
        response = self.call("DELETE", f"/v3/alm/stack/{stack_id}")
        assert response.status_code == 200, response.text

    def read_stack(self, stack_id: str) -> dict[str, Any]:
        response = self.call("GET", f"/v3/alm/stack/{stack_id}")
        assert response.status_code == 200, response.text
        stack: dict[str, Any] = response.json()
        return stack

    def wait_for_stack(self, stack_id: str) -> dict[str, Any]:
        """Wait until the stack is no longer in progress."""
        deadline = time.monotonic() + SECONDS_MAX
        while (stack := self.read_stack(stack_id))["stack_status"].endswith("IN_PROGRESS"):
            assert time.monotonic() < deadline, stack
            time.sleep(POLL_SECONDS)
        return stack

    def wait_for_status(self, stack_id: str) -> str:
        return str(self.wait_for_stack(stack_id)["stack_status"])

    def read_layers(self, label: str = "shop") -> dict[str, tuple[str, list[str]]]:
        """Status and instance ids by flag, of a deployment with one stack; empty if deleted."""
        core_headers = self.service.root(self.organisation)
        response = self.call("GET", f"/m/core/v0/deployments/{label}", headers=core_headers)
        if response.status_code == 404:
            return {}
        (stack,) = response.json()["stacks"]
        return {
            item["name"]: (item["status"], [resource["value"] for resource in item["resources"]])
            for item in stack["items"]
        }

    def read_containers(self, stack_id: str) -> dict[str, str]:
        """Status by container id."""
        response = self.call("GET", "/v3/alm/container", params={"stack_id": stack_id})
        assert response.status_code == 200, response.text
        return {each["container_id"]: each["status"] for each in response.json()}

    def agent_headers(self, stack_id: str) -> dict[str, str]:
        body = {
            "grant_type": "client_credentials",
            "client_id": stack_id,
            "client_secret": self.read_stack(stack_id)["auth_token"],
        }
        response = self.service.http.post("/v3/access_token", json=body)
        assert response.status_code == 200, response.text
        return {"Authorization": f"Bearer {response.json()['access_token']}"}


def create_stack_user(bridge: ServiceBridge) -> StackUser:
    assert bridge.service is not None
    return StackUser(bridge.service, bridge.service.new_organisation("Stacks"), bridge.url)


def write_agent_config(user_data: str, folder: Path) -> Path:
    """Write the agent's configuration file as cloud-init does."""
    first_line, _, document = user_data.partition("\n")
    assert first_line == "#cloud-config"
    (config,) = [
        file for file in json.loads(document)["write_files"] if file["path"].endswith("agent.json")
    ]
    assert (config["permissions"], config["owner"]) == ("0600", "root:root")
    path = folder / "agent.json"
    path.write_text(config["content"])
    path.chmod(0o600)
    return path
