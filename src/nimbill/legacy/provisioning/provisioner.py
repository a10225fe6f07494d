"""The interface of a provisioner, which launches, changes and terminates instances.

Its methods are called from threads, and called again after a crash: each must be repeatable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from nimbill.legacy.provisioning.instance_plan import InstanceState

STACK_TAG = "nimbill:stack"  # on everything that a provisioner creates for a stack


class PermanentError(Exception):
    """A retry would fail too; the message says why and contains no secrets."""


class TransientError(Exception):
    """A retry may succeed; the message says why and contains no secrets."""


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """The stack whose instances are launched, and the configuration of their agents."""

    organisation_id: str
    stack_id: str
    nickname: str
    region: str
    address: str  # of the API, for agents
    token: str = field(repr=False)
    credentials: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Instance:
    """A stored instance as a provisioner needs it."""

    instance_key: str
    flag: str
    ordinal: int
    provision: Mapping[str, Any]  # with computed values filled in
    state: InstanceState
    instance_id: str | None
    is_outdated: bool = False  # running, but not updated since the template changed


class ObservedState(StrEnum):
    starting = "starting"
    running = "running"
    unchangeable = "unchangeable"  # the change was rejected; the instance runs as before
    gone = "gone"


@dataclass(frozen=True, slots=True)
class Observation:
    state: ObservedState
    reason: str | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)  # by the names of EC2


class Provisioner(Protocol):
    def compute_values(self, provision: Mapping[str, Any]) -> dict[str, str]:
        """Values for the fields that are ${computed}; called once per instance, before launch."""
        ...

    def launch(self, instance: Instance) -> str:
        """Return the instance id; for the same key, the id of the same instance."""
        ...

    def update_instances(self, instances: Sequence[Instance]) -> dict[str, Observation]:
        """Observe all instances, and advance each that differs from its provision by one step."""
        ...

    def terminate(self, instances: Sequence[Instance]) -> set[str]:
        """Terminate these instances; return the keys of those that no longer exist."""
        ...

    def delete_remaining(self) -> bool:
        """Delete everything else that belongs to the stack; return whether nothing is left."""
        ...
