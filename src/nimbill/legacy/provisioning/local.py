"""Instances that are only simulated, with agents that are real clients: for a laptop."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.legacy.agent_program import Agent, AgentConfig, TokenRefused, Unanswered
from nimbill.legacy.provisioning.computed import COMPUTED, architecture_of, volume_type_for
from nimbill.legacy.provisioning.planning import State
from nimbill.legacy.provisioning.provisioner import (
    Life,
    Machine,
    NotNow,
    Observation,
    Order,
    Refused,
)

basis = chosen("local-provisioner")

BOOTS_MAX = 10  # in one pass
PATIENCE_SECONDS = 5.0


class LocalProvisioner:
    """Keeps nothing: an instance is what is stored of it, and boots when it is first looked at."""

    def __init__(self, order: Order) -> None:
        self._order = order

    def computed(self, provision: Mapping[str, Any]) -> dict[str, str]:
        invented = {
            "image": f"ami-{_digits(architecture_of(provision['instance_type']))}",
            "volume_type": volume_type_for(self._order.region),
        }
        return {name: value for name, value in invented.items() if provision[name] == COMPUTED}

    def launch(self, machine: Machine) -> str:
        return f"i-{_digits(machine.instance_key)}"

    def bring_up(self, machines: Sequence[Machine]) -> dict[str, Observation]:
        """Those that come up boot; those that run hear of the changed template."""
        seen = {one.instance_key: Observation(Life.running) for one in machines}
        coming = [one for one in machines if one.state is State.launching]
        for one in coming[BOOTS_MAX:]:
            seen[one.instance_key] = Observation(Life.coming)
        for one in coming[:BOOTS_MAX]:
            self._heard(self._agent(one).boot)
        for one in machines:
            if one.behind:
                self._heard(self._agent(one).take_up)
        return seen

    def end(self, machines: Sequence[Machine]) -> set[str]:
        """An agent that cannot be heard any more ends all the same."""
        for one in machines:
            if one.instance_id is not None:
                with suppress(TokenRefused, Unanswered):
                    self._agent(one).leave()
        return {one.instance_key for one in machines}

    def clear(self) -> bool:
        return True

    def _heard(self, telling: Callable[[], object]) -> None:
        try:
            telling()
        except Unanswered:
            raise NotNow("the agent of an instance cannot reach the service") from None
        except TokenRefused:
            raise Refused("the agent of an instance could not log in") from None

    def _agent(self, machine: Machine) -> Agent:
        return Agent(
            AgentConfig(
                address=self._order.address,
                stack_id=self._order.stack_id,
                flag=machine.flag,
                token=self._order.token,
                instance_id=machine.instance_id or "",
                metadata_address="",
                patience_seconds=PATIENCE_SECONDS,
                answer_seconds=PATIENCE_SECONDS,
            )
        )


def _digits(of: str) -> str:
    """As many as an instance's or an image's id has."""
    return sha256(of.encode()).hexdigest()[:17]
