"""POST /m/core/billinggroup/recalculation"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.recalculation.bodies import RecalculationApply
from tests.adjustments.recalculation.entries import (
    CREDIT,
    CUSTOMER,
    EARLIER,
    FEE,
    LATER,
    MONTH,
    PATH,
    PAYER,
    apply_entries,
    create_group_with_account,
    get_only_entry,
    import_entries,
    list_entries,
)
from tests.body_violations import find_body_violations
from tests.costs.months.month_requests import close_month, reopen_month
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently

UNKNOWN = "rce_unknown"
BODY = {
    "data": ["rce_x"],
    "month": MONTH,
    "exchange_rate": 0,
    "tax_free": False,
    "apply": True,
    "vendor": "aws",
}


@pytest.fixture
def entry(service: Service) -> str:
    """Return the id of an entry that can be applied."""
    create_group_with_account(service)
    import_entries(service, FEE)
    entry_id: str = get_only_entry(service)["id"]
    return entry_id


def applied_values(service: Service, month: str = MONTH) -> tuple[Any, ...]:
    entry = get_only_entry(service, month)
    return entry["apply"], entry["exchange_rate"], entry["tax_free"]


def test_an_entry_is_applied(service: Service, entry: str) -> None:
    headers = service.caller(RoleAction.ModifyBillingGroup)

    response = apply_entries(service, [entry], headers, exchange_rate=150.25, tax_free=True)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert applied_values(service) == (True, 150.25, True)


def test_exchange_rate_zero_means_the_rate_of_the_invoice(service: Service, entry: str) -> None:
    apply_entries(service, [entry], exchange_rate=0)

    assert applied_values(service) == (True, 0, False)


def test_unapplying_resets_exchange_rate_and_tax_free(service: Service, entry: str) -> None:
    apply_entries(service, [entry], exchange_rate=150, tax_free=True)

    response = apply_entries(service, [entry], apply=False, exchange_rate=99, tax_free=True)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert applied_values(service) == (False, None, False)


def test_an_entry_can_be_applied_to_a_later_month_but_not_to_an_earlier_one(
    service: Service, entry: str
) -> None:
    assert (
        read_problem(apply_entries(service, [entry], month=EARLIER), 409)["code"]
        == "month_before_entry"
    )
    assert applied_values(service) == (False, None, False)

    assert apply_entries(service, [entry], month=LATER).status_code == 200
    assert applied_values(service, LATER) == (True, 0, False)


def test_applying_again_with_the_same_values_changes_nothing(service: Service, entry: str) -> None:
    values: dict[str, Any] = {"exchange_rate": 150, "tax_free": True}
    apply_entries(service, [entry], **values)

    for rate in (150, 150.0):
        assert (
            apply_entries(service, [entry], **values | {"exchange_rate": rate}).status_code == 200
        )

    assert applied_values(service) == (True, 150, True)


@pytest.mark.parametrize(
    "other", [{"exchange_rate": 151}, {"tax_free": False}, {"month": LATER}, {"month": EARLIER}]
)
def test_applying_with_other_values_requires_unapplying_first(
    service: Service, entry: str, other: dict[str, Any]
) -> None:
    values: dict[str, Any] = {"exchange_rate": 150, "tax_free": True}
    apply_entries(service, [entry], **values)

    assert (
        read_problem(apply_entries(service, [entry], **values | other), 409)["code"]
        == "entry_applied"
    )
    assert applied_values(service) == (True, 150, True)


def test_unapplying_an_unapplied_entry_changes_nothing(service: Service, entry: str) -> None:
    assert apply_entries(service, [entry], apply=False).status_code == 200

    assert applied_values(service) == (False, None, False)


def test_an_entry_is_unapplied_from_any_month(service: Service, entry: str) -> None:
    """The listed record does not contain the month it is applied to."""
    apply_entries(service, [entry], month=LATER)

    assert apply_entries(service, [entry], month=MONTH, apply=False).status_code == 200
    assert applied_values(service) == (False, None, False)
    assert list_entries(service, LATER) == []


def test_an_unknown_id_returns_404_and_changes_nothing(service: Service, entry: str) -> None:
    for ids in ([UNKNOWN], [entry, UNKNOWN], [UNKNOWN, entry], [entry, ""]):
        read_problem(apply_entries(service, ids), 404)
        assert applied_values(service) == (False, None, False)
    apply_entries(service, [entry])
    read_problem(apply_entries(service, [entry, UNKNOWN], apply=False), 404)
    assert applied_values(service) == (True, 0, False)


def test_all_entries_are_changed_or_none(service: Service) -> None:
    """The position of the entry that cannot be applied does not matter."""
    create_group_with_account(service)
    import_entries(service, FEE, CREDIT)
    import_entries(service, replace(FEE, description="of February"), month=LATER)
    later = next(e["id"] for e in list_entries(service, LATER))
    ids = [entry["id"] for entry in list_entries(service)]

    for order in ([*ids, later], [later, *ids]):
        assert read_problem(apply_entries(service, order), 409)["code"] == "month_before_entry"
    assert not any(entry["apply"] for entry in list_entries(service) + list_entries(service, LATER))

    assert apply_entries(service, [*ids, later], month=LATER).status_code == 200
    assert [entry["apply"] for entry in list_entries(service, LATER)] == [True] * 3
    assert apply_entries(service, [*ids, later], apply=False).status_code == 200
    assert not any(entry["apply"] for entry in list_entries(service) + list_entries(service, LATER))


def test_an_id_sent_twice_counts_once(service: Service, entry: str) -> None:
    assert apply_entries(service, [entry, entry]).status_code == 200
    assert applied_values(service) == (True, 0, False)


def test_an_entry_of_an_account_in_no_group_cannot_be_applied(service: Service) -> None:
    import_entries(service, FEE)
    entry = get_only_entry(service)["id"]

    assert read_problem(apply_entries(service, [entry]), 409)["code"] == "entry_without_group"
    create_group_with_account(service)
    assert apply_entries(service, [entry]).status_code == 200


def test_an_applied_entry_can_be_unapplied_after_its_account_was_deleted(
    service: Service, entry: str
) -> None:
    apply_entries(service, [entry])
    path = f"{ACCOUNTS}/aws/{CUSTOMER}|{PAYER}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    assert apply_entries(service, [entry], apply=False).status_code == 200
    assert applied_values(service) == (False, None, False)


def test_an_entry_of_another_vendor_is_not_found(service: Service, entry: str) -> None:
    read_problem(apply_entries(service, [entry], vendor="azure"), 404)
    apply_entries(service, [entry])
    read_problem(apply_entries(service, [entry], vendor="azure", apply=False), 404)
    assert applied_values(service) == (True, 0, False)


def test_an_entry_outside_the_callers_billing_groups_is_not_found(
    service: Service, entry: str
) -> None:
    other = create_group_with_account(service, "000000000002")
    import_entries(
        service, FEE, replace(FEE, customer_id="000000000002"), replace(FEE, customer_id="3")
    )
    without_group, visible, _ = (
        entry["id"] for entry in sorted(list_entries(service), key=_sort_key)
    )
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[other])

    unknown = apply_entries(service, [UNKNOWN], restricted)
    for hidden in (entry, without_group):
        for fields in ({}, {"apply": False}, {"month": EARLIER}):
            response = apply_entries(service, [hidden], restricted, **fields)
            assert read_problem(response, 404)["code"] == read_problem(unknown, 404)["code"]
        read_problem(apply_entries(service, [visible, hidden], restricted), 404)
    assert apply_entries(service, [visible], restricted).status_code == 200


def _sort_key(entry: dict[str, Any]) -> tuple[bool, str]:
    return entry["billinggroup_id"] != "", entry["customer_id"]


def test_an_entry_of_another_organisation_is_not_found(service: Service, entry: str) -> None:
    other = service.new_organisation()

    read_problem(apply_entries(service, [entry], service.root(other)), 404)


# ── closed months ─────────────────────────────────────────────────────────────────────────────────


def test_entries_cannot_be_applied_to_a_closed_month(service: Service, entry: str) -> None:
    close_month(service, MONTH)

    assert read_problem(apply_entries(service, [entry]), 409)["code"] == "month_closed"
    assert apply_entries(service, [entry], month=LATER).status_code == 200


def test_entries_cannot_be_unapplied_from_a_closed_month(service: Service, entry: str) -> None:
    apply_entries(service, [entry], month=LATER)
    close_month(service, LATER)

    for month in (MONTH, LATER):
        response = apply_entries(service, [entry], month=month, apply=False)
        assert read_problem(response, 409)["code"] == "month_closed"
    assert read_problem(apply_entries(service, [entry], month=LATER), 409)["code"] == "month_closed"
    reopen_month(service, LATER)
    assert apply_entries(service, [entry], apply=False).status_code == 200


def test_closing_a_month_for_another_vendor_has_no_effect(service: Service, entry: str) -> None:
    close_month(service, MONTH, "azure")

    assert apply_entries(service, [entry]).status_code == 200


# ── request body ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("field", ["data", "month", "exchange_rate", "tax_free", "apply", "vendor"])
def test_every_field_is_required(field: str) -> None:
    for apply in (True, False):
        body = BODY | {"apply": apply, field: None}
        assert find_body_violations(RecalculationApply, body) == [(field, "required")]


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
def test_every_field_is_validated(field: str, value: Any, violation: tuple[str, str]) -> None:
    assert find_body_violations(RecalculationApply, BODY | {field: value}) == [violation]


def test_all_violations_are_listed_and_nothing_is_applied(service: Service, entry: str) -> None:
    response = service.http.post(PATH, json={"data": [], "month": "x"}, headers=service.root())
    negative_rate = apply_entries(service, [entry], exchange_rate=-1)

    assert read_violations(response) == [
        ("month", "a month as yyyy-mm"),
        ("exchange_rate", "required"),
        ("tax_free", "required"),
        ("apply", "required"),
        ("vendor", "required"),
        ("data", "one id or more"),
    ]
    assert read_violations(negative_rate) == [("exchange_rate", "0 or more")]
    assert applied_values(service) == (False, None, False)


def test_forty_thousand_ids_are_accepted(service: Service, entry: str) -> None:
    unknown_ids = [f"rce_{number}" for number in range(40_000)]

    read_problem(apply_entries(service, [entry, *unknown_ids]), 404)


# ── audit and concurrency ─────────────────────────────────────────────────────────────────────────


def test_applying_is_audited(service: Service, entry: str) -> None:
    apply_entries(service, [entry], exchange_rate=150)

    audit_entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]
    assert (audit_entry["action"], audit_entry["resource"]) == (
        "apply_recalculation",
        f"recalculation/aws/{MONTH}",
    )
    assert audit_entry["sent"]["data"] == [entry]


def test_only_one_of_several_concurrent_requests_applies_the_entry(
    service: Service, entry: str
) -> None:
    rates = list(range(100, 108))

    responses = run_concurrently(
        [lambda rate=rate: apply_entries(service, [entry], exchange_rate=rate) for rate in rates]  # type: ignore[misc]
    )

    winners = [
        rate for rate, response in zip(rates, responses, strict=True) if response.status_code == 200
    ]
    assert len(winners) == 1
    assert {response.status_code for response in responses} == {200, 409}
    assert applied_values(service) == (True, winners[0], False)
