"""Changes to invoice templates: the checks in order, then the change."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.customers.invoice_templates import records
from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id

__all__ = ["InvoiceTemplateBody"]  # also used by the preview of a template


async def create_invoice_template(
    db: AsyncConnection,
    scope: TenantScope,
    body: InvoiceTemplateBody,
    *,
    approved: ApprovedRequest | None = None,
) -> str:
    await require_approval(db, scope, ApprovalKind.bank_details, approved)
    template_id = new_id("tpl")
    await records.add_invoice_template(db, scope, template_id, body)
    return template_id


async def change_invoice_template(
    db: AsyncConnection,
    scope: TenantScope,
    invoice_template_id: str,
    body: InvoiceTemplateBody,
    *,
    approved: ApprovedRequest | None = None,
) -> None:
    await require_approval(db, scope, ApprovalKind.bank_details, approved)
    if not await records.change_invoice_template(db, scope, invoice_template_id, body):
        raise not_found()


async def delete_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str
) -> None:
    """Delete the template unless a billing group or the organisation settings refer to it."""
    try:
        async with db.begin_nested():
            if not await records.delete_invoice_template(db, scope, invoice_template_id):
                raise not_found()
    except IntegrityError:
        raise Conflict(
            "invoice_template_in_use",
            "This invoice template is used by a billing group or by the organisation settings.",
        ) from None
