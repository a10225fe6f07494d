"""Credit notes that settle late costs and need an approval."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.approvals.office import Office, read_code
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    figures,
    import_late,
    late_lines,
    path_of,
    prepare_sent_invoice,
)
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_violations
from tests.subusers import SubuserAccount, create_subuser
from tests.webhooks.published_events import list_published, subscribe

LOWER = "900.1234567890"
NEXT_MONTH = "2026-10"


@pytest.fixture
def group(office: Office, month_end: MonthEnd) -> str:
    """The company_id of a customer with a sent invoice of a closed month."""
    group = prepare_sent_invoice(month_end)
    office.require("credit_note")
    return group


@pytest.fixture
def late(month_end: MonthEnd, group: str) -> str:
    """The import_id of late costs of this customer, which the fixture `group` has invoiced."""
    assert group
    return import_late(month_end, *late_lines(LOWER))


def build_request(late: str, group: str, decision: str = "credit_note", **more: str) -> Any:
    target = {"month": MONTH, "vendor": "aws", "company_id": group, "import_id": late}
    body = {"decision": decision, "reason": REASON, **more}
    return {"kind": "credit_note", "target": target, "body": body}


def decide(office: Office, late: str, group: str, decision: str, **more: str) -> Any:
    body = {"decision": decision, "reason": REASON, **more}
    return office.send("POST", f"/costs/imports/{late}/drift/{group}", body)


def list_notes(office: Office, group: str) -> Any:
    return office.succeed("GET", path_of(group, "/credit-notes"))


def read_decision(office: Office, late: str) -> Any:
    (listed,) = office.succeed("GET", f"/costs/imports/{late}/drift")
    return listed["decision"]


def restrict(office: Office, group: str, *actions: RoleAction) -> SubuserAccount:
    return create_subuser(office.service, actions, filters=[("core", "billingGroup", group)])


def test_an_approved_decision_issues_one_note_and_ties_out(
    office: Office, late: str, group: str
) -> None:
    assert read_code(decide(office, late, group, "credit_note")) == "approval_required"
    subscribe(office.service)
    request = office.request(build_request(late, group))

    assert figures(request["review"]) == (15741, 1574, 17315)
    assert (list_notes(office, group), read_decision(office, late)) == ([], None)
    admin = create_subuser(office.service, [RoleAction.Admin])
    own = office.request(build_request(late, group), admin.core)
    assert read_code(office.approve(own, admin.core), 403) == "own_request"
    approved = office.approve(request)
    assert approved.status_code == 200, approved.text

    (note,) = list_notes(office, group)
    assert (note["total"], note["created_by"]) == (17315, office.clerk.username)
    assert approved.json()["result"] == {
        "credit_note_id": note["credit_note_id"],
        "credit_note_no": note["credit_note_no"],
    }
    decision = read_decision(office, late)
    assert (decision["decision"], decision["credit_note_id"]) == (
        "credit_note",
        note["credit_note_id"],
    )
    assert decision["decided_by"] == office.clerk.username
    assert read_code(office.approve(request)) == "approval_decided"
    assert read_code(office.approve(own)) == "already_decided"
    assert len(list_notes(office, group)) == 1
    names = [name for name, _ in list_published(office.service)]
    assert names.count("credit_note.issued") == 1
    tie_out = office.succeed("GET", f"/invoices/tie-out/{MONTH}?vendor=aws")
    assert tie_out["state"] == "ties"
    (settled,) = tie_out["late_costs"]
    assert (settled["import_id"], settled["company_id"]) == (late, group)
    assert (settled["amount"], settled["decision"]) == (-100, "credit_note")


def test_the_audit_log_names_requester_and_approver(office: Office, late: str, group: str) -> None:
    request = office.request(build_request(late, group))
    office.approve(request)

    (row,) = office.list_audit(f"costs/imports/{late}/drift/{group}")

    assert (row["action"], row["actor"]) == ("decide_drift", office.clerk.user_id)
    assert row["sent"]["approval_id"] == request["approval_id"]
    assert row["sent"]["approved_by"] == office.approver.username
    assert row["sent"]["decision"] == "credit_note"


def test_another_decision_in_between_refuses_the_approval(
    office: Office, late: str, group: str
) -> None:
    request = office.request(build_request(late, group))
    assert decide(office, late, group, "dismissed").status_code == 201

    assert read_code(office.approve(request)) == "already_decided"

    assert list_notes(office, group) == []
    assert office.read(request["approval_id"])["state"] == "requested"


def test_decisions_without_a_note_are_not_requested(office: Office, late: str, group: str) -> None:
    body = build_request(late, group, "entry", entry_month=NEXT_MONTH)

    refused = office.send("POST", "/approvals", body)

    assert read_violations(refused) == [("body.decision", "credit_note or replacement")]
    assert decide(office, late, group, "entry", entry_month=NEXT_MONTH).status_code == 201


def test_an_approver_of_the_group_approves_the_decision(
    office: Office, late: str, group: str
) -> None:
    """The approver does not see imports; the operation is executed for its requester, who does."""
    approver = restrict(office, group, RoleAction.ApproveRequests)
    request = office.request(build_request(late, group))

    approved = office.approve(request, approver.core)

    assert approved.status_code == 200, approved.text
    assert len(list_notes(office, group)) == 1


def test_a_restricted_clerk_cannot_request_a_decision(
    office: Office, late: str, group: str
) -> None:
    clerk = restrict(office, group, RoleAction.ModifyInvoice)

    refused = office.send("POST", "/approvals", build_request(late, group), clerk.core)

    assert refused.status_code == 404
