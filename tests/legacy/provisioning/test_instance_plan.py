"""What a pass decides: from what is wanted and what is there, and from nothing else."""

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


def want(
    count: int = 1, provision: dict[str, Any] = SMALL, flag: str = "web"
) -> list[DesiredInstance]:
    return [DesiredInstance(flag, ordinal, provision) for ordinal in range(count)]


def there(
    state: InstanceState,
    key: str = "a",
    *,
    ordinal: int = 0,
    provision: dict[str, Any] = SMALL,
    flag: str = "web",
) -> ExistingInstance:
    return ExistingInstance(key, flag, ordinal, provision, state)


def test_every_place_of_every_layer_is_wanted() -> None:
    layers = [
        {"flag": "web", "provision": SMALL | {"instance_count": 2}},
        {"flag": "none", "provision": SMALL | {"instance_count": 0}},
        {"flag": "db", "provision": LARGE | {"instance_count": 1}},
    ]

    assert list_desired_instances({"configurations": layers}) == [*want(2), *want(1, LARGE, "db")]


def test_only_what_makes_an_instance_what_it_is_tells_instances_apart() -> None:
    assert select_launch_values(SMALL | {"instance_count": 9, "subnet": "x"}) == SMALL
    assert select_launch_values(SMALL | {"spot": "yes"}) == SMALL, (
        "nobody is given spot instances by a slip"
    )
    assert select_launch_values(SMALL | {"spot": True}) == SPOT


def test_what_is_missing_is_added() -> None:
    assert plan_steps(want(2), [there(InstanceState.running)]) == [AddInstance(want(2)[1], 1)]


def test_what_is_there_in_whatever_state_of_coming_up_is_not_added_again() -> None:
    for state in ALIVE:
        assert plan_steps(want(), [there(state)]) == []


def test_what_ended_or_failed_is_added_as_the_next_generation() -> None:
    before = [there(InstanceState.terminated), there(InstanceState.failed, "b")]

    assert plan_steps(want(), before) == [AddInstance(want()[0], 3)]


def test_what_is_leaving_is_replaced_at_once() -> None:
    assert plan_steps(want(), [there(InstanceState.terminating)]) == [AddInstance(want()[0], 2)]


@pytest.mark.parametrize("state", ALIVE)
def test_a_place_that_is_not_wanted_is_left(state: InstanceState) -> None:
    surplus = there(state, "b", ordinal=1)

    assert plan_steps(want(1), [there(InstanceState.running), surplus]) == [TerminateInstance("b")]


def test_a_layer_that_is_gone_is_left_and_a_stack_that_goes_leaves_everything() -> None:
    rows = [there(InstanceState.running), there(InstanceState.running, "b", flag="db")]

    assert plan_steps(want(1), rows) == [TerminateInstance("b")]
    assert plan_steps([], rows) == [TerminateInstance("b"), TerminateInstance("a")]


def test_what_is_gone_already_is_not_left_again() -> None:
    rows = [
        there(state, state)
        for state in (InstanceState.terminating, InstanceState.terminated, InstanceState.failed)
    ]

    assert plan_steps([], rows) == []


@pytest.mark.parametrize("state", [InstanceState.running, InstanceState.launching])
def test_another_type_is_given_to_the_instance_that_is_there(state: InstanceState) -> None:
    assert plan_steps(want(1, LARGE), [there(state)]) == [ChangeInstanceType("a", LARGE)]


def test_what_is_not_launched_yet_is_not_changed_but_wanted_anew() -> None:
    steps = plan_steps(want(1, LARGE), [there(InstanceState.pending)])

    assert steps == [AddInstance(want(1, LARGE)[0], 2), TerminateInstance("a")]


@pytest.mark.parametrize(
    "other",
    [OTHER_IMAGE, SMALL | {"volume_type": "io2"}, SMALL | {"keypair": True}, SPOT],
    ids=["image", "volume", "key pair", "spot"],
)
def test_anything_else_needs_a_new_instance_and_the_old_one_stays_until_it_runs(
    other: dict[str, Any],
) -> None:
    old = there(InstanceState.running)
    assert plan_steps(want(1, other), [old]) == [AddInstance(want(1, other)[0], 2)]

    for coming in (InstanceState.pending, InstanceState.launching):
        assert plan_steps(want(1, other), [old, there(coming, "b", provision=other)]) == []

    new = there(InstanceState.running, "b", provision=other)
    assert plan_steps(want(1, other), [old, new]) == [TerminateInstance("a")]


def test_a_spot_instance_of_another_type_is_replaced() -> None:
    larger = SPOT | {"instance_type": "t3.large"}

    steps = plan_steps(want(1, larger), [there(InstanceState.running, provision=SPOT)])

    assert steps == [AddInstance(want(1, larger)[0], 2)]


def test_what_never_ran_leaves_when_something_else_is_wanted() -> None:
    coming = there(InstanceState.launching, provision=OTHER_IMAGE)

    assert plan_steps(want(), [coming]) == [AddInstance(want()[0], 2), TerminateInstance("a")]


def test_an_update_taken_back_before_the_new_instance_ran_keeps_the_old_one() -> None:
    rows = [
        there(InstanceState.running),
        there(InstanceState.launching, "b", provision=OTHER_IMAGE),
    ]

    assert plan_steps(want(), rows) == [TerminateInstance("b")]


