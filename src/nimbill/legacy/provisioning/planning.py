"""What must be done so that a stack becomes what its template says; asked anew on every pass."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.legacy.templates.template_rules import settled_provision

basis = chosen("stack-reconciliation")
replacing_basis = chosen("changed-instances")


class State(StrEnum):
    """Of a stored instance."""

    wanted = "wanted"  # to be launched, or being launched
    launching = "launching"  # launched, or being changed, and not yet as it is to be
    running = "running"
    leaving = "leaving"  # to be ended, or being ended
    ended = "ended"
    failed = "failed"  # never came up


ALIVE = (State.running, State.launching, State.wanted)  # the best first


@dataclass(frozen=True, slots=True)
class Wanted:
    """One place of a layer, and what is to stand there."""

    flag: str
    ordinal: int
    provision: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Present:
    """A stored instance, whatever became of it."""

    instance_key: str
    flag: str
    ordinal: int
    provision: Mapping[str, Any]
    state: State


@dataclass(frozen=True, slots=True)
class Add:
    """A further instance of a place; the generation tells it from those before it."""

    wanted: Wanted
    generation: int


@dataclass(frozen=True, slots=True)
class Change:
    """The instance stays and becomes of another type."""

    instance_key: str
    provision: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Leave:
    instance_key: str


Step = Add | Change | Leave


def wanted_of(template: Mapping[str, Any]) -> list[Wanted]:
    """Every place of every layer."""
    settled = [(layer["flag"], settled_provision(layer)) for layer in template["configurations"]]
    return [
        Wanted(flag, ordinal, asked_of(provision))
        for flag, provision in settled
        for ordinal in range(provision["instance_count"])
    ]


def asked_of(provision: Mapping[str, Any]) -> dict[str, Any]:
    """What of a provision makes an instance what it is; all else changes no instance."""
    asked = {name: provision[name] for name in ("image", "volume_type", "instance_type", "keypair")}
    return {**asked, "spot": provision.get("spot") is True}


def plan(
    wanted: Sequence[Wanted], present: Sequence[Present], *, given_up: Collection[str] = ()
) -> list[Step]:
    """Nothing is added to layers that were given up; what runs leaves when its successor runs."""
    places = {(one.flag, one.ordinal): one for one in wanted}
    taken = {(one.flag, one.ordinal) for one in present}
    steps: list[Step] = []
    for place in [*places, *sorted(taken - set(places))]:
        here = [one for one in present if (one.flag, one.ordinal) == place]
        if place not in places:
            steps += [Leave(one.instance_key) for one in _alive(here)]
        elif place[0] not in given_up:
            steps += _of_place(places[place], here)
    return steps


def _of_place(wanted: Wanted, here: Sequence[Present]) -> Iterator[Step]:
    alive = _alive(here)
    fitting = [one for one in alive if one.provision == wanted.provision]
    if fitting:
        kept = fitting[0].instance_key
        comes = fitting[0].state is not State.running
    elif changeable := [one for one in alive if _only_type_differs(one, wanted)]:
        kept, comes = changeable[0].instance_key, True
        yield Change(kept, wanted.provision)
    else:
        kept, comes = "", True
        yield Add(wanted, generation=len(here) + 1)
    for one in alive:
        if one.instance_key != kept and not (comes and one.state is State.running):
            yield Leave(one.instance_key)


def _alive(here: Sequence[Present]) -> list[Present]:
    """The best first: what runs, then what comes up, then what is only wanted."""
    alive = [one for one in here if one.state in ALIVE]
    return sorted(alive, key=lambda one: ALIVE.index(one.state))


def _only_type_differs(one: Present, wanted: Wanted) -> bool:
    """A spot instance cannot be stopped, and what is not launched has no type yet."""
    if one.state is State.wanted or wanted.provision["spot"]:
        return False
    return {**one.provision, "instance_type": wanted.provision["instance_type"]} == dict(
        wanted.provision
    )


def may_end(wanted: Sequence[Wanted], present: Sequence[Present]) -> list[str]:
    """Of what is leaving, whatever has no successor on its way."""
    places = {(one.flag, one.ordinal) for one in wanted}
    coming = {
        (one.flag, one.ordinal)
        for one in present
        if one.state in (State.wanted, State.launching) and (one.flag, one.ordinal) in places
    }
    return [
        one.instance_key
        for one in present
        if one.state is State.leaving and (one.flag, one.ordinal) not in coming
    ]


def is_complete(flag: str, wanted: Sequence[Wanted], present: Sequence[Present]) -> bool:
    """Whether a layer is what it is to be, and nothing else of it is left."""
    here = [one for one in present if one.flag == flag and one.state in (*ALIVE, State.leaving)]
    found = [(one.ordinal, one.provision) for one in here if one.state is State.running]
    needed = [(one.ordinal, one.provision) for one in wanted if one.flag == flag]
    by_ordinal = sorted(found, key=lambda one: one[0])
    return len(here) == len(found) and by_ordinal == needed


def is_at_rest(present: Sequence[Present], flags: Collection[str]) -> bool:
    """Nothing of these layers is under way, and nothing of any other layer is left."""
    under_way = (State.wanted, State.launching, State.leaving)
    return not any(
        one.state in (under_way if one.flag in flags else (*ALIVE, State.leaving))
        for one in present
    )
