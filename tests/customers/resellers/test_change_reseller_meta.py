"""PUT /m/core/reseller/{user_id}/meta"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    RESELLERS,
    change_meta,
    create_reseller,
    get_only_reseller,
    log_in,
    post_reseller,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently


@pytest.fixture
def user_id(service: Service, company: str) -> str:
    """An account with the default flags."""
    user_id: str = post_reseller(service, company).json()["user_id"]
    return user_id


def test_absent_flags_keep_their_value(service: Service, company: str) -> None:
    initial = {"invoice": True, "usage_tag": False}
    user_id = post_reseller(service, company, meta=initial).json()["user_id"]

    change_meta(service, user_id, budgetalerts=True)
    response = change_meta(service, user_id, usage_group=False)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    changes = {"budgetalerts": True, "usage_group": False}
    assert get_only_reseller(service)["meta"] == {**FLAGS, **initial, **changes}


def test_every_flag_can_be_changed(service: Service, user_id: str) -> None:
    for value in (True, False):
        assert change_meta(service, user_id, **dict.fromkeys(FLAGS, value)).status_code == 200

        assert get_only_reseller(service)["meta"] == dict.fromkeys(FLAGS, value)


def test_an_empty_object_changes_nothing(service: Service, user_id: str) -> None:
    assert change_meta(service, user_id).status_code == 200

    assert get_only_reseller(service)["meta"] == dict(FLAGS)


def test_the_change_sets_only_the_update_time(service: Service, user_id: str) -> None:
    change_meta(service, user_id, invoice=True)

    record = get_only_reseller(service)

    update_time = datetime.fromisoformat(record["update_time"])
    assert update_time.utcoffset() == timedelta(hours=9)
    assert abs(datetime.now(update_time.tzinfo) - update_time) < timedelta(minutes=1)
    assert record["password_update_time"] is None


def test_null_keeps_a_flag_and_the_alias_changes_it(service: Service, user_id: str) -> None:
    change_meta(service, user_id, invoice=True)

    response = change_meta(service, user_id, invoice=None, aqua_link=True)

    assert response.status_code == 200
    assert get_only_reseller(service)["meta"] == {**FLAGS, "invoice": True, "aq_link": True}


def test_a_refused_request_changes_nothing(service: Service, user_id: str) -> None:
    response = change_meta(service, user_id, invoice="true", usage_tag=False, unknown=True)

    assert read_violations(response) == [
        ("meta.unknown", "not a known flag"),
        ("meta.invoice", "true or false"),
    ]
    assert get_only_reseller(service)["meta"] == dict(FLAGS)
    assert get_only_reseller(service)["update_time"] is None


def test_concurrent_changes_of_different_flags_are_all_kept(service: Service, user_id: str) -> None:
    hidden = [name for name, visible in FLAGS.items() if not visible][:8]

    responses = run_concurrently(
        [partial(change_meta, service, user_id, **{name: True}) for name in hidden]
    )

    assert {response.status_code for response in responses} == {200}
    assert get_only_reseller(service)["meta"] == {**FLAGS, **dict.fromkeys(hidden, True)}


def test_a_change_applies_to_the_next_request_of_the_account(
    service: Service, company: str
) -> None:
    reseller = create_reseller(service, company)

    for value in (True, False, True):
        change_meta(service, reseller.user_id, users_management=value)
        status = service.http.get("/m/u/users", headers=reseller.portal).status_code
        assert status == (200 if value else 403)


def test_a_change_does_not_log_the_account_out(service: Service, company: str) -> None:
    reseller = create_reseller(service, company)

    change_meta(service, reseller.user_id, invoice=True)

    assert service.http.get("/m/portal/me", headers=reseller.portal).status_code == 200
    assert log_in(service, reseller.email).status_code == 200


def test_unknown_hidden_and_foreign_accounts_are_not_found(service: Service, user_id: str) -> None:
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    for name in ("usr_unknown", service.organisation.root_user_id):
        assert read_problem(change_meta(service, name, invoice=True), 404)
    for headers in (restricted, service.root(service.new_organisation())):
        response = service.http.put(
            f"{RESELLERS}/{user_id}/meta", json={"meta": {"invoice": True}}, headers=headers
        )
        assert read_problem(response, 404)["code"] == "not_found"
    assert get_only_reseller(service)["meta"]["invoice"] is False
