"""GET /m/core/invoices/exchangerate/{month}"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.invoicing.month_end import MONTH, MonthEnd


@pytest.fixture(scope="module")
def groups(shared_month_end: MonthEnd) -> list[str]:
    """Two groups with a rate and one with settings only."""
    groups = [shared_month_end.create_group(f"BG-{number}") for number in (1, 2, 3)]
    shared_month_end.save_settings(*groups)
    shared_month_end.save_rate(*groups[:2])
    return groups


def list_rates(month_end: MonthEnd, query: str = "", headers: Any = None) -> Any:
    response = month_end.get(f"/invoices/exchangerate/{MONTH}{query}", headers)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def test_a_rate_is_listed_with_who_saved_it_and_when(
    shared_month_end: MonthEnd, groups: list[str]
) -> None:
    clerk = shared_month_end.service.caller(RoleAction.ModifyInvoice)
    assert (
        shared_month_end.save_rate(groups[1], rate=Decimal("151.5"), headers=clerk).status_code
        == 200
    )
    shared_month_end.save_settings(*groups, discount_rate=0)
    (saving,) = [
        entry
        for entry in shared_month_end.get("/audit").json()
        if entry["action"] == "save_exchange_rates"
        and entry["actor_name"] != shared_month_end.service.organisation.username
    ]

    first, second = list_rates(shared_month_end)

    assert first["saved_by"] == shared_month_end.service.organisation.username
    assert first["saved_time"] < second["saved_time"]
    assert second.pop("saved_time")[:10] == saving["at"][:10]
    assert second == {
        "company_id": groups[1],
        "billinggroup_id": "BG-2",
        "billinggroup_name": second["billinggroup_name"],
        "vendor": "aws",
        "exchange_rate": Decimal("151.5"),
        "saved_by": saving["actor_name"],
    }


def test_rates_are_listed_by_vendor_and_page(shared_month_end: MonthEnd, groups: list[str]) -> None:
    everything = list_rates(shared_month_end)

    assert list_rates(shared_month_end, "?vendor=azure") == []
    assert list_rates(shared_month_end, "?vendor=aws&limit=1&offset=1") == everything[1:2]


def test_a_restricted_caller_sees_rates_of_its_groups_only(
    shared_month_end: MonthEnd, groups: list[str]
) -> None:
    headers = shared_month_end.service.caller(RoleAction.ReadInvoice, billing_groups=groups[1:])

    assert [rate["company_id"] for rate in list_rates(shared_month_end, headers=headers)] == [
        groups[1]
    ]
