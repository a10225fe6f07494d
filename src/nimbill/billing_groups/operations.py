"""What may be done with billing groups: the checks in order, then the change."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.basis import chosen
from nimbill.billing_groups import records
from nimbill.billing_groups.bodies import BillingGroupCreate
from nimbill.errors import Conflict, NotPermitted, Violation, refuse_if
from nimbill.storage import Scope

references_basis = chosen("references-in-bodies")
narrowed_basis = chosen("narrowed-callers-add-no-groups")


async def create_billing_group(db: AsyncConnection, scope: Scope, body: BillingGroupCreate) -> str:
    """Store the group and one invoice setting per vendor; refuse an id already in use."""
    if scope.billing_groups is not None:
        raise NotPermitted("narrowed_caller", "who sees only some billing groups adds none")
    refuse_if(await _broken_references(db, scope, body))
    if await records.billinggroup_id_taken(db, scope, body.billinggroup_id):
        raise Conflict("billinggroup_id_taken", "this billinggroup_id is already in use")

    company_id = records.new_company_id()
    await records.add_billing_group(db, scope, company_id, body)
    if body.invoices:
        await records.add_invoice_settings(db, scope, company_id, body.invoices)
    return company_id


async def _broken_references(
    db: AsyncConnection, scope: Scope, body: BillingGroupCreate
) -> list[Violation]:
    """What the body names must exist; an empty text names nothing."""
    broken = []
    if body.project_id and not await records.project_exists(db, scope, body.project_id):
        broken.append(Violation("project_id", "an existing project"))
    template = body.invoice_template_id
    if template and not await records.invoice_template_exists(db, scope, template):
        broken.append(Violation("invoice_template_id", "an existing invoice template"))
    return broken
