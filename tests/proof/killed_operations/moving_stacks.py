"""Create, update and delete stacks in turn, against a cloud that records every launch."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import httpx

from tests.legacy.provisioning.cloud_server import read_tags
from tests.legacy.provisioning.stack_user import build_layer, build_stack_template
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)

PATH = "/v3/alm"
SECONDS_MAX = 120

# the requested layers of each stack in turn, and None for its deletion
LIFE: tuple[list[dict[str, Any]] | None, ...] = (
    [build_layer("web", instance_count=2)],
    [build_layer("web", instance_count=3), build_layer("db", container=False, instance_count=1)],
    [build_layer("web", instance_count=1, instance_type="t3.large")],
    None,
)
ANSWERS = (201, 202, 202, 200)
ENDS = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE")
EVERY_STATE = ("pending", "running", "stopping", "stopped", "shutting-down", "terminated")


class MovingStacks(Operation):
    name = "stack move"
    answer = 201
    slow = True
    # launched, but not reported yet
    kill_first_at = r"UPDATE legacy_instances SET .*instance_id="
    visible_state = (
        stored("legacy_template_versions", "number, body"),
        audited("apply_template"),
        audited("update_template"),
        audited("delete_stack"),
    )

    number = 0  # of the last request

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        self.number = number
        round_, step = divmod(number - 1, len(LIFE))
        layers, key = LIFE[step], f"stack-{number}"
        nickname = f"stack-{round_}"
        body = None if layers is None else build_stack_template(*layers) | {"nickname": nickname}
        if step == 0:
            return KeyedRequest(f"{PATH}/template", body, key, headers=organisation.legacy)
        stack_id = self._stack(organisation)[0]
        if layers is None:
            path = f"{PATH}/stack/{stack_id}"
            return KeyedRequest(path, None, key, method="DELETE", headers=organisation.legacy)
        path = f"{PATH}/template/{stack_id}"
        return KeyedRequest(path, body, key, method="PUT", headers=organisation.legacy)

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        step = (self.number - 1) % len(LIFE)
        if answer.status_code != ANSWERS[step]:
            return f"answered {answer.text[:200]}"
        until = time.monotonic() + SECONDS_MAX
        while (found := self._stack(organisation))[1].endswith("IN_PROGRESS"):
            if time.monotonic() > until:
                return f"ended {found[1]}"
            time.sleep(0.1)
        if found[1] != ENDS[step]:
            return f"ended {found[1]}: {found[2]}"
        return self._find_cloud_fault(organisation, found[0], LIFE[step])

    def _find_cloud_fault(
        self, organisation: Organisation, stack_id: str, layers: list[dict[str, Any]] | None
    ) -> str | None:
        instances = organisation.cloud.instances(stack_id, *EVERY_STATE)
        launches = Counter(read_tags(instance)["nimbill:instance"] for instance in instances)
        if doubled := [key for key, times in launches.items() if times > 1]:
            return f"launched twice: {doubled}"
        known = organisation.fetch(
            stored("legacy_instances", "instance_id", f"stack_id = '{stack_id}'")
        )
        if {instance["InstanceId"] for instance in instances} != {row[0] for row in known}:
            return "launched instances differ from the recorded ones"
        found = Counter(
            (read_tags(instance)["nimbill:flag"], instance["InstanceType"])
            for instance in instances
            if instance["State"]["Name"] != "terminated"
        )
        wanted = Counter[tuple[str, str]]()
        for layer in layers or []:
            provision = layer["provision"]
            wanted[layer["flag"], provision["instance_type"]] += provision["instance_count"]
        if found != wanted:
            return f"{dict(found)} runs instead of {dict(wanted)}"
        if layers is None:
            return self._find_leftovers(organisation, stack_id)
        return None

    def _find_leftovers(self, organisation: Organisation, stack_id: str) -> str | None:
        if f"nimbill-{stack_id}" in organisation.cloud.key_pairs():
            return "the key pair was left behind"
        of_stack = f"stack_id = '{stack_id}' AND "
        secrets = organisation.fetch(
            stored("legacy_template_versions", "1", f"{of_stack}encrypted_secrets IS NOT NULL")
        ) + organisation.fetch(
            stored("legacy_stacks", "1", f"{of_stack}encrypted_token IS NOT NULL")
        )
        return "secrets were left behind" if secrets else None

    def _stack(self, organisation: Organisation) -> tuple[str, str, str | None]:
        """Id, status and reason of the last stack."""
        nickname = f"stack-{(self.number - 1) // len(LIFE)}"
        query = stored(
            "legacy_stacks", "stack_id, stack_status, reason", f"nickname = '{nickname}'"
        )
        (found,) = organisation.fetch(query)
        return tuple(found)
