"""What whoever launches instances must answer; called from threads, asked again after a crash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from nimbill.legacy.provisioning.planning import State


class Refused(Exception):
    """It will never work like this; the message says why, without secrets."""


class NotNow(Exception):
    """It may work later; the message says what was in the way, without secrets."""


@dataclass(frozen=True, slots=True)
class Order:
    """The stack whose instances are launched, and what their agents are told."""

    organisation_id: str
    stack_id: str
    nickname: str
    region: str
    address: str  # of the service, for agents
    token: str = field(repr=False)
    credentials: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Machine:
    """A stored instance, as whoever launches it sees it."""

    instance_key: str
    flag: str
    ordinal: int
    provision: Mapping[str, Any]  # what was computed is filled in
    state: State
    instance_id: str | None
    behind: bool = False  # it runs, and has not been looked at since the template changed


class Life(StrEnum):
    coming = "coming"
    running = "running"
    refused = "refused"  # it cannot be brought to what it is to be, and stays what it is
    gone = "gone"


@dataclass(frozen=True, slots=True)
class Observation:
    life: Life
    reason: str | None = None


class Provisioner(Protocol):
    def computed(self, provision: Mapping[str, Any]) -> dict[str, str]:
        """What stands for ${computed}; asked once for each instance, before it is launched."""
        ...

    def launch(self, machine: Machine) -> str:
        """Its id; asked again for the same key, the id of the same instance."""
        ...

    def bring_up(self, machines: Sequence[Machine]) -> dict[str, Observation]:
        """One look at all of them, and a push for each that is not as it is to be."""
        ...

    def end(self, machines: Sequence[Machine]) -> set[str]:
        """Has them ended; the keys of those that are gone."""
        ...

    def clear(self) -> bool:
        """Has ended whatever else bears the stack's name; whether nothing is left."""
        ...
