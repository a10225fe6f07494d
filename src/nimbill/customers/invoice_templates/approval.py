"""The approval of an invoice template, which contains the bank details of the issuer."""

from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approvable_operation import (
    ApprovableOperation,
    Execution,
    PerformedOperation,
)
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.customers.invoice_templates import operations, records
from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody


async def _save(execution: Execution) -> PerformedOperation:
    """Create a template, or change the one that the target names."""
    db, scope, body, approved = (
        execution.db,
        execution.scope,
        execution.body,
        execution.approved,
    )
    template_id = execution.target.get("invoice_template_id")
    before = None
    if template_id is None:
        action = "create_invoice_template"
        template_id = await operations.create_invoice_template(db, scope, body, approved=approved)
    else:
        action = "change_invoice_template"
        row = await records.find_invoice_template(db, scope, template_id, lock=True)
        before = None if row is None else row.content
        await operations.change_invoice_template(db, scope, template_id, body, approved=approved)
    return PerformedOperation(
        review={"before": before, "after": body},
        action=action,
        resource=f"invoicetemplate/{template_id}",
        result={"invoice_template_id": template_id},
    )


SAVE_INVOICE_TEMPLATE = ApprovableOperation(
    kind=ApprovalKind.bank_details,
    role_actions=(RoleAction.ModifyBillingGroup,),
    choose_body=lambda _: InvoiceTemplateBody,
    optional_fields=frozenset({"invoice_template_id"}),
    is_shared=True,
    perform=_save,
)
