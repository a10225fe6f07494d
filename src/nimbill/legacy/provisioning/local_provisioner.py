"""A provisioner that simulates instances; their agents are real clients of the API."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from nimbill.legacy.agent_program import (
    AgentConfig,
    ServiceUnreachable,
    StackAgent,
    TokenRefused,
)
from nimbill.legacy.provisioning.computed_values import (
    COMPUTED,
    choose_volume_type,
    find_architecture,
)
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.provisioning.provisioner import (
    Instance,
    LaunchContext,
    Observation,
    ObservedState,
    PermanentError,
    TransientError,
)

# See docs/choices.md, local-provisioner.

BOOTS_MAX = 10  # per pass
TIMEOUT_SECONDS = 5.0


class LocalProvisioner:
    """Stores nothing: an instance exists as its row, and boots when it is first updated."""

    def __init__(self, context: LaunchContext) -> None:
        self._context = context

    def compute_values(self, provision: Mapping[str, Any]) -> dict[str, str]:
        values = {
            "image": f"ami-{_hex_digits(find_architecture(provision['instance_type']))}",
            "volume_type": choose_volume_type(self._context.region),
        }
        return {name: value for name, value in values.items() if provision[name] == COMPUTED}

    def launch(self, instance: Instance) -> str:
        return f"i-{_hex_digits(instance.instance_key)}"

    def update_instances(self, instances: Sequence[Instance]) -> dict[str, Observation]:
        """Boot the agents of launching instances; let outdated ones read their configuration."""
        observations = {
            instance.instance_key: Observation(ObservedState.running) for instance in instances
        }
        launching = [
            instance for instance in instances if instance.state is InstanceState.launching
        ]
        for instance in launching[BOOTS_MAX:]:
            observations[instance.instance_key] = Observation(ObservedState.starting)
        for instance in launching[:BOOTS_MAX]:
            self._run(self._agent(instance).boot)
        for instance in instances:
            if instance.is_outdated:
                self._run(self._agent(instance).apply_new_configuration)
        return observations

    def terminate(self, instances: Sequence[Instance]) -> set[str]:
        """An instance terminates even if its agent cannot report it."""
        for instance in instances:
            if instance.instance_id is not None:
                with suppress(TokenRefused, ServiceUnreachable):
                    self._agent(instance).report_termination()
        return {instance.instance_key for instance in instances}

    def delete_remaining(self) -> bool:
        return True

    def _run(self, action: Callable[[], object]) -> None:
        try:
            action()
        except ServiceUnreachable:
            raise TransientError("the agent of an instance cannot reach the service") from None
        except TokenRefused:
            raise PermanentError("the agent of an instance could not log in") from None

    def _agent(self, instance: Instance) -> StackAgent:
        return StackAgent(
            AgentConfig(
                address=self._context.address,
                stack_id=self._context.stack_id,
                flag=instance.flag,
                token=self._context.token,
                instance_id=instance.instance_id or "",
                metadata_address="",
                patience_seconds=TIMEOUT_SECONDS,
                timeout_seconds=TIMEOUT_SECONDS,
            )
        )


def _hex_digits(text: str) -> str:
    """As many digits as the id of an instance or an image has."""
    return sha256(text.encode()).hexdigest()[:17]
