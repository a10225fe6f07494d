"""Decisions about late costs over HTTP; paths are relative to /m/core."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.corrections.drift import operations
from nimbill.corrections.drift.bodies import DriftDecision, DriftDecisionRequest, DriftOfGroup
from nimbill.costs.months.closed_month import MonthChange
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get, post


@get(
    "/costs/imports/{import_id:str}/drift",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("drift-decisions"),
)
async def list_drift(
    import_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[DriftOfGroup]:
    """List the customers with late costs in an import, and what was decided about each."""
    return await operations.list_drift(db, caller.scope, import_id)


@post(
    "/costs/imports/{import_id:str}/drift/{company_id:str}",
    status_code=201,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("drift-decisions"),
    audited="costs/imports/{import_id}/drift/{company_id}",
    changes=Changes.shared_records,
    closed_month=MonthChange.decide_drift,
)
async def decide_drift(
    import_id: FromPath[str],
    company_id: FromPath[str],
    data: JSONBody[DriftDecisionRequest],
    caller: RequestCaller,
    db: Transaction,
) -> DriftDecision:
    """Decide about the late costs of a customer: entry, credit note, replacement, or dismissed."""
    return await operations.decide(
        db, caller.scope, import_id, company_id, data, by=caller.username
    )


ROUTES = [list_drift, decide_drift]
