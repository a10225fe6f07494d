"""PUT /m/core/reseller/{user_id}/meta"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import (
    RESELLERS,
    change_meta,
    create,
    log_in,
    new_reseller,
    the_one,
)
from tests.people import all_at_once
from tests.running_service import Service


@pytest.fixture
def user_id(service: Service, company: str) -> str:
    made: str = create(service, company).json()["user_id"]
    return made


def test_the_answer_is_the_status(service: Service, user_id: str) -> None:
    answer = change_meta(service, user_id, invoice=True)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}


def test_flags_that_are_not_sent_keep_their_value(service: Service, company: str) -> None:
    started = {"invoice": True, "usage_tag": False}
    user_id = create(service, company, meta=started).json()["user_id"]

    change_meta(service, user_id, budgetalerts=True)
    change_meta(service, user_id, usage_group=False)

    changed = {"budgetalerts": True, "usage_group": False}
    assert the_one(service)["meta"] == {**FLAGS, **started, **changed}


@pytest.mark.parametrize("value", [True, False])
def test_every_flag_can_be_changed(service: Service, user_id: str, value: bool) -> None:
    assert change_meta(service, user_id, **dict.fromkeys(FLAGS, value)).status_code == 200

    assert the_one(service)["meta"] == dict.fromkeys(FLAGS, value)


def test_no_flag_sent_changes_none(service: Service, user_id: str) -> None:
    assert change_meta(service, user_id).status_code == 200

    assert the_one(service)["meta"] == dict(FLAGS)


def test_the_change_is_noted_and_the_password_is_not(service: Service, user_id: str) -> None:
    change_meta(service, user_id, invoice=True)

    record = the_one(service)

    moment = datetime.fromisoformat(record["update_time"])
    assert moment.utcoffset() == timedelta(hours=9)
    assert abs(datetime.now(moment.tzinfo) - moment) < timedelta(minutes=1)
    assert record["password_update_time"] is None


@pytest.mark.parametrize(
    ("sent", "violation"),
    [
        ({}, ("meta", "required")),
        ({"meta": None}, ("meta", "required")),
        ({"meta": []}, ("meta", "an object")),
        ({"meta": "invoice"}, ("meta", "an object")),
        ({"invoice": True}, ("meta", "required")),
        ({"meta": {"unheard_of": True}}, ("meta", "known flags only")),
        ({"meta": {"invoice": True, "unheard_of": 1}}, ("meta", "known flags only")),
        ({"meta": {"invoice": "true"}}, ("meta.invoice", "true or false")),
        ({"meta": {"invoice": 1}}, ("meta.invoice", "true or false")),
        ({"meta": {"invoice": None}}, ("meta.invoice", "true or false")),
        ({"meta": {"aq_link": "x"}}, ("meta.aq_link", "true or false")),
    ],
)
def test_what_is_no_set_of_flags_is_refused_and_changes_nothing(
    service: Service, user_id: str, sent: Any, violation: tuple[str, str]
) -> None:
    answer = service.http.put(f"{RESELLERS}/{user_id}/meta", json=sent, headers=service.root())

    assert violations_of(answer) == [violation]
    assert the_one(service)["meta"] == dict(FLAGS)
    assert the_one(service)["update_time"] is None


def test_changes_at_the_same_time_are_all_kept(service: Service, user_id: str) -> None:
    hidden = [name for name, shown in FLAGS.items() if not shown][:8]
    root = service.root()

    def changing(name: str) -> Any:
        return lambda: service.http.put(
            f"{RESELLERS}/{user_id}/meta", json={"meta": {name: True}}, headers=root
        )

    answers = all_at_once([changing(name) for name in hidden])

    assert {answer.status_code for answer in answers} == {200}
    assert the_one(service)["meta"] == {**FLAGS, **dict.fromkeys(hidden, True)}


def test_a_change_holds_on_the_very_next_request_of_the_account(
    service: Service, company: str
) -> None:
    reseller = new_reseller(service, company)

    for value in (True, False, True):
        change_meta(service, reseller.user_id, users_management=value)
        status = service.http.get("/m/u/users", headers=reseller.portal).status_code
        assert status == (200 if value else 403)


def test_the_account_stays_logged_in(service: Service, company: str) -> None:
    reseller = new_reseller(service, company)

    change_meta(service, reseller.user_id, invoice=True)

    assert service.http.get("/m/portal/me", headers=reseller.portal).status_code == 200
    assert log_in(service, reseller.email).status_code == 200


def test_an_account_that_is_not_there_is_404(service: Service, user_id: str) -> None:
    for name in ("usr_never_was", service.organisation.root_user_id):
        assert problem_of(change_meta(service, name, invoice=True), 404)


def test_an_account_of_a_hidden_group_or_another_organisation_is_404(
    service: Service, user_id: str
) -> None:
    visible = create_group(service, service.root(), billinggroup_id="visible")
    narrowed = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    for headers in (narrowed, service.root(service.new_organisation())):
        answer = service.http.put(
            f"{RESELLERS}/{user_id}/meta", json={"meta": {"invoice": True}}, headers=headers
        )
        assert problem_of(answer, 404)["code"] == "not_found"
    assert the_one(service)["meta"]["invoice"] is False


def test_reading_is_not_enough(service: Service, user_id: str) -> None:
    reader = service.caller(RoleAction.ReadReseller)

    answer = service.http.put(f"{RESELLERS}/{user_id}/meta", json={"meta": {}}, headers=reader)

    assert problem_of(answer, 403)["code"] == "role_action_missing"
