"""GET /m/core/reseller, and POST /m/core/reseller without a body"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from tests.answers import problem_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import EMAIL, RESELLERS, create, listed, the_one
from tests.running_service import Service

Ask = Callable[[Service, dict[str, str]], httpx.Response]


def by_get(service: Service, headers: dict[str, str]) -> httpx.Response:
    return service.http.get(RESELLERS, headers=headers)


def by_post(service: Service, headers: dict[str, str]) -> httpx.Response:
    return service.http.post(RESELLERS, headers=headers)


def by_post_with_a_type(service: Service, headers: dict[str, str]) -> httpx.Response:
    """As scripts do that set the content type on every call."""
    return service.http.post(RESELLERS, headers={**headers, "Content-Type": "application/json;"})


every_way = pytest.mark.parametrize("ask", [by_get, by_post, by_post_with_a_type])


@every_way
def test_an_organisation_without_accounts_has_an_empty_list(service: Service, ask: Ask) -> None:
    answer = ask(service, service.root())

    assert answer.status_code == 200
    assert answer.json() == []


@every_way
def test_a_record_has_every_field_of_the_specification_and_no_other(
    service: Service, company: str, ask: Ask
) -> None:
    user_id = create(service, company).json()["user_id"]

    (record,) = ask(service, service.root()).json()

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


def test_the_moment_of_registration_carries_the_offset_of_the_organisation(
    service: Service, company: str
) -> None:
    create(service, company)

    for zone, offset in (("Asia/Tokyo", 9), ("UTC", 0), ("Asia/Kathmandu", 5.75)):
        changed = service.http.put(
            "/m/core/settings", json={"time_zone": zone}, headers=service.root()
        )
        assert changed.status_code == 200
        registered = datetime.fromisoformat(the_one(service)["portal_registered"])
        assert registered.utcoffset() == timedelta(hours=offset)
        assert abs(datetime.now(registered.tzinfo) - registered) < timedelta(minutes=1)


def test_accounts_come_oldest_first(service: Service, company: str) -> None:
    for name in ("c", "a", "b"):
        create(service, company, email=f"{name}@example.com")

    assert [record["email"][0] for record in listed(service)] == ["c", "a", "b"]


def test_the_group_is_shown_as_it_is_called_now(service: Service, company: str) -> None:
    create(service, company)
    renamed = {"billinggroup_id": "BG-2", "billinggroup_name": "new", "company_name": "c"}
    answer = service.http.post(
        f"/m/core/billinggroup/{company}", json=renamed, headers=service.root()
    )
    assert answer.status_code == 200, answer.text

    record = the_one(service)

    assert (record["billinggroup_id"], record["billinggroup_name"]) == ("BG-2", "new")


@every_way
def test_a_narrowed_caller_sees_the_accounts_of_the_filter_alone(
    service: Service, company: str, ask: Ask
) -> None:
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    create(service, company)
    create(service, hidden, email="hidden@example.com")
    narrowed = service.caller(RoleAction.ReadReseller, billing_groups=[company])

    assert [record["email"] for record in ask(service, narrowed).json()] == [EMAIL]
    assert len(ask(service, service.caller(RoleAction.ReadReseller)).json()) == 2


@every_way
def test_accounts_of_another_organisation_are_not_there(
    service: Service, company: str, ask: Ask
) -> None:
    create(service, company)
    other = service.root(service.new_organisation())

    assert ask(service, other).json() == []


@every_way
@pytest.mark.parametrize("action", [RoleAction.ReadReseller, RoleAction.ModifyReseller])
def test_either_action_suffices(service: Service, ask: Ask, action: RoleAction) -> None:
    assert ask(service, service.caller(action)).status_code == 200


@every_way
def test_any_other_action_does_not(service: Service, ask: Ask) -> None:
    others = [
        action
        for action in RoleAction
        if action not in (RoleAction.ReadReseller, RoleAction.ModifyReseller, RoleAction.Admin)
    ]

    answer = ask(service, service.caller(*others))

    assert problem_of(answer, 403)["code"] == "role_action_missing"


def test_listing_by_post_leaves_no_audit_row(service: Service, company: str) -> None:
    def rows() -> int:
        return len(service.http.get("/m/core/audit", headers=service.root()).json())

    before = rows()
    assert by_post(service, service.root()).status_code == 200

    assert rows() == before


def test_no_record_tells_anything_of_a_password(service: Service, company: str) -> None:
    made = create(service, company, input_type="Auto").json()["password"]

    text = by_get(service, service.root()).text

    assert made not in text
    assert "argon2" not in text
