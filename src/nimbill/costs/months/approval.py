"""The approval of reopening a month."""

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.costs.months.bodies import MonthReopening
from nimbill.costs.months.operations import reopen_month
from nimbill.costs.months.records import lock_month
from nimbill.foundation.billing_period import BillingPeriod


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
