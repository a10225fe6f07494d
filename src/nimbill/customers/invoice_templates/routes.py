"""HTTP routes of invoice templates; paths are relative to /m/core."""

import msgspec
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.customers.invoice_templates import operations, records
from nimbill.customers.invoice_templates.bodies import (
    InvoiceTemplateBody,
    InvoiceTemplateCreated,
    InvoiceTemplateRecord,
)
from nimbill.customers.invoice_templates.operations import (
    build_template_version,
    load_template_version,
)
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, delete, get, post
from nimbill.http.versions import WithEtags

MODIFY = [RoleAction.ModifyBillingGroup]
READ = [RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup]
_BASIS = chosen("invoice-templates")


@post(
    "/invoicetemplate",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=_BASIS,
    audited="invoicetemplate/{invoice_template_id}",
    changes=Changes.shared_records,
)
async def create_invoice_template(
    data: JSONBody[InvoiceTemplateBody], caller: RequestCaller, db: Transaction
) -> InvoiceTemplateCreated:
    """Create an invoice template."""
    template_id = await operations.create_invoice_template(db, caller.scope, data)
    return InvoiceTemplateCreated(invoice_template_id=template_id)


@get("/invoicetemplate", audiences=[Audience.core], role_actions=READ, basis=_BASIS)
async def list_invoice_templates(
    caller: RequestCaller, db: Transaction, etags: WithEtags = False
) -> list[InvoiceTemplateRecord]:
    """List all invoice templates, oldest first."""
    return [
        msgspec.convert(
            {
                **row.content,
                "invoice_template_id": row.invoice_template_id,
                **({"etag": build_template_version(row).etag} if etags else {}),
            },
            InvoiceTemplateRecord,
        )
        for row in await records.list_invoice_templates(db, caller.scope)
    ]


@post(
    "/invoicetemplate/{invoice_template_id:str}",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=_BASIS,
    versioned=load_template_version,
    audited="invoicetemplate/{invoice_template_id}",
    changes=Changes.shared_records,
)
async def change_invoice_template(
    invoice_template_id: FromPath[str],
    data: JSONBody[InvoiceTemplateBody],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Replace an invoice template. Existing invoices keep the version they were printed with."""
    await operations.change_invoice_template(db, caller.scope, invoice_template_id, data)
    return Success()


@delete(
    "/invoicetemplate/{invoice_template_id:str}",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=_BASIS,
    versioned=load_template_version,
    audited="invoicetemplate/{invoice_template_id}",
    changes=Changes.shared_records,
)
async def delete_invoice_template(
    invoice_template_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete an invoice template that is not in use."""
    await operations.delete_invoice_template(db, caller.scope, invoice_template_id)
    return Success()


ROUTES = [
    create_invoice_template,
    list_invoice_templates,
    change_invoice_template,
    delete_invoice_template,
]
