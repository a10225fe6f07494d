"""GET /m/core/reseller, and POST /m/core/reseller without a body"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    EMAIL,
    RESELLERS,
    get_only_reseller,
    list_resellers,
    post_reseller,
)
from tests.problem_responses import read_problem
from tests.running_service import Service

RequestList = Callable[[Service, dict[str, str]], httpx.Response]


def by_get(service: Service, headers: dict[str, str]) -> httpx.Response:
    return service.http.get(RESELLERS, headers=headers)


def by_post(service: Service, headers: dict[str, str]) -> httpx.Response:
    return service.http.post(RESELLERS, headers=headers)


def by_post_with_content_type(service: Service, headers: dict[str, str]) -> httpx.Response:
    """Some scripts set the content type on every request."""
    return service.http.post(RESELLERS, headers={**headers, "Content-Type": "application/json;"})


each_request = pytest.mark.parametrize("request_list", [by_get, by_post, by_post_with_content_type])


@each_request
def test_a_record_has_every_specified_field_and_no_other(
    service: Service, company: str, request_list: RequestList
) -> None:
    empty = request_list(service, service.root())
    user_id = post_reseller(service, company).json()["user_id"]

    (record,) = request_list(service, service.root()).json()

    assert (empty.status_code, empty.json()) == (200, [])
    assert record == {
        "user_id": user_id,
        "billinggroup_id": "BG-1",
        "billinggroup_name": "さくら商事",
        "email": EMAIL,
        "company_id": company,
        "update_time": None,
        "password_update_time": None,
        "portal_registered": record["portal_registered"],
        "meta": dict(FLAGS),
    }


def test_times_have_the_utc_offset_of_the_organisation(service: Service, company: str) -> None:
    post_reseller(service, company)

    for time_zone, offset in (("Asia/Tokyo", 9), ("UTC", 0), ("Asia/Kathmandu", 5.75)):
        changed = service.http.put(
            "/m/core/settings", json={"time_zone": time_zone}, headers=service.root()
        )
        assert changed.status_code == 200
        registered = datetime.fromisoformat(get_only_reseller(service)["portal_registered"])
        assert registered.utcoffset() == timedelta(hours=offset)
        assert abs(datetime.now(registered.tzinfo) - registered) < timedelta(minutes=1)


def test_accounts_are_listed_oldest_first(service: Service, company: str) -> None:
    for name in ("c", "a", "b"):
        post_reseller(service, company, email=f"{name}@example.com")

    assert [record["email"][0] for record in list_resellers(service)] == ["c", "a", "b"]


def test_records_show_the_current_name_of_the_group(service: Service, company: str) -> None:
    post_reseller(service, company)
    changes = {"billinggroup_id": "BG-2", "billinggroup_name": "new", "company_name": "c"}
    response = service.http.post(
        f"/m/core/billinggroup/{company}", json=changes, headers=service.root()
    )
    assert response.status_code == 200, response.text

    record = get_only_reseller(service)

    assert (record["billinggroup_id"], record["billinggroup_name"]) == ("BG-2", "new")


@each_request
def test_hidden_and_foreign_accounts_are_not_listed(
    service: Service, company: str, request_list: RequestList
) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    post_reseller(service, company)
    post_reseller(service, hidden, email="hidden@example.com")
    restricted = service.caller(RoleAction.ReadReseller, billing_groups=[company])
    foreign_root = service.root(service.new_organisation())

    assert [record["email"] for record in request_list(service, restricted).json()] == [EMAIL]
    assert len(request_list(service, service.caller(RoleAction.ReadReseller)).json()) == 2
    assert request_list(service, foreign_root).json() == []


@each_request
def test_permission_to_read_or_modify_is_required(
    service: Service, request_list: RequestList
) -> None:
    sufficient = (RoleAction.ReadReseller, RoleAction.ModifyReseller, RoleAction.Admin)
    others = [action for action in RoleAction if action not in sufficient]

    response = request_list(service, service.caller(*others))

    assert read_problem(response, 403)["code"] == "role_action_missing"
    for action in (RoleAction.ReadReseller, RoleAction.ModifyReseller):
        assert request_list(service, service.caller(action)).status_code == 200


def test_listing_by_post_adds_no_audit_row(service: Service, company: str) -> None:
    def count_rows() -> int:
        return len(service.http.get("/m/core/audit", headers=service.root()).json())

    before = count_rows()
    assert by_post(service, service.root()).status_code == 200

    assert count_rows() == before


def test_records_contain_no_password_and_no_hash(service: Service, company: str) -> None:
    password = post_reseller(service, company, input_type="Auto").json()["password"]

    text = by_get(service, service.root()).text

    assert password not in text
    assert "argon2" not in text
