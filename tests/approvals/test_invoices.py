"""Approving invoices before they are sent, and requests inside billing groups.

The tests share one month; each uses groups of its own.
"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.approvals.office import Office, read_code
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser


@pytest.fixture(scope="module")
def shared(running: Service, tmp_path_factory: pytest.TempPathFactory) -> tuple[Office, MonthEnd]:
    running.organisation = running.new_organisation()
    office = Office(running)
    month_end = MonthEnd(running, tmp_path_factory.mktemp("costs"))
    month_end.create_group("BG-0", "000000000001")
    month_end.import_costs(report_line("3", UsageAccountId="000000000001"))
    office.require("invoice_issue")
    return office, month_end


@pytest.fixture
def office(shared: tuple[Office, MonthEnd]) -> Office:
    return shared[0]


@pytest.fixture
def month_end(shared: tuple[Office, MonthEnd]) -> MonthEnd:
    return shared[1]


def create_invoice(office: Office, month_end: MonthEnd, name: str) -> str:
    group = month_end.create_group(name, f"{int.from_bytes(name.encode()):012}")
    month_end.prepare_groups(group)
    renew_invoice(office, month_end, group)
    return group


def renew_invoice(office: Office, month_end: MonthEnd, group: str) -> None:
    created = month_end.create_invoices(group, headers=office.clerk.core)
    assert created.status_code == 200, created.text


def ask(office: Office, revisions: dict[str, int], headers: Any = None) -> Any:
    body = {"vendor": "aws", "revisions": revisions}
    return office.request(
        {"kind": "invoice_issue", "target": {"month": MONTH}, "body": body}, headers
    )


def load_state(office: Office, group: str) -> str:
    state: str = office.succeed("GET", f"/invoices/{MONTH}/{group}/aws/state")["state"]
    return state


def send(office: Office, group: str, revision: int = 1) -> Any:
    return office.send("PUT", f"/invoices/{MONTH}/{group}/aws/sent", {"revision": revision})


def mail(office: Office, *groups: str) -> Any:
    body = {"vendor": "aws", "method": "pdf"} | ({"company_ids": list(groups)} if groups else {})
    return office.send("POST", f"/invoices/{MONTH}/deliveries", body)


def restrict(office: Office, group: str, *actions: RoleAction) -> SubuserAccount:
    return create_subuser(office.service, actions, filters=[("core", "billingGroup", group)])


def test_invoices_are_approved_together_and_then_sent(office: Office, month_end: MonthEnd) -> None:
    first, second = (create_invoice(office, month_end, name) for name in ("A-1", "A-2"))
    refused = read_problem(send(office, first), 409)
    assert refused["violations"] == [{"field": first, "rule": "not_approved"}]

    request = ask(office, {first: 1, second: 1})

    reviewed = request["review"]["invoices"]
    assert [(each["company_id"], each["revision"]) for each in reviewed] == [
        (first, 1),
        (second, 1),
    ]
    assert all(len(each["digest"]) == 64 for each in reviewed)
    assert request["makers"] == [office.clerk.user_id]
    assert office.approve(request).status_code == 200
    assert (load_state(office, first), load_state(office, second)) == ("approved", "approved")
    listed = office.succeed("GET", f"/invoices/{MONTH}/summary?vendor=aws&search=A-1")["invoices"]
    assert [each["state"] for each in listed] == ["approved"]
    assert send(office, first).json()["state"] == "sent"
    again = office.send(
        "POST",
        "/approvals",
        {
            "kind": "invoice_issue",
            "target": {"month": MONTH},
            "body": {"vendor": "aws", "revisions": {first: 1, second: 2}},
        },
    )
    assert read_problem(again, 409)["violations"] == [
        {"field": first, "rule": "already_sent"},
        {"field": second, "rule": "revision_changed"},
    ]


def test_invoices_are_marked_together_only_after_their_approval(
    office: Office, month_end: MonthEnd
) -> None:
    first, second = (create_invoice(office, month_end, name) for name in ("A-3", "A-4"))
    body = {"vendor": "aws", "revisions": {first: 1, second: 1}}
    assert office.approve(ask(office, {first: 1})).status_code == 200

    refused = read_problem(office.send("PUT", f"/invoices/{MONTH}/sent", body), 409)

    assert refused["code"] == "approval_required"
    assert refused["violations"] == [{"field": second, "rule": "not_approved"}]
    assert (load_state(office, first), load_state(office, second)) == ("approved", "created")
    assert office.approve(ask(office, {second: 1})).status_code == 200
    assert len(office.succeed("PUT", f"/invoices/{MONTH}/sent", body)["marked"]) == 2


def test_a_new_revision_has_no_approval(office: Office, month_end: MonthEnd) -> None:
    group = create_invoice(office, month_end, "B-1")
    assert office.approve(ask(office, {group: 1})).status_code == 200

    renew_invoice(office, month_end, group)

    assert load_state(office, group) == "created"
    assert read_code(send(office, group, 2)) == "approval_required"


def test_a_new_revision_refuses_the_approval_of_the_old_one(
    office: Office, month_end: MonthEnd
) -> None:
    group = create_invoice(office, month_end, "C-1")
    request = ask(office, {group: 1})
    renew_invoice(office, month_end, group)

    assert read_code(office.approve(request)) == "not_ready"
    assert load_state(office, group) == "created"


def test_who_created_the_invoice_cannot_approve_it(office: Office, month_end: MonthEnd) -> None:
    group = create_invoice(office, month_end, "D-1")
    month_end.create_invoices(group)  # by the root user
    request = ask(office, {group: 2})

    assert request["makers"] == [office.service.organisation.root_user_id]
    assert read_code(office.approve(request, office.service.root()), 403) == "own_work"


def test_bulk_mail_skips_what_is_not_approved(office: Office, month_end: MonthEnd) -> None:
    group = create_invoice(office, month_end, "E-1")
    contact = {"name": "Aya", "email": "aya@example.com", "receives_invoices": True}
    office.succeed("POST", f"/billinggroup/{group}/contacts", contact)

    named, bulk = mail(office, group), mail(office)

    assert read_problem(named, 409)["code"] == "approval_required"
    skipped = {each["company_id"]: each["problems"] for each in bulk.json()["skipped"]}
    assert skipped[group] == ["not_approved"]
    assert group not in [each["company_id"] for each in bulk.json()["sent"]]
    office.approve(ask(office, {group: 1}))
    assert [each["company_id"] for each in mail(office, group).json()["sent"]] == [group]


def test_the_step_of_the_month_names_what_is_not_approved(
    office: Office, month_end: MonthEnd
) -> None:
    group = create_invoice(office, month_end, "F-1")

    steps = office.succeed("GET", f"/months/{MONTH}?vendor=aws")["steps"]

    states = {step["step"]: step for step in steps}
    assert states["approved"]["state"] == "ready"
    assert group in states["approved"]["blockers"][0]["subjects"]
    assert states["sent"]["state"] == "blocked"


def test_restricted_auditors_see_the_requests_about_their_group(
    office: Office, month_end: MonthEnd
) -> None:
    own, other = (create_invoice(office, month_end, name) for name in ("H-1", "H-2"))
    auditor = restrict(office, own, RoleAction.ReadAudit)
    approved, rejected, withdrawn, foreign, both = (
        ask(office, dict.fromkeys(groups, 1))
        for groups in ([own], [own], [own], [other], [own, other])
    )
    office.approve(approved)
    for request in (rejected, foreign, both):
        office.reject(request)
    office.withdraw(withdrawn)

    rows = office.succeed("GET", "/audit", headers=auditor.core)

    def list_actions(request: Any) -> list[str]:
        resource = f"approval/{request['approval_id']}"
        return [row["action"] for row in rows if row["resource"] == resource]

    assert list_actions(approved) == ["approve_request", "request_approval"]
    assert list_actions(rejected) == ["reject_request", "request_approval"]
    assert list_actions(withdrawn) == ["withdraw_request", "request_approval"]
    assert (list_actions(foreign), list_actions(both)) == ([], [])


def test_restricted_users_see_and_approve_requests_inside_their_groups(
    office: Office, month_end: MonthEnd
) -> None:
    own, other = (create_invoice(office, month_end, name) for name in ("G-1", "G-2"))
    approver = restrict(office, own, RoleAction.ApproveRequests)
    clerk = restrict(office, own, RoleAction.ModifyInvoice)
    inside, foreign, both = (
        ask(office, dict.fromkeys(groups, 1)) for groups in ([own], [other], [own, other])
    )

    listed = office.succeed("GET", "/approvals", headers=approver.core)

    assert [each["approval_id"] for each in listed] == [inside["approval_id"]]
    for hidden in (foreign, both):
        assert office.approve(hidden, approver.core).status_code == 404
        assert office.reject(hidden, approver.core).status_code == 404
    assert office.approve(inside, approver.core).status_code == 200
    closing = {
        "kind": "month_close",
        "target": {"month": MONTH},
        "body": {"vendor": "aws", "override": True, "reason": "x"},
    }
    refused = office.send("POST", "/approvals", closing, clerk.core)
    assert read_code(refused, 403) == "narrowed_caller"
    outside = {
        "kind": "invoice_issue",
        "target": {"month": MONTH},
        "body": {"vendor": "aws", "revisions": {other: 1}},
    }
    assert office.send("POST", "/approvals", outside, clerk.core).status_code == 400
