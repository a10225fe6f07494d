"""Approvals over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from nimbill.access.gate import Audience, Changes
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import ANY_CALLER, RoleAction
from nimbill.approvals import operations
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.bodies import (
    Approval,
    ApprovalDecision,
    ApprovalRejection,
    ApprovalRequestBody,
    ApprovalState,
    ShortApproval,
)
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    describe_actor,
    get,
    post,
)

ApprovalSort = Literal[
    "create_time",
    "-create_time",
    "expire_time",
    "-expire_time",
    "kind",
    "-kind",
    "requested_by",
    "-requested_by",
]
_CHANGE: dict[str, Any] = {
    "audiences": [Audience.core],
    "basis": chosen("approvals"),
    "audited": "approval/{approval_id}",
    "changes": Changes.billing_groups,
}


@get(
    "/approvals",
    audiences=[Audience.core],
    role_actions=ANY_CALLER,
    basis=chosen("approvals"),
    counted=True,
)
async def list_approvals(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    approval_state: Annotated[ApprovalState | None, QueryParameter(name="state")] = None,
    approval_kind: FromQuery[ApprovalKind | None] = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ApprovalSort | None] = None,
) -> list[ShortApproval]:
    """List requests, the newest first; those of the caller only, unless it may approve.

    `search` looks in approval_id, kind, target, comment and the name of the requester.
    """
    query = ListQuery(limit, offset, search, sort)
    approvals, total = await operations.list_requests(
        db, caller, query, approval_state, approval_kind
    )
    report_total(total)
    return approvals


@post("/approvals", status_code=201, role_actions=ANY_CALLER, **_CHANGE)
async def request_approval(
    data: JSONBody[ApprovalRequestBody],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Approval:
    """Request an operation; it is checked now and executed when a second person approves it.

    The caller needs the permission of the operation.
    """
    return await operations.request_approval(db, caller, resources, data)


@get(
    "/approvals/{approval_id:str}",
    audiences=[Audience.core],
    role_actions=ANY_CALLER,
    basis=chosen("approvals"),
)
async def read_approval(
    approval_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Approval:
    """Show a request with everything that is reviewed."""
    return await operations.read_request(db, caller, approval_id)


@post("/approvals/{approval_id:str}/approve", role_actions=[RoleAction.ApproveRequests], **_CHANGE)
async def approve_request(
    approval_id: FromPath[str],
    data: JSONBody[ApprovalDecision],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
) -> Approval:
    """Approve a request of another person, and execute its operation."""
    context = get_request_context(request.scope)
    try:
        return await operations.approve(
            db, caller, resources, approval_id, data.review_hash, request_id=context.request_id
        )
    except operations.ReviewChanged:
        await context.close()
        actor = describe_actor(request, caller)
        await operations.mark_outdated(resources.engine, caller.scope, approval_id, actor)
        raise


@post("/approvals/{approval_id:str}/reject", role_actions=[RoleAction.ApproveRequests], **_CHANGE)
async def reject_request(
    approval_id: FromPath[str],
    data: JSONBody[ApprovalRejection],
    caller: RequestCaller,
    db: Transaction,
) -> Approval:
    """Reject a request of another person, with a reason."""
    return await operations.reject(db, caller, approval_id, data.reason)


@post("/approvals/{approval_id:str}/withdraw", role_actions=ANY_CALLER, **_CHANGE)
async def withdraw_request(
    approval_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Approval:
    """Withdraw an own request that nobody has decided yet."""
    return await operations.withdraw(db, caller, approval_id)


ROUTES = [
    list_approvals,
    request_approval,
    read_approval,
    approve_request,
    reject_request,
    withdraw_request,
]
