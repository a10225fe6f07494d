"""Builds the response of a stored request."""

from typing import Any

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.bodies import Approval, ApprovalState, ShortApproval
from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock, exact_json


def is_expired(row: Row) -> bool:
    if row.state == ApprovalState.requested:
        return bool(row.expire_time <= clock.now())
    return bool(row.state == ApprovalState.expired)


def show_short_request(row: Row, caller: Caller) -> ShortApproval:
    return ShortApproval(**_build_fields(row, caller))


def show_request(row: Row, caller: Caller) -> Approval:
    return Approval(
        **_build_fields(row, caller),
        body=exact_json.decode_stored(row.body),
        review=exact_json.decode_stored(row.review),
        review_hash=row.review_hash,
        makers=list(row.makers),
        result=exact_json.decode_stored(row.result),
    )


def _build_fields(row: Row, caller: Caller) -> dict[str, Any]:
    state = ApprovalState.expired if is_expired(row) else ApprovalState(row.state)
    is_open, is_own = state is ApprovalState.requested, row.requested_by == caller.user_id
    may_approve = caller.may([RoleAction.ApproveRequests]) and caller.user_id not in row.makers
    return {
        "approval_id": row.approval_id,
        "kind": ApprovalKind(row.kind),
        "state": state,
        "target": exact_json.decode_stored(row.target),
        "comment": row.comment,
        "company_ids": row.company_ids,
        "requested_by": row.requested_by_name,
        "create_time": clock.format_timestamp(row.create_time),
        "expire_time": clock.format_timestamp(row.expire_time),
        "decided_by": row.decided_by_name,
        "decide_time": row.decide_time and clock.format_timestamp(row.decide_time),
        "reason": row.reason,
        "can_approve": is_open and may_approve and not is_own,
        "can_withdraw": is_open and is_own,
    }
