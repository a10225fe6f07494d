"""Changes to the organisation settings: the checks in order, then the change."""

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings import records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.customers.partial_update import changed_fields
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Violation, refuse_if


async def change_settings(
    db: AsyncConnection, scope: TenantScope, body: OrganisationSettingsChange
) -> OrganisationSettings:
    """Store the changed settings and return all of them; refuse an unknown invoice template."""
    template_id = body.invoice_template_id
    if template_id and not await invoice_template_exists(db, scope, template_id):
        refuse_if([Violation("invoice_template_id", "an existing invoice template")])

    stored = await records.lock_settings(db, scope)
    settings = msgspec.structs.replace(stored, **changed_fields(body))
    await records.store_settings(db, scope, settings)
    return settings
