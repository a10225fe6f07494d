"""The plan of a pass depends on desired and existing instances only."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.legacy.provisioning.instance_plan import (
    ALIVE,
    AddInstance,
    ChangeInstanceType,
    DesiredInstance,
    ExistingInstance,
    InstanceState,
    PlanStep,
    TerminateInstance,
    is_idle,
    is_layer_complete,
    list_desired_instances,
    list_terminable,
    plan_steps,
    select_launch_values,
)

SMALL: dict[str, Any] = {
    "image": "ami-1",
    "volume_type": "gp3",
    "instance_type": "t3.small",
    "keypair": False,
    "spot": False,
}
LARGE = SMALL | {"instance_type": "t3.large"}
OTHER_IMAGE = SMALL | {"image": "ami-2"}
SPOT = SMALL | {"spot": True}


def desire(
    count: int = 1, provision: dict[str, Any] = SMALL, flag: str = "web"
) -> list[DesiredInstance]:
    return [DesiredInstance(flag, ordinal, provision) for ordinal in range(count)]


def build_existing(
    state: InstanceState,
    key: str = "a",
    *,
    ordinal: int = 0,
    provision: dict[str, Any] = SMALL,
    flag: str = "web",
) -> ExistingInstance:
    return ExistingInstance(key, flag, ordinal, provision, state)


def test_every_layer_has_its_number_of_desired_instances() -> None:
    layers = [
        {"flag": "web", "provision": SMALL | {"instance_count": 2}},
        {"flag": "none", "provision": SMALL | {"instance_count": 0}},
        {"flag": "db", "provision": LARGE | {"instance_count": 1}},
    ]

    assert list_desired_instances({"configurations": layers}) == [
        *desire(2),
        *desire(1, LARGE, "db"),
    ]


def test_only_launch_values_distinguish_instances() -> None:
    assert select_launch_values(SMALL | {"instance_count": 9, "subnet": "x"}) == SMALL
    assert select_launch_values(SMALL | {"spot": "yes"}) == SMALL, (
        "only true requests spot instances"
    )
    assert select_launch_values(SMALL | {"spot": True}) == SPOT


def test_a_missing_instance_is_added() -> None:
    assert plan_steps(desire(2), [build_existing(InstanceState.running)]) == [
        AddInstance(desire(2)[1], 1)
    ]


def test_an_instance_that_is_starting_or_running_is_not_added_again() -> None:
    for state in ALIVE:
        assert plan_steps(desire(), [build_existing(state)]) == []


def test_a_terminated_or_failed_instance_is_added_as_the_next_generation() -> None:
    before = [build_existing(InstanceState.terminated), build_existing(InstanceState.failed, "b")]

    assert plan_steps(desire(), before) == [AddInstance(desire()[0], 3)]


def test_a_terminating_instance_is_replaced_at_once() -> None:
    assert plan_steps(desire(), [build_existing(InstanceState.terminating)]) == [
        AddInstance(desire()[0], 2)
    ]


@pytest.mark.parametrize("state", ALIVE)
def test_an_instance_that_is_not_desired_is_terminated(state: InstanceState) -> None:
    surplus = build_existing(state, "b", ordinal=1)

    assert plan_steps(desire(1), [build_existing(InstanceState.running), surplus]) == [
        TerminateInstance("b")
    ]


def test_removed_layers_and_deleted_stacks_terminate_their_instances() -> None:
    rows = [
        build_existing(InstanceState.running),
        build_existing(InstanceState.running, "b", flag="db"),
    ]

    assert plan_steps(desire(1), rows) == [TerminateInstance("b")]
    assert plan_steps([], rows) == [TerminateInstance("b"), TerminateInstance("a")]


def test_an_instance_is_not_terminated_twice() -> None:
    rows = [
        build_existing(state, state)
        for state in (InstanceState.terminating, InstanceState.terminated, InstanceState.failed)
    ]

    assert plan_steps([], rows) == []


@pytest.mark.parametrize("state", [InstanceState.running, InstanceState.launching])
def test_another_type_changes_the_existing_instance(state: InstanceState) -> None:
    assert plan_steps(desire(1, LARGE), [build_existing(state)]) == [ChangeInstanceType("a", LARGE)]


def test_a_pending_instance_of_another_type_is_replaced() -> None:
    steps = plan_steps(desire(1, LARGE), [build_existing(InstanceState.pending)])

    assert steps == [AddInstance(desire(1, LARGE)[0], 2), TerminateInstance("a")]


@pytest.mark.parametrize(
    "other",
    [OTHER_IMAGE, SMALL | {"volume_type": "io2"}, SMALL | {"keypair": True}, SPOT],
    ids=["image", "volume", "key pair", "spot"],
)
def test_other_changes_replace_the_instance_after_its_successor_runs(
    other: dict[str, Any],
) -> None:
    old = build_existing(InstanceState.running)
    assert plan_steps(desire(1, other), [old]) == [AddInstance(desire(1, other)[0], 2)]

    for starting in (InstanceState.pending, InstanceState.launching):
        assert (
            plan_steps(desire(1, other), [old, build_existing(starting, "b", provision=other)])
            == []
        )

    new = build_existing(InstanceState.running, "b", provision=other)
    assert plan_steps(desire(1, other), [old, new]) == [TerminateInstance("a")]


def test_a_spot_instance_of_another_type_is_replaced() -> None:
    larger = SPOT | {"instance_type": "t3.large"}

    steps = plan_steps(desire(1, larger), [build_existing(InstanceState.running, provision=SPOT)])

    assert steps == [AddInstance(desire(1, larger)[0], 2)]


def test_an_instance_that_never_ran_is_terminated_when_the_template_changes() -> None:
    launching = build_existing(InstanceState.launching, provision=OTHER_IMAGE)

    assert plan_steps(desire(), [launching]) == [
        AddInstance(desire()[0], 2),
        TerminateInstance("a"),
    ]


def test_reverting_an_update_before_the_new_instance_runs_keeps_the_old_one() -> None:
    rows = [
        build_existing(InstanceState.running),
        build_existing(InstanceState.launching, "b", provision=OTHER_IMAGE),
    ]

    assert plan_steps(desire(), rows) == [TerminateInstance("b")]


def test_nothing_is_added_to_a_failed_layer() -> None:
    desired = [*desire(2), *desire(1, flag="db")]

    assert plan_steps(desired, [], failed_layers={"web"}) == [
        AddInstance(desire(1, flag="db")[0], 1)
    ]


def test_an_instance_is_terminable_unless_its_successor_is_starting() -> None:
    terminating = build_existing(InstanceState.terminating)

    assert list_terminable(desire(), [terminating]) == ["a"]
    assert list_terminable([], [terminating]) == ["a"]
    assert list_terminable(desire(), [terminating, build_existing(InstanceState.running, "b")]) == [
        "a"
    ]
    for starting in (InstanceState.pending, InstanceState.launching):
        assert list_terminable(desire(), [terminating, build_existing(starting, "b")]) == []
        assert list_terminable([], [terminating, build_existing(starting, "b")]) == ["a"], (
            "the other instance is not desired"
        )


def test_a_layer_is_complete_when_exactly_its_desired_instances_run() -> None:
    both = [
        build_existing(InstanceState.running),
        build_existing(InstanceState.running, "b", ordinal=1),
    ]

    assert is_layer_complete("web", desire(2), both)
    assert is_layer_complete(
        "web",
        desire(2),
        [
            *both,
            build_existing(InstanceState.terminated, "c"),
            build_existing(InstanceState.failed, "d"),
        ],
    )
    assert is_layer_complete("web", [], [])
    assert not is_layer_complete("web", desire(2), both[:1])
    assert not is_layer_complete("web", desire(1), both)
    assert not is_layer_complete("web", desire(2, LARGE), both)
    for state in (InstanceState.pending, InstanceState.launching, InstanceState.terminating):
        assert not is_layer_complete("web", desire(2), [*both, build_existing(state, "c")])
    assert is_layer_complete(
        "web", desire(2), [*both, build_existing(InstanceState.terminating, "c", flag="db")]
    )


def test_a_stack_is_idle_when_nothing_changes_and_no_other_layer_has_instances() -> None:
    assert is_idle(
        [build_existing(InstanceState.running), build_existing(InstanceState.failed, "b")], ["web"]
    )
    assert not is_idle([build_existing(InstanceState.running)], ["db"])
    for state in (InstanceState.pending, InstanceState.launching, InstanceState.terminating):
        assert not is_idle([build_existing(state)], ["web"])


# ── random sequences of updates ──────────────────────────────────────────────────────────────────

PROVISIONS = st.sampled_from([SMALL, LARGE, OTHER_IMAGE, SPOT])
COUNTS = st.dictionaries(st.sampled_from(["web", "db"]), st.tuples(st.integers(0, 3), PROVISIONS))


def run_pass(
    rows: list[ExistingInstance], steps: list[PlanStep], chance: random.Random
) -> list[ExistingInstance]:
    """Apply the steps as a pass does; each instance then advances with a probability of 70 %."""
    by_key = {row.instance_key: row for row in rows}
    for step in steps:
        if isinstance(step, AddInstance):
            key = f"{step.desired.flag}-{step.desired.ordinal}-{step.generation}"
            assert key not in by_key, "launched twice"
            desired = step.desired
            by_key[key] = ExistingInstance(
                key, desired.flag, desired.ordinal, desired.provision, InstanceState.pending
            )
        elif isinstance(step, ChangeInstanceType):
            before = by_key[step.instance_key]
            changed = replace(before, provision=step.provision, state=InstanceState.launching)
            by_key[step.instance_key] = changed
        else:
            by_key[step.instance_key] = replace(
                by_key[step.instance_key], state=InstanceState.terminating
            )
    next_states = {
        InstanceState.pending: InstanceState.launching,
        InstanceState.launching: InstanceState.running,
    }
    return [
        replace(row, state=next_states.get(row.state, row.state)) if chance.random() < 0.7 else row
        for row in by_key.values()
    ]


@given(st.lists(COUNTS, min_size=1, max_size=4), st.integers(0, 2**32))
def test_exactly_the_desired_instances_run_after_any_sequence_of_updates(
    updates: list[dict[str, tuple[int, dict[str, Any]]]], seed: int
) -> None:
    chance, rows = random.Random(seed), list[ExistingInstance]()
    for update in updates:
        desired = [
            instance
            for flag, (count, provision) in update.items()
            for instance in desire(count, provision, flag)
        ]
        for passes in range(60):
            rows = run_pass(rows, plan_steps(desired, rows), chance)
            terminable = list_terminable(desired, rows)
            rows = [
                replace(row, state=InstanceState.terminated)
                if row.instance_key in terminable
                else row
                for row in rows
            ]
            complete = all(is_layer_complete(flag, desired, rows) for flag in update)
            if complete and is_idle(rows, list(update)):
                break
            if passes > 3 and chance.random() < 0.1:
                break  # the next update comes before this one is complete
    for _ in range(60):
        rows = run_pass(rows, plan_steps(desired, rows), chance)
        terminable = list_terminable(desired, rows)
        rows = [
            replace(row, state=InstanceState.terminated) if row.instance_key in terminable else row
            for row in rows
        ]
    alive = sorted(
        (row.flag, row.ordinal, repr(row.provision))
        for row in rows
        if row.state != InstanceState.terminated
    )
    assert alive == sorted(
        (instance.flag, instance.ordinal, repr(instance.provision)) for instance in desired
    )
    assert all(row.state in (InstanceState.running, InstanceState.terminated) for row in rows)
    assert plan_steps(desired, rows) == []
