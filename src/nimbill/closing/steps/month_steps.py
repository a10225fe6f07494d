"""The steps of a month, and what is missing before it can be closed. Pure functions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nimbill.closing.steps.bodies import StepName, StepState

# Reasons of the tie-out that end when the invoice is created again.
_ENDED_BY_CREATING = frozenset(
    {
        *("amount_differs", "not_on_invoice", "not_in_costs"),
        *("entry_not_on_invoice", "entry_not_applied", "entry_changed", "entry_invoiced_twice"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthFacts:
    """What is stored for one month of one vendor."""

    is_over: bool
    is_closed: bool
    has_costs: bool
    parked_imports: Collection[str] = ()
    running_imports: Collection[str] = ()
    # imports that found differences after closing, and those that no later import resolved
    drifted_imports: Collection[str] = ()
    uncorrected_imports: Collection[str] = ()
    accounts_in_no_group: Collection[str] = ()
    has_entries: bool = False
    undecided_entries: Collection[str] = ()
    billed_groups: Collection[str] = ()  # groups with usage or with entries applied to the month
    groups_without_settings: Collection[str] = ()
    groups_without_rate: Collection[str] = ()
    invoiced_groups: Collection[str] = ()
    needs_approval: bool = False  # of invoices, before they are sent
    unapproved_groups: Collection[str] = ()  # groups with an invoice neither sent nor approved
    unsent_groups: Collection[str] = ()  # groups with an invoice that was not sent
    outdated_groups: Collection[str] = ()  # something was saved since the invoice was created
    running_runs: Collection[str] = ()
    # reason of the tie-out to the groups, payers or accounts that have such a difference
    differences: Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Blocker:
    reason: str
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    name: StepName
    state: StepState
    blockers: Sequence[Blocker] = ()


def find_missing(facts: MonthFacts) -> list[Blocker]:
    """Return everything that has to be done before the month can be closed."""
    not_over = [] if facts.is_over else [Blocker("month_not_over")]
    return [
        *not_over,
        *_find_missing_costs(facts),
        *_find_missing_invoices(facts),
        *_find_differences(facts),
    ]


def build_steps(facts: MonthFacts) -> list[Step]:
    """In a closed month nothing but sending is ready: it has to be reopened first."""
    steps = [
        _build_arrived(facts),
        _build_placed(facts),
        _build_decided(facts),
        _build_rates(facts),
        _build_created(facts),
        _build_checked(facts),
    ]
    if facts.is_closed:
        steps = [_block_by_closing(step) for step in steps]
    later = [_build_approved(facts), _build_sent(facts), _build_closed(facts)]
    return [*steps, *later, *_build_drift(facts)]


# ── what is missing ──────────────────────────────────────────────────────────────────────────────


def _list(reason: str, subjects: Collection[str]) -> Iterator[Blocker]:
    if subjects:
        yield Blocker(reason, tuple(sorted(subjects)))


def _find_missing_costs(facts: MonthFacts) -> list[Blocker]:
    no_costs = [] if facts.has_costs else [Blocker("no_costs")]
    return [
        *no_costs,
        *_list("import_parked", facts.parked_imports),
        *_list("import_running", facts.running_imports),
    ]


def _find_missing_invoices(facts: MonthFacts) -> list[Blocker]:
    missing = set(facts.billed_groups) - set(facts.invoiced_groups)
    no_invoices = [] if facts.invoiced_groups else [Blocker("no_invoices")]
    return [
        *no_invoices,
        *_list("invoice_missing", missing),
        *_list("invoices_outdated", facts.outdated_groups),
        *_list("run_in_progress", facts.running_runs),
    ]


def _find_differences(facts: MonthFacts) -> list[Blocker]:
    """Missing invoices are listed already."""
    return [
        blocker
        for reason, subjects in sorted(facts.differences.items())
        if reason != "invoice_missing"
        for blocker in _list(reason, subjects)
    ]


def _find_changed_since(facts: MonthFacts) -> list[Blocker]:
    """Costs, accounts or entries changed after the invoice; one that was sent stays as it is."""
    if facts.is_closed:
        return []
    unsent = set(facts.unsent_groups)
    return [
        blocker
        for reason, subjects in sorted(facts.differences.items())
        if reason in _ENDED_BY_CREATING
        for blocker in _list(reason, unsent.intersection(subjects))
    ]


# ── steps ────────────────────────────────────────────────────────────────────────────────────────


def _build_step(name: StepName, missing: Sequence[Blocker], *, blocked: bool = False) -> Step:
    if not missing:
        return Step(name, StepState.done)
    return Step(name, StepState.blocked if blocked else StepState.ready, missing)


def _block_by_closing(step: Step) -> Step:
    if step.state is not StepState.ready:
        return step
    return Step(step.name, StepState.blocked, [*step.blockers, Blocker("month_closed")])


def _build_arrived(facts: MonthFacts) -> Step:
    missing = _find_missing_costs(facts)
    return _build_step("arrived", missing, blocked=bool(facts.parked_imports))


def _build_placed(facts: MonthFacts) -> Step:
    if not facts.has_costs:
        return Step("placed", StepState.blocked, [Blocker("no_costs")])
    return _build_step("placed", list(_list("account_in_no_group", facts.accounts_in_no_group)))


def _build_decided(facts: MonthFacts) -> Step:
    if not facts.has_entries:
        return Step("decided", StepState.not_needed)
    return _build_step("decided", list(_list("entry_undecided", facts.undecided_entries)))


def _find_missing_rates(facts: MonthFacts) -> list[Blocker]:
    return [
        *_list("settings_missing", facts.groups_without_settings),
        *_list("rate_missing", facts.groups_without_rate),
    ]


def _build_rates(facts: MonthFacts) -> Step:
    if not facts.has_costs and not facts.billed_groups:
        return Step("rates", StepState.blocked, [Blocker("no_costs")])
    if not facts.billed_groups:
        return Step("rates", StepState.not_needed)
    return _build_step("rates", _find_missing_rates(facts))


def _build_created(facts: MonthFacts) -> Step:
    """Only missing rates of groups without an invoice stand in the way."""
    missing = [*_find_missing_invoices(facts), *_find_changed_since(facts)]
    earlier = [
        *(() if facts.has_costs else (Blocker("no_costs"),)),
        *_list("import_parked", facts.parked_imports),
        *_find_missing_rates(facts),
    ]
    if missing and earlier:
        return Step("created", StepState.blocked, [*missing, *earlier])
    return _build_step("created", missing)


def _build_checked(facts: MonthFacts) -> Step:
    if not facts.invoiced_groups:
        return Step("checked", StepState.blocked, [Blocker("no_invoices")])
    return _build_step("checked", _find_differences(facts), blocked=True)


def _build_approved(facts: MonthFacts) -> Step:
    """Like sending, this is possible in a closed month too."""
    if not facts.needs_approval:
        return Step("approved", StepState.not_needed)
    if not facts.invoiced_groups:
        return _build_without_invoices("approved", facts)
    return _build_step("approved", list(_list("invoices_unapproved", facts.unapproved_groups)))


def _build_without_invoices(name: StepName, facts: MonthFacts) -> Step:
    if facts.is_closed or not facts.billed_groups:
        return Step(name, StepState.not_needed)
    return Step(name, StepState.blocked, [Blocker("no_invoices")])


def _build_sent(facts: MonthFacts) -> Step:
    """Invoices of a closed month can be sent, and a month can be closed before."""
    if not facts.invoiced_groups:
        return _build_without_invoices("sent", facts)
    unapproved = facts.unapproved_groups if facts.needs_approval else ()
    missing = [
        *_list("invoices_unsent", facts.unsent_groups),
        *_list("invoices_unapproved", unapproved),
    ]
    return _build_step("sent", missing, blocked=bool(unapproved))


def _build_closed(facts: MonthFacts) -> Step:
    if facts.is_closed:
        return Step("closed", StepState.done)
    missing = find_missing(facts)
    return Step("closed", StepState.blocked if missing else StepState.ready, missing)


def _build_drift(facts: MonthFacts) -> list[Step]:
    if not facts.drifted_imports:
        return [Step(name, StepState.not_needed) for name in ("drifted", "corrected")]
    uncorrected = list(_list("drift_uncorrected", facts.uncorrected_imports))
    return [Step("drifted", StepState.done), _build_step("corrected", uncorrected)]
