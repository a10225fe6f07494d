"""Steps of a month: done, ready, blocked or not needed, from the stored facts."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.closing.steps.bodies import StepState
from nimbill.closing.steps.month_steps import (
    Blocker,
    MonthFacts,
    Step,
    build_steps,
    find_missing,
)

READY: dict[str, Any] = {
    "is_over": True,
    "is_closed": False,
    "has_costs": True,
    "billed_groups": {"cmp_a"},
    "invoiced_groups": ["cmp_a"],
    "differences": {},
}


def build(**changes: Any) -> dict[str, Step]:
    steps = build_steps(MonthFacts(**(READY | changes)))
    assert [step.name for step in steps] == [
        "arrived",
        "placed",
        "decided",
        "rates",
        "created",
        "checked",
        "approved",
        "sent",
        "closed",
        "drifted",
        "corrected",
    ]
    return {step.name: step for step in steps}


def list_states(**changes: Any) -> dict[str, str]:
    return {name: step.state.value for name, step in build(**changes).items()}


def test_a_month_with_everything_done_is_ready_to_be_closed() -> None:
    assert list_states() == {
        "arrived": "done",
        "placed": "done",
        "decided": "not_needed",
        "rates": "done",
        "created": "done",
        "checked": "done",
        "approved": "not_needed",
        "sent": "done",
        "closed": "ready",
        "drifted": "not_needed",
        "corrected": "not_needed",
    }
    assert find_missing(MonthFacts(**READY)) == []


def test_sending_and_approving_wait_for_the_first_invoice() -> None:
    steps = build(invoiced_groups=(), needs_approval=True)
    nobody = build(invoiced_groups=(), billed_groups=(), needs_approval=True)

    for name in ("approved", "sent"):
        assert steps[name] == Step(name, StepState.blocked, [Blocker("no_invoices")])
        assert nobody[name].state == "not_needed"


def test_an_empty_month_waits_for_costs() -> None:
    states = list_states(has_costs=False, billed_groups=(), invoiced_groups=())

    assert states["arrived"] == "ready"
    assert [states[name] for name in ("placed", "rates", "created", "checked", "closed")] == [
        "blocked"
    ] * 5


@pytest.mark.parametrize(
    ("changes", "step", "state", "blockers"),
    [
        ({"parked_imports": ["i"]}, "arrived", "blocked", [Blocker("import_parked", ("i",))]),
        ({"running_imports": ["i"]}, "arrived", "ready", [Blocker("import_running", ("i",))]),
        (
            {"accounts_in_no_group": ["2", "1"]},
            "placed",
            "ready",
            [Blocker("account_in_no_group", ("1", "2"))],
        ),
        ({"has_entries": True}, "decided", "done", []),
        (
            {"has_entries": True, "undecided_entries": ["e"]},
            "decided",
            "ready",
            [Blocker("entry_undecided", ("e",))],
        ),
        (
            {"groups_without_settings": ["cmp_b"], "groups_without_rate": ["cmp_a"]},
            "rates",
            "ready",
            [Blocker("settings_missing", ("cmp_b",)), Blocker("rate_missing", ("cmp_a",))],
        ),
        ({"billed_groups": ()}, "rates", "not_needed", []),
        (
            {"billed_groups": {"cmp_a", "cmp_b"}},
            "created",
            "ready",
            [Blocker("invoice_missing", ("cmp_b",))],
        ),
        (
            {"outdated_groups": ["cmp_b", "cmp_a"]},
            "created",
            "ready",
            [Blocker("invoices_outdated", ("cmp_a", "cmp_b"))],
        ),
        ({"running_runs": ["r"]}, "created", "ready", [Blocker("run_in_progress", ("r",))]),
        (
            {"invoiced_groups": (), "groups_without_rate": ["cmp_a"]},
            "created",
            "blocked",
            [
                Blocker("no_invoices"),
                Blocker("invoice_missing", ("cmp_a",)),
                Blocker("rate_missing", ("cmp_a",)),
            ],
        ),
        (
            {"invoiced_groups": (), "parked_imports": ["i"]},
            "created",
            "blocked",
            [
                Blocker("no_invoices"),
                Blocker("invoice_missing", ("cmp_a",)),
                Blocker("import_parked", ("i",)),
            ],
        ),
        ({"invoiced_groups": ()}, "checked", "blocked", [Blocker("no_invoices")]),
        (
            {"differences": {"amount_differs": ["cmp_a"], "invoice_missing": ["cmp_b"]}},
            "checked",
            "blocked",
            [Blocker("amount_differs", ("cmp_a",))],
        ),
        ({"is_over": False}, "closed", "blocked", [Blocker("month_not_over")]),
        ({"is_closed": True}, "closed", "done", []),
        ({"drifted_imports": ["d"]}, "drifted", "done", []),
        ({"drifted_imports": ["d"]}, "corrected", "done", []),
        (
            {"drifted_imports": ["d"], "uncorrected_imports": ["d"]},
            "corrected",
            "ready",
            [Blocker("drift_uncorrected", ("d",))],
        ),
    ],
)
def test_a_step_tells_what_blocks_it(
    changes: dict[str, Any], step: str, state: str, blockers: list[Blocker]
) -> None:
    found = build(**changes)[step]

    assert (found.state.value, list(found.blockers)) == (state, blockers)


def test_invoices_are_created_again_after_costs_or_entries_changed() -> None:
    differences = {
        "amount_differs": ["cmp_a", "cmp_sent"],  # what was sent is corrected otherwise
        "entry_changed": ["cmp_sent"],
        "entry_not_on_invoice": ["cmp_b"],
        "entries_differ": ["cmp_a"],  # the import has to be repeated
        "not_in_costs": ["222222222222"],  # a payer
    }
    unsent = {"unsent_groups": ["cmp_b", "cmp_a"], "differences": differences}

    assert build(**unsent)["created"] == Step(
        "created",
        StepState.ready,
        [Blocker("amount_differs", ("cmp_a",)), Blocker("entry_not_on_invoice", ("cmp_b",))],
    )
    assert build(**unsent, is_closed=True)["created"].state == "done"
    assert build(**unsent | {"unsent_groups": ()})["created"].state == "done"


def test_a_step_of_a_closed_month_waits_for_reopening() -> None:
    found = build(is_closed=True, has_entries=True, undecided_entries=["e"])

    assert found["decided"].state == "blocked"
    assert found["decided"].blockers == [
        Blocker("entry_undecided", ("e",)),
        Blocker("month_closed"),
    ]
    assert found["created"].state == "done"
    assert found["approved"].state == "not_needed"


@pytest.mark.parametrize("is_closed", [False, True])
def test_invoices_are_sent_before_or_after_closing(is_closed: bool) -> None:
    unsent = build(is_closed=is_closed, unsent_groups=["cmp_a"])
    sent = build(is_closed=is_closed)
    none = build(is_closed=is_closed, billed_groups=(), invoiced_groups=())

    assert unsent["sent"].state == "ready"
    assert unsent["sent"].blockers == [Blocker("invoices_unsent", ("cmp_a",))]
    assert not unsent["closed"].blockers
    assert sent["sent"].state == "done"
    assert none["sent"].state == "not_needed"


def test_everything_that_is_missing_is_listed_before_closing() -> None:
    facts = MonthFacts(
        is_over=False,
        is_closed=False,
        has_costs=False,
        parked_imports=["p"],
        running_imports=["i"],
        billed_groups={"cmp_a"},
        running_runs=["r"],
        differences={"not_in_costs": ["cmp_c"]},
    )

    assert find_missing(facts) == [
        Blocker("month_not_over"),
        Blocker("no_costs"),
        Blocker("import_parked", ("p",)),
        Blocker("import_running", ("i",)),
        Blocker("no_invoices"),
        Blocker("invoice_missing", ("cmp_a",)),
        Blocker("run_in_progress", ("r",)),
        Blocker("not_in_costs", ("cmp_c",)),
    ]
