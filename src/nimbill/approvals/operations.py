"""Requests, approves, rejects and withdraws: the checks in order, then the change."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import BILLING_GROUPS, load_effective_permissions
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import RoleAction
from nimbill.approvals import records
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_events import announce, announce_later
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.bodies import (
    Approval,
    ApprovalRequestBody,
    ApprovalState,
    ShortApproval,
)
from nimbill.approvals.requirement import ApprovedRequest
from nimbill.audit import records as audit
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import calendar_month, clock, exact_json
from nimbill.foundation.errors import (
    Conflict,
    Invalid,
    NotPermitted,
    Violation,
    not_found,
    refuse_if,
    rule_violations_error,
)
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.http.request_bodies import mentions_vendor, parse_body
from nimbill.identity.users.records import find_user
from nimbill.webhooks.event_types import WebhookEventType

LIFETIME = timedelta(days=7)


class ReviewChanged(Conflict):
    """The request cannot be approved any more; the caller of `approve` marks it as outdated."""

    def __init__(self) -> None:
        super().__init__(
            "review_changed",
            "What was reviewed has changed since the request, so nothing was done. The request is "
            "outdated: make a new one.",
        )


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


class ApprovalPage(NamedTuple):
    approvals: list[ShortApproval]
    total: int


async def list_requests(
    db: AsyncConnection,
    caller: Caller,
    query: ListQuery,
    state: ApprovalState | None,
    kind: ApprovalKind | None,
) -> ApprovalPage:
    """Callers who may not approve see their own requests."""
    own = None if caller.may([RoleAction.ApproveRequests]) else caller.user_id
    selection = records.ApprovalSelection(state, kind, own, clock.now())
    rows, total = await records.list_requests(db, caller.scope, selection, query)
    return ApprovalPage([show_short_request(row, caller) for row in rows], total)


async def read_request(db: AsyncConnection, caller: Caller, approval_id: str) -> Approval:
    row = await records.find_request(db, caller.scope, approval_id)
    if row is None or not _is_visible(row, caller):
        raise not_found()
    return show_request(row, caller)


def _is_visible(row: Row, caller: Caller) -> bool:
    return caller.may([RoleAction.ApproveRequests]) or row.requested_by == caller.user_id


# ── requesting ───────────────────────────────────────────────────────────────────────────────────


async def request_approval(
    db: AsyncConnection, caller: Caller, resources: Resources, body: ApprovalRequestBody
) -> Approval:
    """Try the operation, keep what it saw, and undo it."""
    operation = resources.hooks.approvable_operations[body.kind]
    _refuse_requester(caller, operation)
    target = _read_target(operation, body)
    parsed = await _parse(db, caller.scope, resources, operation, target, body.body)
    sent = _read_sent_fields(parsed)
    approval_id, now = new_id("apr"), clock.now()
    outcome = await _try(
        Execution(
            db=db,
            scope=caller.scope,
            resources=resources,
            target=target,
            body=parsed,
            approved=ApprovedRequest(approval_id, body.kind),
            by=caller.username,
        ),
        operation,
    )
    company_ids = None if outcome.company_ids is None else sorted(outcome.company_ids)
    values = {
        "approval_id": approval_id,
        "kind": body.kind,
        "state": ApprovalState.requested,
        "target": _encode(target),
        "body": _encode(sent),
        "review": _encode(outcome.review),
        "review_hash": hash_review(body.kind, target, sent, outcome.review, outcome.makers),
        "result": "{}",
        "comment": body.comment or "",
        "company_ids": company_ids,
        "makers": sorted(outcome.makers),
        "requested_by": caller.user_id,
        "requested_by_name": caller.username,
        "create_time": now,
        "expire_time": now + LIFETIME,
    }
    await records.add_request(db, caller.scope, values)
    event = WebhookEventType.approval_requested
    await announce(db, caller.scope, event, approval_id, body.kind)
    return await read_request(db, caller, approval_id)


def _refuse_requester(caller: Caller, operation: ApprovableOperation) -> None:
    """Requesting needs the permission of the operation itself."""
    if not caller.may(operation.role_actions):
        raise NotPermitted(
            "role_action_missing",
            f"This kind needs one of these permissions: {', '.join(operation.role_actions)}.",
        )
    if operation.is_shared and caller.scope.billing_groups is not None:
        raise NotPermitted(
            "narrowed_caller",
            "Users restricted to certain billing groups cannot request a change of what belongs "
            "to no single one of them. Ask a user without this restriction.",
        )


def _read_target(operation: ApprovableOperation, body: ApprovalRequestBody) -> dict[str, str]:
    target = dict(body.target or {})
    missing = sorted(operation.target_fields - target.keys())
    unknown = target.keys() - operation.target_fields - operation.optional_fields
    month = target.get("month")
    is_month = month is None or re.fullmatch(calendar_month.PATTERN, month) is not None
    refuse_if(
        [Violation(f"target.{name}", "required") for name in missing]
        + ([Violation("target", "names of this kind only")] if unknown else [])
        + ([] if is_month else [Violation("target.month", calendar_month.RULE)])
    )
    return target


async def _parse(
    db: AsyncConnection,
    scope: TenantScope,
    resources: Resources,
    operation: ApprovableOperation,
    target: Mapping[str, str],
    sent: Mapping[str, Any],
) -> Any:
    """Vendors stay enabled until the transaction ends, as in the route of the operation.

    The settings name none: locking them for reading first could deadlock with another change.
    """
    body_type = operation.choose_body(target)
    vendors: Sequence[str] = BILLED_VENDORS
    if mentions_vendor(body_type):
        vendors = await resources.hooks.load_vendors(db, scope, True)
    try:
        return parse_body(body_type, sent, vendors)
    except Invalid as error:
        raise rule_violations_error(
            [Violation(f"body.{each.field}", each.rule) for each in error.violations]
        ) from None


def _read_sent_fields(parsed: Any) -> dict[str, Any]:
    """Return the fields that the operation knows; null means absent."""
    fields = ((name, getattr(parsed, name)) for name in parsed.__struct_fields__)
    return {name: value for name, value in fields if value is not None}


async def _try(execution: Execution, operation: ApprovableOperation) -> PerformedOperation:
    """Whatever the operation refuses is refused here too. The rollback releases its locks."""
    savepoint = await execution.db.begin_nested()
    try:
        return await operation.perform(execution)
    finally:
        await savepoint.rollback()


def _encode(value: object) -> str:
    return exact_json.encode(value).decode()


# ── deciding ─────────────────────────────────────────────────────────────────────────────────────


async def approve(
    db: AsyncConnection,
    caller: Caller,
    resources: Resources,
    approval_id: str,
    review_hash: str,
    *,
    request_id: str,
) -> Approval:
    """Execute the operation for its requester, if what it sees is what was reviewed.

    The lock of the request makes a second approver wait and fail.
    """
    row = await _lock_open_request(db, caller, approval_id)
    _refuse_maker(row, caller)
    if review_hash != row.review_hash:
        raise Conflict(
            "review_differs", "This is not the review hash of the request. Read it again."
        )
    operation = resources.hooks.approvable_operations[ApprovalKind(row.kind)]
    scope = await load_requester_scope(db, caller.scope, row, operation)
    target, body = exact_json.decode_stored(row.target), exact_json.decode_stored(row.body)
    outcome = await operation.perform(
        Execution(
            db=db,
            scope=scope,
            resources=resources,
            target=target,
            body=await _parse(db, scope, resources, operation, target, body),
            approved=ApprovedRequest(approval_id, ApprovalKind(row.kind)),
            by=row.requested_by_name,
        )
    )
    if hash_review(row.kind, target, body, outcome.review, outcome.makers) != row.review_hash:
        raise ReviewChanged
    await _decide(db, caller, row, ApprovalState.approved, result=_encode(outcome.result))
    # The operation has published its own events in this transaction.
    await announce_later(db, caller.scope, approval_id)
    await audit.append_entry(
        db,
        actor=row.requested_by,
        actor_name=row.requested_by_name,
        action=outcome.action,
        resource=outcome.resource,
        company_id=outcome.company_id,
        request_id=request_id,
        sent={**body, "approval_id": approval_id, "approved_by": caller.username},
    )
    return await read_request(db, caller, approval_id)


async def reject(db: AsyncConnection, caller: Caller, approval_id: str, reason: str) -> Approval:
    """A requester withdraws instead of rejecting."""
    row = await _lock_open_request(db, caller, approval_id)
    _refuse_maker(row, caller)
    await _decide(db, caller, row, ApprovalState.rejected, reason=reason)
    event = WebhookEventType.approval_rejected
    await announce(db, caller.scope, event, approval_id, row.kind)
    return await read_request(db, caller, approval_id)


async def withdraw(db: AsyncConnection, caller: Caller, approval_id: str) -> Approval:
    row = await records.lock_request(db, caller.scope, approval_id)
    if row is None or row.requested_by != caller.user_id:
        raise not_found()
    _refuse_decided(row)
    await _decide(db, caller, row, ApprovalState.withdrawn)
    event = WebhookEventType.approval_withdrawn
    await announce(db, caller.scope, event, approval_id, row.kind)
    return await read_request(db, caller, approval_id)


async def mark_outdated(
    engine: AsyncEngine, scope: TenantScope, approval_id: str, actor: Mapping[str, Any]
) -> None:
    """Use a transaction of its own, after the one of the refused approval was rolled back."""
    async with transaction(engine, scope.organisation_id) as db:
        row = await records.lock_request(db, scope, approval_id)
        if row is None or row.state != ApprovalState.requested:
            return
        await records.decide_request(
            db, scope, approval_id, state=ApprovalState.outdated, decide_time=clock.now()
        )
        event = WebhookEventType.approval_outdated
        await announce(db, scope, event, approval_id, row.kind)
        await audit.append_entry(
            db,
            actor=actor["actor"],
            actor_name=actor["actor_name"],
            client_id=actor.get("client_id"),
            request_id=actor["request_id"],
            action="outdate_approval",
            resource=f"approval/{approval_id}",
            company_id=find_company_id(row),
        )


def find_company_id(row: Row) -> str | None:
    """Return the billing group of a request that concerns one, for the audit log."""
    return row.company_ids[0] if row.company_ids and len(row.company_ids) == 1 else None


async def _lock_open_request(db: AsyncConnection, caller: Caller, approval_id: str) -> Row:
    row = await records.lock_request(db, caller.scope, approval_id)
    if row is None:
        raise not_found()
    _refuse_decided(row)
    return row


def _refuse_decided(row: Row) -> None:
    if is_expired(row):
        raise Conflict("approval_expired", "The request has expired. Make a new one.")
    if row.state != ApprovalState.requested:
        raise Conflict(
            "approval_decided", "The request is not open any more: it was decided or withdrawn."
        )


def _refuse_maker(row: Row, caller: Caller) -> None:
    """Neither the root user nor any permission is exempt."""
    if caller.user_id == row.requested_by:
        raise NotPermitted(
            "own_request", "You made this request. Another person has to decide about it."
        )
    if caller.user_id in row.makers:
        raise NotPermitted(
            "own_work",
            "You made what is reviewed here. A person who did not has to decide about it.",
        )


async def _decide(
    db: AsyncConnection, caller: Caller, row: Row, state: ApprovalState, **values: Any
) -> None:
    is_decided = await records.decide_request(
        db,
        caller.scope,
        row.approval_id,
        state=state,
        decided_by=caller.user_id,
        decided_by_name=caller.username,
        decide_time=clock.now(),
        **values,
    )
    assert is_decided, "the caller holds the lock of an open request"


async def load_requester_scope(
    db: AsyncConnection, scope: TenantScope, row: Row, operation: ApprovableOperation
) -> TenantScope:
    """Return what the requester sees, for whom the operation is executed.

    Refuse if the requester has lost the permission since. The approver may see less: somebody
    restricted to billing groups sees no imports, but can approve a credit note for late costs.
    """
    user = await find_user(db, scope, row.requested_by)
    if user is not None and user.kind == UserKind.root:
        return TenantScope(scope.organisation_id)
    if user is not None:
        effective = await load_effective_permissions(db, scope, user.user_id)
        has_action = any(
            effective.includes(Product.core, frozenset({action}))
            for action in operation.role_actions
        )
        groups = effective.filters.get(BILLING_GROUPS)
        sees_groups = groups is None or (
            row.company_ids is not None and groups.issuperset(row.company_ids)
        )
        if has_action and sees_groups:
            return TenantScope(scope.organisation_id, groups)
    raise Conflict(
        "requester_not_permitted",
        "The requester may not do this any more. Reject the request.",
    )


def hash_review(
    kind: str,
    target: Mapping[str, str],
    body: Any,
    review: Mapping[str, Any],
    makers: Collection[str],
) -> str:
    """SHA-256 over canonical JSON: equal contents have equal hashes, whatever their order."""
    content = {
        "kind": kind,
        "target": dict(target),
        "body": body,
        "review": review,
        "makers": sorted(makers),
    }
    # encoded once before, so that structs and enums are plain values as in the database
    plain = exact_json.decode_stored(exact_json.encode(content).decode())
    return sha256(exact_json.encode_canonical(plain)).hexdigest()


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
