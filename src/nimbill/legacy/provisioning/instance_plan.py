"""The steps that bring the instances of a stack to what its template describes.

Every pass plans anew from the stored instances; nothing here depends on earlier plans.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nimbill.legacy.templates.template_rules import complete_provision

# See docs/choices.md, stack-reconciliation.
# See docs/choices.md, changed-instances.

Slot = tuple[str, int]  # flag of the layer, ordinal within it


class InstanceState(StrEnum):
    """The state of a stored instance."""

    pending = "pending"  # not launched yet
    launching = "launching"  # launched or being changed, and not yet as described
    running = "running"
    terminating = "terminating"  # to be terminated, or being terminated
    terminated = "terminated"
    failed = "failed"  # was never running


# instances that a slot can keep, in order of preference
ALIVE = (InstanceState.running, InstanceState.launching, InstanceState.pending)


@dataclass(frozen=True, slots=True)
class DesiredInstance:
    """What the template describes for one slot of a layer."""

    flag: str
    ordinal: int
    provision: Mapping[str, Any]

    @property
    def slot(self) -> Slot:
        return self.flag, self.ordinal


@dataclass(frozen=True, slots=True)
class ExistingInstance:
    """A stored instance in any state."""

    instance_key: str
    flag: str
    ordinal: int
    provision: Mapping[str, Any]
    state: InstanceState

    @property
    def slot(self) -> Slot:
        return self.flag, self.ordinal


@dataclass(frozen=True, slots=True)
class AddInstance:
    """Launch an instance; the generation distinguishes it from earlier ones in its slot."""

    desired: DesiredInstance
    generation: int


@dataclass(frozen=True, slots=True)
class ChangeInstanceType:
    """Keep the instance and change its type."""

    instance_key: str
    provision: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TerminateInstance:
    instance_key: str


PlanStep = AddInstance | ChangeInstanceType | TerminateInstance


def list_desired_instances(template: Mapping[str, Any]) -> list[DesiredInstance]:
    provisions = [
        (layer["flag"], complete_provision(layer)) for layer in template["configurations"]
    ]
    return [
        DesiredInstance(flag, ordinal, select_launch_values(provision))
        for flag, provision in provisions
        for ordinal in range(provision["instance_count"])
    ]


def select_launch_values(provision: Mapping[str, Any]) -> dict[str, Any]:
    """The values that an instance is launched with; changes of other values replace nothing."""
    names = ("image", "volume_type", "instance_type", "keypair")
    values = {name: provision[name] for name in names}
    return {**values, "spot": provision.get("spot") is True}


def plan_steps(
    desired: Sequence[DesiredInstance],
    existing: Sequence[ExistingInstance],
    *,
    failed_layers: Collection[str] = (),
) -> list[PlanStep]:
    """Add nothing to failed layers; terminate a running instance after its successor runs."""
    desired_by_slot = {instance.slot: instance for instance in desired}
    used_slots = {instance.slot for instance in existing}
    steps: list[PlanStep] = []
    for slot in [*desired_by_slot, *sorted(used_slots - set(desired_by_slot))]:
        in_slot = [instance for instance in existing if instance.slot == slot]
        if slot not in desired_by_slot:
            steps += [TerminateInstance(instance.instance_key) for instance in _alive(in_slot)]
        elif slot[0] not in failed_layers:
            steps += _plan_slot(desired_by_slot[slot], in_slot)
    return steps


def _plan_slot(desired: DesiredInstance, in_slot: Sequence[ExistingInstance]) -> Iterator[PlanStep]:
    alive = _alive(in_slot)
    matching = [instance for instance in alive if instance.provision == desired.provision]
    if matching:
        kept = matching[0].instance_key
        is_starting = matching[0].state is not InstanceState.running
    elif changeable := [instance for instance in alive if _only_type_differs(instance, desired)]:
        kept, is_starting = changeable[0].instance_key, True
        yield ChangeInstanceType(kept, desired.provision)
    else:
        kept, is_starting = "", True
        yield AddInstance(desired, generation=len(in_slot) + 1)
    for instance in alive:
        still_needed = is_starting and instance.state is InstanceState.running
        if instance.instance_key != kept and not still_needed:
            yield TerminateInstance(instance.instance_key)


def _alive(instances: Sequence[ExistingInstance]) -> list[ExistingInstance]:
    alive = [instance for instance in instances if instance.state in ALIVE]
    return sorted(alive, key=lambda instance: ALIVE.index(instance.state))


def _only_type_differs(existing: ExistingInstance, desired: DesiredInstance) -> bool:
    """False for spot instances, which cannot be stopped, and for instances not launched yet."""
    if existing.state is InstanceState.pending or desired.provision["spot"]:
        return False
    with_new_type = {
        **existing.provision,
        "instance_type": desired.provision["instance_type"],
    }
    return with_new_type == dict(desired.provision)


def list_terminable(
    desired: Sequence[DesiredInstance], existing: Sequence[ExistingInstance]
) -> list[str]:
    """The keys of terminating instances whose slot has no successor that is still starting."""
    desired_slots = {instance.slot for instance in desired}
    starting_slots = {
        instance.slot
        for instance in existing
        if instance.state in (InstanceState.pending, InstanceState.launching)
        and instance.slot in desired_slots
    }
    return [
        instance.instance_key
        for instance in existing
        if instance.state is InstanceState.terminating and instance.slot not in starting_slots
    ]


def is_layer_complete(
    flag: str, desired: Sequence[DesiredInstance], existing: Sequence[ExistingInstance]
) -> bool:
    """Whether exactly the desired instances of a layer run and no other is left."""
    left = [
        instance
        for instance in existing
        if instance.flag == flag and instance.state in (*ALIVE, InstanceState.terminating)
    ]
    running = [instance for instance in left if instance.state is InstanceState.running]
    running.sort(key=lambda instance: instance.ordinal)
    return len(left) == len(running) and [
        (instance.ordinal, instance.provision) for instance in running
    ] == [(instance.ordinal, instance.provision) for instance in desired if instance.flag == flag]


def is_idle(existing: Sequence[ExistingInstance], flags: Collection[str]) -> bool:
    """No instance of these layers is changing, and none of any other layer is left."""
    changing = (InstanceState.pending, InstanceState.launching, InstanceState.terminating)
    return not any(
        instance.state
        in (changing if instance.flag in flags else (*ALIVE, InstanceState.terminating))
        for instance in existing
    )