def test_nothing_is_added_to_a_layer_that_was_given_up() -> None:
    wanted = [*want(2), *want(1, flag="db")]

    assert plan_steps(wanted, [], failed_layers={"web"}) == [AddInstance(want(1, flag="db")[0], 1)]


def test_what_leaves_ends_unless_its_successor_is_on_its_way() -> None:
    leaving = there(InstanceState.terminating)

    assert list_terminable(want(), [leaving]) == ["a"]
    assert list_terminable([], [leaving]) == ["a"]
    assert list_terminable(want(), [leaving, there(InstanceState.running, "b")]) == ["a"]
    for coming in (InstanceState.pending, InstanceState.launching):
        assert list_terminable(want(), [leaving, there(coming, "b")]) == []
        assert list_terminable([], [leaving, there(coming, "b")]) == ["a"], (
            "nobody wants the other one"
        )


def test_a_layer_is_complete_when_every_place_runs_and_nothing_else_is_left() -> None:
    both = [there(InstanceState.running), there(InstanceState.running, "b", ordinal=1)]

    assert is_layer_complete("web", want(2), both)
    assert is_layer_complete(
        "web",
        want(2),
        [*both, there(InstanceState.terminated, "c"), there(InstanceState.failed, "d")],
    )
    assert is_layer_complete("web", [], [])
    assert not is_layer_complete("web", want(2), both[:1])
    assert not is_layer_complete("web", want(1), both)
    assert not is_layer_complete("web", want(2, LARGE), both)
    for state in (InstanceState.pending, InstanceState.launching, InstanceState.terminating):
        assert not is_layer_complete("web", want(2), [*both, there(state, "c")])
    assert is_layer_complete(
        "web", want(2), [*both, there(InstanceState.terminating, "c", flag="db")]
    )


def test_a_stack_is_at_rest_when_nothing_is_under_way_and_nothing_foreign_is_left() -> None:
    assert is_idle([there(InstanceState.running), there(InstanceState.failed, "b")], ["web"])
    assert not is_idle([there(InstanceState.running)], ["db"])
    for state in (InstanceState.pending, InstanceState.launching, InstanceState.terminating):
        assert not is_idle([there(state)], ["web"])


# ── any way a stack may go ───────────────────────────────────────────────────────────────────────

PROVISIONS = st.sampled_from([SMALL, LARGE, OTHER_IMAGE, SPOT])
COUNTS = st.dictionaries(st.sampled_from(["web", "db"]), st.tuples(st.integers(0, 3), PROVISIONS))


def carried_out(
    rows: list[ExistingInstance], steps: list[PlanStep], chance: random.Random
) -> list[ExistingInstance]:
    """As a pass would, with instances that come up, end or die as they please."""
    by_key = {row.instance_key: row for row in rows}
    for step in steps:
        if isinstance(step, AddInstance):
            key = f"{step.desired.flag}-{step.desired.ordinal}-{step.generation}"
            assert key not in by_key, "launched twice"
            wanted = step.desired
            by_key[key] = ExistingInstance(
                key, wanted.flag, wanted.ordinal, wanted.provision, InstanceState.pending
            )
        elif isinstance(step, ChangeInstanceType):
            before = by_key[step.instance_key]
            changed = replace(before, provision=step.provision, state=InstanceState.launching)
            by_key[step.instance_key] = changed
        else:
            by_key[step.instance_key] = replace(
                by_key[step.instance_key], state=InstanceState.terminating
            )
    nexts = {
        InstanceState.pending: InstanceState.launching,
        InstanceState.launching: InstanceState.running,
    }
    return [
        replace(row, state=nexts.get(row.state, row.state)) if chance.random() < 0.7 else row
        for row in by_key.values()
    ]


@given(st.lists(COUNTS, min_size=1, max_size=4), st.integers(0, 2**32))
def test_whatever_is_wanted_in_turn_is_there_in_the_end_and_nothing_else(
    turns: list[dict[str, tuple[int, dict[str, Any]]]], seed: int
) -> None:
    chance, rows = random.Random(seed), list[ExistingInstance]()
    for turn in turns:
        wanted = [one for flag, (count, what) in turn.items() for one in want(count, what, flag)]
        for passes in range(60):
            rows = carried_out(rows, plan_steps(wanted, rows), chance)
            ending = list_terminable(wanted, rows)
            rows = [
                replace(row, state=InstanceState.terminated) if row.instance_key in ending else row
                for row in rows
            ]
            complete = all(is_layer_complete(flag, wanted, rows) for flag in turn)
            if complete and is_idle(rows, list(turn)):
                break
            if passes > 3 and chance.random() < 0.1:
                break  # the next update comes before this one is done
    for _ in range(60):
        rows = carried_out(rows, plan_steps(wanted, rows), chance)
        ending = list_terminable(wanted, rows)
        rows = [
            replace(row, state=InstanceState.terminated) if row.instance_key in ending else row
            for row in rows
        ]
    alive = sorted(
        (row.flag, row.ordinal, repr(row.provision))
        for row in rows
        if row.state != InstanceState.terminated
    )
    assert alive == sorted((one.flag, one.ordinal, repr(one.provision)) for one in wanted)
    assert all(row.state in (InstanceState.running, InstanceState.terminated) for row in rows)
    assert plan_steps(wanted, rows) == []
