"""Changes to the organisation settings: the checks in order, then the change."""

from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import FindUsedVendors
from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings import records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.customers.organisation_settings.report_tag_rules import FIND_STALE_TAGS
from nimbill.customers.organisation_settings.vendor_rules import find_vendor_violations
from nimbill.customers.partial_update import changed_fields
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.jobs.records import add_job

vendors_basis = chosen("vendors")


async def change_settings(
    db: AsyncConnection,
    scope: TenantScope,
    body: OrganisationSettingsChange,
    find_used_vendors: FindUsedVendors,
) -> OrganisationSettings:
    """Store the changed settings and return all of them.

    An unknown invoice template and disabling a vendor that is in use are refused. Other tag keys
    of reports also apply to months that are already stored.
    """
    template_id = body.invoice_template_id
    if template_id and not await invoice_template_exists(db, scope, template_id):
        refuse_if([Violation("invoice_template_id", "an existing invoice template")])

    stored = await records.lock_settings(db, scope)
    settings = msgspec.structs.replace(stored, **changed_fields(body))
    refuse_if(list(find_vendor_violations(settings.vendors, settings.provider_names)))
    disabled = [vendor for vendor in stored.vendors if vendor not in settings.vendors]
    if disabled:
        _refuse_used_vendors(disabled, await find_used_vendors(db, scope))
    await records.store_settings(db, scope, settings)
    if settings.report_tag_keys != stored.report_tag_keys:
        await add_job(db, scope, FIND_STALE_TAGS, due=clock.now())
    return settings


def _refuse_used_vendors(disabled: Sequence[str], used: Mapping[str, str]) -> None:
    in_use = [Violation("vendors", f"{each} has {used[each]}") for each in disabled if each in used]
    if in_use:
        raise Conflict(
            "vendor_in_use",
            "A vendor that has accounts, costs or invoices cannot be disabled. "
            "Each violation names one.",
            in_use,
        )
