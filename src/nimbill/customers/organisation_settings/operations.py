"""Changes to the organisation settings: the checks in order, then the change."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.hooks import FindUsedVendors
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.required_kinds import count_approvers
from nimbill.approvals.requirement import (
    ApprovedRequest,
    approval_required,
    require_approval,
)
from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings import records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.customers.organisation_settings.records import load_settings, lock_settings
from nimbill.customers.organisation_settings.report_tag_rules import FIND_STALE_TAGS
from nimbill.customers.organisation_settings.vendor_rules import find_vendor_violations
from nimbill.customers.partial_update import changed_fields
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.http.object_version import ObjectVersion
from nimbill.jobs.records import add_job

APPROVERS_MIN = 2


async def change_settings(
    db: AsyncConnection,
    scope: TenantScope,
    body: OrganisationSettingsChange,
    find_used_vendors: FindUsedVendors,
    *,
    approved: ApprovedRequest | None = None,
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
    await _require_approval(db, scope, stored, settings, approved)
    refuse_if(list(find_vendor_violations(settings.vendors, settings.provider_names)))
    disabled = [vendor for vendor in stored.vendors if vendor not in settings.vendors]
    if disabled:
        _refuse_used_vendors(disabled, await find_used_vendors(db, scope))
    await records.store_settings(db, scope, settings)
    if settings.report_tag_keys != stored.report_tag_keys:
        await add_job(db, scope, FIND_STALE_TAGS, due=clock.now())
    return settings


async def _require_approval(
    db: AsyncConnection,
    scope: TenantScope,
    stored: OrganisationSettings,
    settings: OrganisationSettings,
    approved: ApprovedRequest | None,
) -> None:
    """Nobody turns approval off, or on for more, alone. Turning it on needs two who may approve."""
    await require_approval(db, scope, ApprovalKind.settings, approved)
    if set(settings.approval_required) == set(stored.approval_required):
        return
    if stored.approval_required and approved is None:
        raise approval_required(ApprovalKind.settings)
    if settings.approval_required and await count_approvers(db, scope) < APPROVERS_MIN:
        raise Conflict(
            "too_few_approvers",
            f"At least {APPROVERS_MIN} users must be able to approve. Give another user a role "
            "with ApproveRequests first.",
        )


def _refuse_used_vendors(disabled: Sequence[str], used: Mapping[str, str]) -> None:
    in_use = [Violation("vendors", f"{each} has {used[each]}") for each in disabled if each in used]
    if in_use:
        raise Conflict(
            "vendor_in_use",
            "A vendor that has accounts, costs or invoices cannot be disabled. "
            "Each violation names one.",
            in_use,
        )


# See docs/choices.md, object-versions.


async def load_settings_version(
    db: AsyncConnection, caller: Caller, _path: Mapping[str, Any], lock: bool
) -> ObjectVersion:
    settings = await (lock_settings if lock else load_settings)(db, caller.scope)
    return ObjectVersion(settings, "settings")
