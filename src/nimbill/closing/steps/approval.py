"""The approvals of closing and of reopening a month."""

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.closing.steps.bodies import MonthClosing, MonthReopening
from nimbill.closing.steps.operations import close_month, reopen_month
from nimbill.closing.steps.records import list_closed_costs, list_closed_invoices
from nimbill.costs.months.records import lock_month
from nimbill.foundation.billing_period import BillingPeriod


async def _close(execution: Execution) -> PerformedOperation:
    """Review the costs and the invoices that cannot change any more once the month is closed."""
    db, scope, month, body = (
        execution.db,
        execution.scope,
        execution.target["month"],
        execution.body,
    )
    period = BillingPeriod(month, body.vendor)
    await lock_month(db, scope, period)
    missing = await close_month(db, scope, month, body, approved=execution.approved)
    invoices = await list_closed_invoices(db, scope, period)
    return PerformedOperation(
        review={
            "month": month,
            "vendor": body.vendor,
            "reason": body.reason,
            "override": bool(body.override),
            "missing": [violation._asdict() for violation in missing],
            "costs": [row._asdict() for row in await list_closed_costs(db, scope, period)],
            "invoices": [row._asdict() for row in invoices],
        },
        action="close_month",
        resource=f"month/{body.vendor}/{month}",
    )


CLOSE_MONTH = ApprovableOperation(
    kind=ApprovalKind.month_close,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=lambda _: MonthClosing,
    target_fields=frozenset({"month"}),
    is_shared=True,
    perform=_close,
)


async def _reopen(execution: Execution) -> PerformedOperation:
    """The closing number shows whether the month was opened and closed again since."""
    db, scope, month, body = (
        execution.db,
        execution.scope,
        execution.target["month"],
        execution.body,
    )
    state = await lock_month(db, scope, BillingPeriod(month, body.vendor))
    await reopen_month(db, scope, month, body, approved=execution.approved)
    return PerformedOperation(
        review={
            "month": month,
            "vendor": body.vendor,
            "reason": body.reason,
            "closing_number": state.closing_number,
        },
        action="reopen_month",
        resource=f"month/{body.vendor}/{month}",
    )


REOPEN_MONTH = ApprovableOperation(
    kind=ApprovalKind.month_reopen,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=lambda _: MonthReopening,
    target_fields=frozenset({"month"}),
    is_shared=True,
    perform=_reopen,
)
