"""Who may approve, reject and withdraw, and until when."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.approvals import records
from nimbill.approvals.approval_events import expire_requests
from nimbill.approvals.records import approval_requests
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation import clock
from tests.approvals.office import CLOSE, CLOSING, EMPTY_MONTH, Office, read_code
from tests.closing.steps.ready_month import add_import
from tests.command_line import wait_until
from tests.costs.months.month_requests import park_month, run_in_transaction
from tests.held_locks import call_while_locked
from tests.problem_responses import read_violations
from tests.subusers import create_subuser, run_concurrently
from tests.webhooks.published_events import list_published, subscribe


@pytest.fixture
def request_(office: Office) -> Any:
    return office.request(CLOSE)


def test_a_request_shows_what_is_reviewed_and_changes_nothing(office: Office) -> None:
    request = office.request(CLOSE | {"comment": "month end"})

    shown = office.read(request["approval_id"], office.approver.core)
    assert shown == request | {"can_approve": True, "can_withdraw": False}
    assert (shown["comment"], shown["requested_by"]) == ("month end", office.clerk.username)
    assert shown["body"] == CLOSING
    assert shown["review"]["missing"] == [
        {"field": "month", "rule": "no_costs"},
        {"field": "month", "rule": "no_invoices"},
    ]
    assert not office.is_closed()


def test_the_requester_cannot_approve_with_any_permission(office: Office) -> None:
    admin = create_subuser(office.service, [RoleAction.Admin])

    for headers in (office.service.root(), admin.core):
        request = office.request(CLOSE, headers)

        assert request["can_approve"] is False
        assert read_code(office.approve(request, headers), 403) == "own_request"
        assert read_code(office.reject(request, headers), 403) == "own_request"
    assert not office.is_closed()


def test_the_root_user_approves_requests_of_others(office: Office, request_: Any) -> None:
    assert office.approve(request_, office.service.root()).status_code == 200
    assert office.is_closed()


def test_who_made_what_is_reviewed_cannot_approve(office: Office) -> None:
    add_import(office.service, "imp_1", "parked", month=EMPTY_MONTH)  # by the root user
    park_month(office.service, "imp_1", EMPTY_MONTH)
    body = {"kind": "import_release", "target": {"import_id": "imp_1"}, "body": {"reason": "ok"}}
    request = office.request(body)

    refused = office.approve(request, office.service.root())

    assert read_code(refused, 403) == "own_work"
    assert office.read(request["approval_id"], office.service.root())["can_approve"] is False
    assert office.approve(request).status_code == 200


def test_approving_needs_the_hash_that_was_shown(office: Office, request_: Any) -> None:
    refused = office.approve(request_ | {"review_hash": "0" * 64})

    assert read_code(refused) == "review_differs"
    assert not office.is_closed()
    assert office.approve(request_).status_code == 200


def test_a_request_whose_review_has_changed_becomes_outdated(office: Office, request_: Any) -> None:
    park_month(office.service, "imp_1", EMPTY_MONTH)

    refused = office.approve(request_)

    assert read_code(refused) == "review_changed"
    assert not office.is_closed()
    assert office.read(request_["approval_id"])["state"] == "outdated"
    outdated = office.list_audit(f"approval/{request_['approval_id']}")[0]
    assert (outdated["action"], outdated["actor"]) == (
        "outdate_approval",
        office.approver.user_id,
    )
    assert read_code(office.approve(request_)) == "approval_decided"


def test_what_the_operation_refuses_leaves_the_request_open(office: Office, request_: Any) -> None:
    office.succeed("POST", f"/invoices/close/{EMPTY_MONTH}", CLOSING)

    assert read_code(office.approve(request_)) == "month_closed"
    assert office.read(request_["approval_id"])["state"] == "requested"
    refused = office.send("POST", "/approvals", CLOSE)
    assert read_code(refused) == "month_closed"


def test_a_requester_without_the_permission_is_refused(office: Office, request_: Any) -> None:
    reader = create_subuser(office.service, [RoleAction.ModifyCost])
    assert read_code(office.send("POST", "/approvals", CLOSE, reader.core), 403) == (
        "role_action_missing"
    )

    office.service.http.delete(
        f"/m/u/users/{office.clerk.user_id}", headers=office.service.root()
    ).raise_for_status()

    assert read_code(office.approve(request_)) == "requester_not_permitted"
    assert office.reject(request_).status_code == 200


def test_a_request_is_rejected_with_a_reason(office: Office, request_: Any) -> None:
    path = f"/approvals/{request_['approval_id']}/reject"
    empty = office.send("POST", path, {"reason": ""}, office.approver.core)
    assert read_violations(empty) == [("reason", "length 1 to 1000")]

    assert office.reject(request_).status_code == 200

    shown = office.read(request_["approval_id"])
    assert (shown["state"], shown["reason"]) == ("rejected", "not yet")
    assert shown["decided_by"] == office.approver.username
    assert read_code(office.approve(request_)) == "approval_decided"
    assert not office.is_closed()


def test_only_the_requester_withdraws(office: Office, request_: Any) -> None:
    for headers in (office.approver.core, office.service.root()):
        assert office.withdraw(request_, headers).status_code == 404

    assert office.withdraw(request_).status_code == 200

    assert office.read(request_["approval_id"])["state"] == "withdrawn"
    assert read_code(office.approve(request_)) == "approval_decided"
    assert read_code(office.withdraw(request_)) == "approval_decided"


def test_an_expired_request_cannot_be_approved(office: Office, request_: Any) -> None:
    async def expire(db: AsyncConnection, scope: TenantScope) -> None:
        await db.execute(
            sa.update(approval_requests)
            .where(of_tenant(approval_requests, scope))
            .values(expire_time=clock.now() - timedelta(seconds=1))
        )

    run_in_transaction(office.service, expire)

    assert office.read(request_["approval_id"])["state"] == "expired"
    for decide in (office.approve, office.reject, office.withdraw):
        assert read_code(decide(request_)) == "approval_expired"
    assert list_ids(office, "expired") == [request_["approval_id"]]
    assert list_ids(office, "requested") == []

    run_in_transaction(office.service, lambda db, scope: expire_requests(db, scope, at=clock.now()))

    (expired, _) = office.list_audit(f"approval/{request_['approval_id']}")
    assert (expired["action"], expired["actor"]) == ("expire_approval", "")
    assert list_ids(office, "expired") == [request_["approval_id"]]
    assert not office.is_closed()


def test_a_request_is_open_for_seven_days(office: Office, request_: Any) -> None:
    days = [request_[name][:10] for name in ("create_time", "expire_time")]

    assert clock.now().date().isoformat() in days
    assert days[1] > days[0]
    run_in_transaction(
        office.service,
        lambda db, scope: expire_requests(db, scope, at=clock.now() + timedelta(days=6, hours=23)),
    )
    assert office.read(request_["approval_id"])["state"] == "requested"


def test_two_approvers_execute_a_request_once(office: Office, request_: Any) -> None:
    other = create_subuser(office.service, [RoleAction.ApproveRequests])

    responses = run_concurrently(
        [lambda: office.approve(request_), lambda: office.approve(request_, other.core)]
    )

    assert sorted(response.status_code for response in responses) == [200, 409]
    assert len(office.list_audit(f"month/aws/{EMPTY_MONTH}")) == 1


def test_a_second_approver_waits_for_the_first(office: Office, request_: Any) -> None:
    async def lock(db: AsyncConnection, scope: TenantScope) -> None:
        assert await records.lock_request(db, scope, request_["approval_id"]) is not None

    async def decide(db: AsyncConnection, scope: TenantScope) -> None:
        values = {"state": "rejected", "decide_time": clock.now()}
        assert await records.decide_request(db, scope, request_["approval_id"], **values)

    outcome = call_while_locked(
        office.service, lock, lambda: office.approve(request_), change=decide
    )

    assert outcome.waited
    assert read_code(outcome.result) == "approval_decided"


def list_ids(office: Office, state: str | None = None, headers: Any = None) -> list[str]:
    query = "" if state is None else f"?state={state}"
    listed = office.succeed("GET", f"/approvals{query}", headers=headers or office.approver.core)
    return [each["approval_id"] for each in listed]


def test_others_see_their_own_requests_only(office: Office, request_: Any) -> None:
    colleague = create_subuser(office.service, [RoleAction.ModifyInvoice])

    assert list_ids(office, headers=office.clerk.core) == [request_["approval_id"]]
    assert list_ids(office, headers=colleague.core) == []
    path = f"/approvals/{request_['approval_id']}"
    assert office.send("GET", path, headers=colleague.core).status_code == 404


def test_targets_and_bodies_are_checked(office: Office) -> None:
    def send(kind: str, **fields: Any) -> list[tuple[str, str]]:
        return read_violations(office.send("POST", "/approvals", {"kind": kind, **fields}))

    assert send("month_close", body=CLOSING) == [("target.month", "required")]
    assert send("settings", target={"month": EMPTY_MONTH}, body={}) == [
        ("target", "names of this kind only")
    ]
    refused = send(
        "month_close", target={"month": EMPTY_MONTH}, body={"vendor": "aws", "reason": 1}
    )
    assert refused == [("body.reason", "length 1 to 1000")]


def test_each_step_is_announced(office: Office) -> None:
    subscribe(office.service)
    rejected, withdrawn = office.request(CLOSE), office.request(CLOSE)
    office.reject(rejected)
    office.withdraw(withdrawn)
    outdated = office.request(CLOSE)
    park_month(office.service, "imp_1", EMPTY_MONTH)
    office.approve(outdated)
    office.approve(office.request(CLOSE))

    def list_names() -> list[str]:
        return [name for name, _ in list_published(office.service)]

    wait_until(lambda: "approval.approved" in list_names(), "the approval is announced")
    assert list_names() == [
        "approval.requested",
        "approval.requested",
        "approval.rejected",
        "approval.withdrawn",
        "approval.requested",
        "approval.outdated",
        "approval.requested",
        "month.closed",
        "approval.approved",
    ]
