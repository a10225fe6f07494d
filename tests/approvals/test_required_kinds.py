"""The setting approval_required: nobody turns it on or off alone."""

from __future__ import annotations

from nimbill.access.role_actions import RoleAction
from tests.approvals.office import CLOSE, CLOSING, EMPTY_MONTH, Office, read_code
from tests.commands.organisation_commands import OrganisationCommands
from tests.problem_responses import read_violations
from tests.running_service import Service


def test_two_users_must_be_able_to_approve(service: Service) -> None:
    service.caller(RoleAction.ModifyInvoice)
    service.caller(RoleAction.Admin, organisation=service.new_organisation())

    refused = service.http.put(
        "/m/core/settings", json={"approval_required": ["rates"]}, headers=service.root()
    )

    assert read_code(refused) == "too_few_approvers"
    service.caller(RoleAction.Admin)
    accepted = service.http.put(
        "/m/core/settings", json={"approval_required": ["rates"]}, headers=service.root()
    )
    assert accepted.json()["approval_required"] == ["rates"]


def test_changing_the_setting_needs_an_approval(office: Office) -> None:
    office.require("month_close")

    for kinds in ([], ["month_close", "rates"]):
        body = {"approval_required": kinds}
        for headers in (office.clerk.core, office.service.root()):
            assert read_code(office.send("PUT", "/settings", body, headers)) == "approval_required"
    OrganisationCommands(office.service).refuse("settings", "set", "approval_required=[]")
    office.succeed("PUT", "/settings", {"rounding": "down"})  # needs none

    request = office.request({"kind": "settings", "body": {"approval_required": []}})

    assert request["review"]["changes"] == [
        {"field": "approval_required", "before": ["month_close"], "after": []}
    ]
    assert office.approve(request).status_code == 200
    office.succeed("POST", f"/invoices/close/{EMPTY_MONTH}", CLOSING)


def test_other_kinds_stay_free(office: Office) -> None:
    office.require("month_reopen")

    office.succeed("POST", f"/invoices/close/{EMPTY_MONTH}", CLOSING)

    reopening = {"vendor": "aws", "reason": "again"}
    refused = office.send("POST", f"/invoices/reopen/{EMPTY_MONTH}", reopening)
    assert read_code(refused) == "approval_required"


def test_a_change_of_settings_outdates_a_request_for_others(office: Office) -> None:
    request = office.request({"kind": "settings", "body": {"rounding": "down"}})
    office.succeed("PUT", "/settings", {"language": "en"})

    assert read_code(office.approve(request)) == "review_changed"


def test_a_kind_is_named_once(office: Office) -> None:
    body = {"approval_required": ["rates", "rates"]}
    assert read_violations(office.send("PUT", "/settings", body)) == [
        ("approval_required", "each kind once")
    ]
    unknown = office.send("PUT", "/settings", {"approval_required": ["everything"]})
    assert [field for field, _ in read_violations(unknown)] == ["approval_required[0]"]


def test_approval_can_be_asked_for_without_being_required(office: Office) -> None:
    assert office.approve(office.request(CLOSE)).status_code == 200
    assert office.is_closed()
