"""Every kind: refused without approval, whoever asks, and executed once approved.

The tests share one organisation; each kind changes records of its own.
"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approval_kinds import ApprovalKind
from tests.approvals.kinds import CASES, Case, Prepared, prepare
from tests.approvals.office import Office, read_code
from tests.commands.organisation_commands import OrganisationCommands
from tests.running_service import Service

SHARED = {"month_close", "month_reopen", "import_release", "settings", "bank_details"}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)


@pytest.fixture(scope="module")
def prepared(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    running.organisation = running.new_organisation()
    prepared = prepare(Office(running), tmp_path_factory.mktemp("costs"))
    prepared.office.require(*ApprovalKind)
    return prepared


def test_every_kind_is_tested() -> None:
    assert {case.kind for case in CASES} == set(ApprovalKind)


@each_case
def test_the_operation_is_refused_to_everybody(prepared: Prepared, case: Case) -> None:
    office, before = prepared.office, case.observe(prepared)
    method, path, body = case.direct(prepared)

    for headers in (office.clerk.core, office.service.root()):
        response = office.send(method, path, body, headers)

        assert read_code(response) == "approval_required"
        assert f"kind {case.kind}" in response.json()["detail"]
    assert case.observe(prepared) == before


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.command], ids=lambda case: case.kind
)
def test_the_command_line_is_refused(prepared: Prepared, case: Case) -> None:
    before = case.observe(prepared)
    assert case.command is not None

    refused = OrganisationCommands(prepared.office.service).refuse(*case.command(prepared))

    assert "requires the approval of a second person" in refused
    assert case.observe(prepared) == before


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kind in SHARED], ids=lambda case: case.kind
)
def test_what_belongs_to_no_single_group_is_not_requested_by_restricted_users(
    prepared: Prepared, case: Case
) -> None:
    office = prepared.office
    clerk = office.service.caller(RoleAction.Admin, billing_groups=[prepared.unsent])
    request = {"kind": case.kind, "comment": "please"} | case.build_request(prepared)

    refused = office.send("POST", "/approvals", request, clerk)

    assert read_code(refused, 403) == "narrowed_caller"


@each_case
def test_an_approved_request_is_executed_once(prepared: Prepared, case: Case) -> None:
    office, before = prepared.office, case.observe(prepared)

    request = office.request(
        {"kind": case.kind, "comment": "please"} | case.build_request(prepared)
    )

    assert (request["state"], request["can_approve"]) == ("requested", False)
    assert request["review"]
    assert case.observe(prepared) == before
    assert read_code(office.approve(request, office.clerk.core), 403) == "role_action_missing"
    approved = office.approve(request)
    assert approved.status_code == 200, approved.text
    shown = approved.json()
    assert (shown["state"], shown["decided_by"]) == ("approved", office.approver.username)
    assert case.observe(prepared) != before
    assert read_code(office.approve(request)) == "approval_decided"
    _check_audit_rows(office, request["approval_id"])


def _check_audit_rows(office: Office, approval_id: str) -> None:
    """The request, the decision of the approver, and the usual row of the operation."""
    rows = office.succeed("GET", "/audit", headers=office.service.root())
    of_request = [row for row in rows if row["resource"] == f"approval/{approval_id}"]
    decided, requested = of_request
    assert (requested["action"], requested["actor"]) == ("request_approval", office.clerk.user_id)
    assert (decided["action"], decided["actor"]) == ("approve_request", office.approver.user_id)
    (operation,) = [
        row for row in rows if row["request_id"] == decided["request_id"] and row != decided
    ]
    assert operation["actor"] == office.clerk.user_id
    assert operation["sent"]["approval_id"] == approval_id
    assert operation["sent"]["approved_by"] == office.approver.username
