"""The approval of exchange rates."""

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.costs.months.records import lock_month
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.bodies import SaveExchangeRateRequest
from nimbill.invoicing.runs.month_settings import load_saved_settings
from nimbill.invoicing.runs.operations import save_exchange_rates


async def _save(execution: Execution) -> PerformedOperation:
    db, scope, month, body = (
        execution.db,
        execution.scope,
        execution.target["month"],
        execution.body,
    )
    company_ids = sorted(set(body.billing_groups))
    await lock_month(db, scope, BillingPeriod(month, body.vendor), shared=True)
    saved = await load_saved_settings(db, scope, month, company_ids)
    before = {
        name: row.exchange_rate for (name, vendor), row in saved.items() if vendor == body.vendor
    }
    await save_exchange_rates(
        db, scope, month, body, saved_by=execution.by, approved=execution.approved
    )
    return PerformedOperation(
        review={
            "month": month,
            "vendor": body.vendor,
            "exchange_rate": body.exchange_rate,
            "billing_groups": [
                {
                    "company_id": company_id,
                    "before": before[company_id],
                }
                for company_id in company_ids
            ],
        },
        action="save_exchange_rates",
        resource=f"invoices/{month}/exchangerate",
        company_ids=company_ids,
    )


SAVE_RATES = ApprovableOperation(
    kind=ApprovalKind.rates,
    role_actions=(RoleAction.ModifyInvoice,),
    choose_body=lambda _: SaveExchangeRateRequest,
    target_fields=frozenset({"month"}),
    is_shared=False,
    perform=_save,
)
