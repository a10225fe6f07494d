"""Changes to invoice templates: the checks in order, then the change."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.customers.invoice_templates import records
from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id
from nimbill.http.object_version import ObjectVersion

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


# See docs/choices.md, object-versions.


def build_template_version(row: Row) -> ObjectVersion:
    values = [row.invoice_template_id, sorted(row.content.items())]
    return ObjectVersion(values, f"invoicetemplate/{row.invoice_template_id}")


async def load_template_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    template_id = path["invoice_template_id"]
    row = await records.find_invoice_template(db, caller.scope, template_id, lock=lock)
    return None if row is None else build_template_version(row)
