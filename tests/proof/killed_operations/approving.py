"""Approve a request of another user, which issues a credit note."""

from __future__ import annotations

import time
from typing import Any

import httpx

from tests.proof.killed_operations.operation import (
    SECONDS_MAX,
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    CORE,
    create_invoice,
    create_starting_records,
    find_group,
    send_invoice,
)
from tests.proof.real_server import PASSWORD

MONTH = "2026-04"  # no other operation creates invoices of this month
APPROVER = "approver"


class Approving(Operation):
    """The root user requests, a subuser approves."""

    name = "approval"
    answer = 200
    visible_state = (
        # without open requests, which are created before the operation
        stored(
            "approval_requests",
            "kind, state, result::json ->> 'credit_note_no'",
            "state <> 'requested'",
        ),
        stored("credit_notes", "issue_month, number, total::text", f"month = '{MONTH}'"),
        stored("credit_note_counters", "issue_month, last_number"),
        stored(
            "webhook_events", "event_type, count(*)", "event_type = 'credit_note.issued' GROUP BY 1"
        ),
        audited("approve_request"),
        audited("issue_credit_note"),
    )

    def __init__(self) -> None:
        self._headers: dict[str, dict[str, str]] = {}  # of the approver, by organisation

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)
        group = find_group(organisation)
        create_invoice(organisation, group, MONTH)
        send_invoice(organisation, group, MONTH)
        role = {"name": APPROVER, "namespace": "core", "permissions": ["ApproveRequests"]}
        self._send(organisation, "/m/auth/rbac/roles", role)
        user = {"username": APPROVER, "password": PASSWORD, "notification": {"email": "false"}}
        user_id = self._send(organisation, "/m/u/users", user)["user_id"]
        roles = [{"namespace": "core", "role": APPROVER}]
        mapping = {"user_id": user_id, "roles": roles, "filters": []}
        self._send(organisation, "/m/auth/rbac/userroles", mapping)
        form = {"grant_type": "password", "username": APPROVER, "password": PASSWORD}
        answer = organisation.request_until_answered(
            "POST", "/core/access_token", data=organisation.client | form
        )
        token = answer.json()["access_token"]
        self._headers[organisation.organisation_id] = {"Authorization": f"Bearer {token}"}

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        amounts = [{"description": "returned", "amount": number, "tax_free": False}]
        request = {
            "kind": "credit_note",
            "target": {"month": MONTH, "vendor": "aws", "company_id": find_group(organisation)},
            "body": {"kind": "manual", "reason": "returned", "amounts": amounts},
        }
        answer = organisation.send_with_key(
            KeyedRequest(f"{CORE}/approvals", request, f"request-{number}")
        )
        assert answer.status_code == 201, answer.text
        requested = answer.json()
        return KeyedRequest(
            f"{CORE}/approvals/{requested['approval_id']}/approve",
            {"review_hash": requested["review_hash"]},
            f"approve-{number}",
            headers=self._headers[organisation.organisation_id],
        )

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        """A job announces the approval; it does so once."""
        if answer.status_code != self.answer:
            return f"answered {answer.text[:200]}"
        approval_id = answer.json()["approval_id"]
        is_announcement = f"event_type = 'approval.approved' AND payload LIKE '%{approval_id}%'"
        events = stored("webhook_events", "event_id", is_announcement)
        waiting = stored("jobs", "job_id", f"subject = '{approval_id}' AND state <> 'done'")
        until = time.monotonic() + SECONDS_MAX
        while organisation.fetch(waiting):
            if time.monotonic() > until:
                return "the approval was not announced"
            time.sleep(0.05)
        found = len(organisation.fetch(events))
        return None if found == 1 else f"the approval was announced {found} times"

    def _send(self, organisation: Organisation, path: str, body: dict[str, Any]) -> Any:
        answer = organisation.send_with_key(KeyedRequest(path, body, f"approver{path}"))
        assert answer.is_success, answer.text
        return answer.json()
