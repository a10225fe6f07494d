"""POST /m/core/billinggroup/recalculation"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.adjustments.recalculation.entries import (
    CREDIT,
    CUSTOMER,
    EARLIER,
    FEE,
    LATER,
    MONTH,
    PATH,
    PAYER,
    apply,
    customer_of_group,
    deliver,
    listed,
    only,
)
from tests.answers import problem_of, violations_of
from tests.costs.months.closing import close, reopen
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.people import all_at_once
from tests.running_service import Service

UNKNOWN = "rce_never_was"


@pytest.fixture
def entry(service: Service) -> str:
    """The id of an entry that can be applied."""
    customer_of_group(service)
    deliver(service, FEE)
    found: str = only(service)["id"]
    return found


def applied(service: Service, month: str = MONTH) -> tuple[Any, ...]:
    entry = only(service, month)
    return entry["apply"], entry["exchange_rate"], entry["tax_free"]


def test_an_entry_is_applied(service: Service, entry: str) -> None:
    headers = service.caller(RoleAction.ModifyBillingGroup)

    answer = apply(service, [entry], headers, exchange_rate=150.25, tax_free=True)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert applied(service) == (True, 150.25, True)


def test_the_invoices_own_rate_is_kept_as_zero(service: Service, entry: str) -> None:
    apply(service, [entry], exchange_rate=0)

    assert applied(service) == (True, 0, False)


def test_unapplying_resets_rate_and_tax_free(service: Service, entry: str) -> None:
    apply(service, [entry], exchange_rate=150, tax_free=True)

    answer = apply(service, [entry], apply=False, exchange_rate=99, tax_free=True)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert applied(service) == (False, None, False)


def test_it_goes_into_a_later_month_but_not_into_an_earlier_one(
    service: Service, entry: str
) -> None:
    assert problem_of(apply(service, [entry], month=EARLIER), 409)["code"] == "month_before_entry"
    assert applied(service) == (False, None, False)

    assert apply(service, [entry], month=LATER).status_code == 200
    assert applied(service, LATER) == (True, 0, False)


def test_applying_just_so_again_changes_nothing(service: Service, entry: str) -> None:
    asked: dict[str, Any] = {"exchange_rate": 150, "tax_free": True}
    apply(service, [entry], **asked)

    for rate in (150, 150.0):
        assert apply(service, [entry], **asked | {"exchange_rate": rate}).status_code == 200

    assert applied(service) == (True, 150, True)


@pytest.mark.parametrize(
    "other", [{"exchange_rate": 151}, {"tax_free": False}, {"month": LATER}, {"month": EARLIER}]
)
def test_applying_in_another_way_needs_unapplying_first(
    service: Service, entry: str, other: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"exchange_rate": 150, "tax_free": True}
    apply(service, [entry], **asked)

    assert problem_of(apply(service, [entry], **asked | other), 409)["code"] == "entry_applied"
    assert applied(service) == (True, 150, True)


def test_unapplying_what_is_not_applied_changes_nothing(service: Service, entry: str) -> None:
    assert apply(service, [entry], apply=False).status_code == 200

    assert applied(service) == (False, None, False)


def test_it_is_unapplied_from_whichever_month(service: Service, entry: str) -> None:
    """The list has no field for the month, so nobody could name the right one."""
    apply(service, [entry], month=LATER)

    assert apply(service, [entry], month=MONTH, apply=False).status_code == 200
    assert applied(service) == (False, None, False)
    assert listed(service, LATER) == []


def test_any_unknown_id_is_404_and_nothing_changes(service: Service, entry: str) -> None:
    for ids in ([UNKNOWN], [entry, UNKNOWN], [UNKNOWN, entry], [entry, ""]):
        problem_of(apply(service, ids), 404)
        assert applied(service) == (False, None, False)
    apply(service, [entry])
    problem_of(apply(service, [entry, UNKNOWN], apply=False), 404)
    assert applied(service) == (True, 0, False)


def test_all_are_changed_or_none(service: Service) -> None:
    """One of them cannot be applied, whichever place it has in the list."""
    customer_of_group(service)
    deliver(service, FEE, CREDIT)
    deliver(service, replace(FEE, description="of February"), month=LATER)
    later = next(e["id"] for e in listed(service, LATER))
    ids = [entry["id"] for entry in listed(service)]

    for order in ([*ids, later], [later, *ids]):
        assert problem_of(apply(service, order), 409)["code"] == "month_before_entry"
    assert not any(entry["apply"] for entry in listed(service) + listed(service, LATER))

    assert apply(service, [*ids, later], month=LATER).status_code == 200
    assert [entry["apply"] for entry in listed(service, LATER)] == [True] * 3
    assert apply(service, [*ids, later], apply=False).status_code == 200
    assert not any(entry["apply"] for entry in listed(service) + listed(service, LATER))


def test_an_id_sent_twice_counts_once(service: Service, entry: str) -> None:
    assert apply(service, [entry, entry]).status_code == 200
    assert applied(service) == (True, 0, False)


def test_an_entry_of_an_account_in_no_group_cannot_be_applied(service: Service) -> None:
    deliver(service, FEE)
    entry = only(service)["id"]

    assert problem_of(apply(service, [entry]), 409)["code"] == "entry_without_group"
    customer_of_group(service)
    assert apply(service, [entry]).status_code == 200


def test_what_was_applied_can_be_taken_back_when_its_account_is_gone(
    service: Service, entry: str
) -> None:
    apply(service, [entry])
    path = f"{ACCOUNTS}/aws/{CUSTOMER}|{PAYER}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    assert apply(service, [entry], apply=False).status_code == 200
    assert applied(service) == (False, None, False)


def test_an_entry_of_another_vendor_is_not_there(service: Service, entry: str) -> None:
    problem_of(apply(service, [entry], vendor="azure"), 404)
    apply(service, [entry])
    problem_of(apply(service, [entry], vendor="azure", apply=False), 404)
    assert applied(service) == (True, 0, False)


def test_a_hidden_entry_is_not_there(service: Service, entry: str) -> None:
    other = customer_of_group(service, "000000000002")
    deliver(service, FEE, replace(FEE, customer_id="000000000002"), replace(FEE, customer_id="3"))
    in_none, own, _ = (entry["id"] for entry in sorted(listed(service), key=_by_group))
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[other])

    unknown = apply(service, [UNKNOWN], narrowed)
    for hidden in (entry, in_none):
        for fields in ({}, {"apply": False}, {"month": EARLIER}):
            answer = apply(service, [hidden], narrowed, **fields)
            assert problem_of(answer, 404)["code"] == problem_of(unknown, 404)["code"]
        problem_of(apply(service, [own, hidden], narrowed), 404)
    assert apply(service, [own], narrowed).status_code == 200


def _by_group(entry: dict[str, Any]) -> tuple[bool, str]:
    return entry["billinggroup_id"] != "", entry["customer_id"]


def test_another_organisations_entry_is_not_there(service: Service, entry: str) -> None:
    other = service.new_organisation()

    problem_of(apply(service, [entry], service.root(other)), 404)


# ── closed months ────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_applied_into_a_closed_month(service: Service, entry: str) -> None:
    close(service, MONTH)

    assert problem_of(apply(service, [entry]), 409)["code"] == "month_closed"
    assert apply(service, [entry], month=LATER).status_code == 200


def test_nothing_is_taken_out_of_a_closed_month(service: Service, entry: str) -> None:
    apply(service, [entry], month=LATER)
    close(service, LATER)

    for month in (MONTH, LATER):
        answer = apply(service, [entry], month=month, apply=False)
        assert problem_of(answer, 409)["code"] == "month_closed"
    assert problem_of(apply(service, [entry], month=LATER), 409)["code"] == "month_closed"
    reopen(service, LATER)
    assert apply(service, [entry], apply=False).status_code == 200


def test_a_month_closed_for_another_vendor_is_open(service: Service, entry: str) -> None:
    close(service, MONTH, "azure")

    assert apply(service, [entry]).status_code == 200


# ── the body ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("field", ["data", "month", "exchange_rate", "tax_free", "apply", "vendor"])
def test_every_field_is_required(service: Service, entry: str, field: str) -> None:
    for way in (True, False):
        sent = {"apply": way, field: None}
        assert violations_of(apply(service, [entry], **sent)) == [(field, "required")]
    assert applied(service) == (False, None, False)


@pytest.mark.parametrize(
    ("field", "value", "violation"),
    [
        ("data", "rce_x", ("data", "a list")),
        ("data", [], ("data", "one id or more")),
        ("data", [1], ("data[0]", "a text")),
        ("month", "2026-1", ("month", "a month as yyyy-mm")),
        ("month", "2026-13", ("month", "a month as yyyy-mm")),
        ("month", 202601, ("month", "a month as yyyy-mm")),
        ("exchange_rate", "150", ("exchange_rate", "a number")),
        ("exchange_rate", -1, ("exchange_rate", "0 or more")),
        ("exchange_rate", -0.001, ("exchange_rate", "0 or more")),
        ("tax_free", "false", ("tax_free", "true or false")),
        ("apply", 1, ("apply", "true or false")),
        ("vendor", "gcp", ("vendor", "one of aws, azure")),
    ],
)
def test_a_field_follows_its_rule(
    service: Service, entry: str, field: str, value: Any, violation: tuple[str, str]
) -> None:
    assert violations_of(apply(service, [entry], **{field: value})) == [violation]
    assert applied(service) == (False, None, False)


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
    answer = service.http.post(PATH, json={"data": [], "month": "x"}, headers=service.root())

    assert violations_of(answer) == [
        ("month", "a month as yyyy-mm"),
        ("exchange_rate", "required"),
        ("tax_free", "required"),
        ("apply", "required"),
        ("vendor", "required"),
        ("data", "one id or more"),
    ]


def test_very_many_ids_are_no_hindrance(service: Service, entry: str) -> None:
    many = [f"rce_{number}" for number in range(40_000)]

    problem_of(apply(service, [entry, *many]), 404)


# ── audit, and several at once ───────────────────────────────────────────────────────────────────


def test_it_is_audited(service: Service, entry: str) -> None:
    apply(service, [entry], exchange_rate=150)

    found = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (found["action"], found["resource"]) == (
        "apply_recalculation",
        f"recalculation/aws/{MONTH}",
    )
    assert found["sent"]["data"] == [entry]


def test_of_several_ways_at_once_one_is_taken(service: Service, entry: str) -> None:
    rates = list(range(100, 108))

    answers = all_at_once(
        [lambda rate=rate: apply(service, [entry], exchange_rate=rate) for rate in rates]  # type: ignore[misc]
    )

    winners = [
        rate for rate, answer in zip(rates, answers, strict=True) if answer.status_code == 200
    ]
    assert len(winners) == 1
    assert {answer.status_code for answer in answers} == {200, 409}
    assert applied(service) == (True, winners[0], False)
