"""Replacing and cancelling a sent invoice, which need the approval of a credit note."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.approvals.office import Office, read_code
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    import_late,
    late_lines,
    path_of,
    prepare_sent_invoice,
)
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_violations
from tests.webhooks.published_events import list_published, subscribe

HIGHER = "1100.1234567890"


@pytest.fixture
def group(office: Office, month_end: MonthEnd) -> str:
    """The company_id of a customer with a sent invoice of an open month."""
    group = prepare_sent_invoice(month_end, closed=False)
    office.require("credit_note", "invoice_issue")
    return group


def build_request(group: str, operation: str) -> Any:
    target = {"month": MONTH, "vendor": "aws", "company_id": group, "operation": operation}
    return {"kind": "credit_note", "target": target, "body": {"reason": REASON}}


def read_state(office: Office, group: str) -> tuple[str, str]:
    state = office.succeed("GET", path_of(group, "/state"))
    return state["invoice_no"], state["state"]


def test_a_replacement_is_executed_once_it_is_approved(
    office: Office, month_end: MonthEnd, group: str
) -> None:
    month_end.prepare_groups(group, discount_rate=Decimal("0.10"))
    for headers in (office.clerk.core, office.service.root()):
        direct = office.send("POST", path_of(group, "/replacement"), {"reason": REASON}, headers)
        assert read_code(direct) == "approval_required"
    subscribe(office.service)

    request = office.request(build_request(group, "replacement"))

    changes = {each["field"]: each for each in request["review"]["changes"]}
    assert (changes["total"]["before"], changes["total"]["after"]) == (190472, 180448)
    assert changes["111111111111 AmazonEC2"]["before"] == 142755
    assert (request["review"]["invoice_no"], request["review"]["reason"]) == ("202609-0001", REASON)
    assert read_state(office, group) == ("202609-0001", "sent")
    assert read_code(office.approve(request, office.clerk.core), 403) == "role_action_missing"
    approved = office.approve(request)
    assert approved.status_code == 200, approved.text
    assert approved.json()["result"] == {"invoice_no": "202609-0002"}
    assert read_state(office, group) == ("202609-0002", "created")
    assert read_code(office.approve(request)) == "approval_decided"
    names = [name for name, _ in list_published(office.service)]
    assert names.count("invoice.created") == 1
    row = office.list_audit(f"invoice/{MONTH}/{group}/aws")[0]
    assert (row["action"], row["actor"]) == ("replace_invoice", office.clerk.user_id)
    assert row["sent"]["approved_by"] == office.approver.username


def test_the_new_invoice_needs_an_approval_of_its_own(office: Office, group: str) -> None:
    office.approve(office.request(build_request(group, "replacement")))

    sent = office.send("PUT", path_of(group, "/sent"), {"revision": 2})

    assert read_code(sent) == "approval_required"
    body = {"vendor": "aws", "revisions": {group: 2}}
    request = office.request({"kind": "invoice_issue", "target": {"month": MONTH}, "body": body})
    assert request["makers"] == [office.clerk.user_id]
    assert office.approve(request).status_code == 200
    assert office.send("PUT", path_of(group, "/sent"), {"revision": 2}).status_code == 200


def test_changed_terms_refuse_the_approval_of_a_replacement(
    office: Office, month_end: MonthEnd, group: str
) -> None:
    request = office.request(build_request(group, "replacement"))
    month_end.prepare_groups(group, discount_rate=Decimal("0.10"))

    assert read_code(office.approve(request)) == "review_changed"

    assert read_state(office, group) == ("202609-0001", "sent")
    assert office.read(request["approval_id"])["state"] == "outdated"


def test_a_text_that_is_not_an_amount_is_part_of_the_review(
    office: Office, month_end: MonthEnd, group: str
) -> None:
    request = office.request(build_request(group, "replacement"))
    changed = month_end.save_settings(group, memo="another memo")
    assert changed.status_code == 200, changed.text

    assert read_code(office.approve(request)) == "review_changed"


def test_a_cancellation_is_executed_once_it_is_approved(office: Office, group: str) -> None:
    direct = office.send("PUT", path_of(group, "/cancelled"), {"reason": REASON})
    assert read_code(direct) == "approval_required"

    request = office.request(build_request(group, "cancellation"))

    assert (request["review"]["invoice_no"], request["review"]["total"]) == ("202609-0001", 190472)
    assert read_state(office, group) == ("202609-0001", "sent")
    assert office.approve(request).status_code == 200
    assert read_state(office, group) == ("202609-0001", "cancelled")
    row = office.list_audit(f"invoice/{MONTH}/{group}/aws")[0]
    assert (row["action"], row["actor"]) == ("cancel_invoice", office.clerk.user_id)


def test_late_costs_replace_an_invoice_once_it_is_approved(
    office: Office, month_end: MonthEnd
) -> None:
    group = prepare_sent_invoice(month_end)
    office.require("credit_note", "invoice_issue")
    late = import_late(month_end, *late_lines(HIGHER))
    decision = {"decision": "replacement", "reason": REASON}
    direct = office.send("POST", f"/costs/imports/{late}/drift/{group}", decision)
    assert read_code(direct) == "approval_required"
    target = {"month": MONTH, "vendor": "aws", "company_id": group, "import_id": late}

    request = office.request({"kind": "credit_note", "target": target, "body": decision})

    assert request["review"]["changes"][0] == {"field": "total", "before": 190472, "after": 208261}
    approved = office.approve(request)
    assert approved.status_code == 200, approved.text
    assert approved.json()["result"] == {"invoice_no": "202609-0002"}
    assert read_state(office, group) == ("202609-0002", "created")
    tie_out = office.succeed("GET", f"/invoices/tie-out/{MONTH}?vendor=aws")
    assert (tie_out["state"], [each["amount"] for each in tie_out["late_costs"]]) == ("ties", [100])
    # who decided about the late costs made the invoice, not who sent the one before
    body = {"vendor": "aws", "revisions": {group: 2}}
    issue = office.request({"kind": "invoice_issue", "target": {"month": MONTH}, "body": body})
    assert issue["makers"] == [office.clerk.user_id]


def test_targets_name_one_operation(office: Office, group: str) -> None:
    unknown = office.send("POST", "/approvals", build_request(group, "deletion"))
    assert read_violations(unknown) == [("target.operation", "replacement or cancellation")]

    both = build_request(group, "replacement")
    both["target"]["import_id"] = "imp_1"
    refused = office.send("POST", "/approvals", both)
    assert read_violations(refused) == [("target.operation", "not with import_id")]
