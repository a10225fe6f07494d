"""Changes to invoice templates: the checks in order, then the change."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.invoice_templates import records
from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, not_found

__all__ = ["InvoiceTemplateBody"]  # also used by the preview of a template


async def change_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str, body: InvoiceTemplateBody
) -> None:
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
