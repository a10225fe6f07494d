"""Changes to billing groups: the checks in order, then the change."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.billing_groups import invoice_setting_records, records
from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupRecord,
    BillingGroupUpdate,
    InvoiceSettingUpdate,
)
from nimbill.customers.billing_groups.fee_targets import (
    FeeTargets,
    find_target_conflicts,
    resolve_fee_targets,
)
from nimbill.customers.billing_groups.invoice_setting_rules import (
    find_update_violations,
    find_violations,
)
from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings.records import SettingUpdateMode, load_settings
from nimbill.customers.partial_update import changed_fields
from nimbill.customers.projects.records import project_exists
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.http.object_version import ObjectVersion

__all__ = ["InvoiceSettingUpdate"]  # also used by the preview of terms

# See docs/choices.md, references-in-bodies.


# See docs/choices.md, object-versions.

# Fields that belong to accounts and projects, which are edited elsewhere, or that are constant.
NOT_EDITED = {
    "account",
    "custom_fields",
    "etag",
    "project_code",
    "project_currency",
    "project_label",
    "tag",
}

EDITED = [name for name in BillingGroupRecord.__struct_fields__ if name not in NOT_EDITED]


async def create_billing_group(
    db: AsyncConnection, scope: TenantScope, body: BillingGroupCreate
) -> str:
    """Store the group and one invoice setting per vendor; refuse an id already in use."""
    refuse_if(await _find_broken_references(db, scope, body.project_id, body.invoice_template_id))
    company_id = records.new_company_id()
    if not await records.add_billing_group(db, scope, company_id, body):
        raise _id_taken()
    if body.invoices:
        settings = {
            vendor: (setting, resolve_fee_targets(msgspec.structs.asdict(setting), None))
            for vendor, setting in body.invoices.items()
        }
        await invoice_setting_records.add_invoice_settings(db, scope, company_id, settings)
    return company_id


async def update_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: BillingGroupUpdate
) -> None:
    """Change the fields that were sent; a new billinggroup_id must not be in use."""
    group = await require_billing_group(db, scope, company_id)
    refuse_if(await _find_broken_references(db, scope, body.project_id, None))
    if body.billinggroup_id != group.billinggroup_id and await records.billinggroup_id_exists(
        db, scope, body.billinggroup_id
    ):
        raise _id_taken()
    await records.update_billing_group(db, scope, company_id, changed_fields(body))


async def update_invoice_setting(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: InvoiceSettingUpdate
) -> None:
    """Add or replace the setting of one vendor."""
    await require_billing_group(db, scope, company_id)
    targets = await check_invoice_setting(db, scope, company_id, body)
    await invoice_setting_records.upsert_invoice_setting(
        db, scope, company_id, body.vendor, body.invoices, targets
    )


async def check_invoice_setting(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: InvoiceSettingUpdate
) -> FeeTargets:
    """Refuse a setting that cannot be saved; return what its fees are calculated on.

    The values of the update column are allowed. If the organisation has set
    `invoice_setting_update` to "either", the values of the create column are allowed as well.
    """
    organisation_settings = await load_settings(db, scope)
    setting = msgspec.structs.asdict(body.invoices)
    if organisation_settings.invoice_setting_update is SettingUpdateMode.either:
        found = find_violations(setting, body.vendor, ["create", "update"], "invoices")
    else:
        found = find_update_violations(setting, body.vendor, "invoices")
    violations = list(found)
    refuse_if(violations or list(find_target_conflicts(setting, "invoices")))

    stored = await invoice_setting_records.load_fee_targets(db, scope, company_id, body.vendor)
    targets = resolve_fee_targets(setting, stored)
    sent = body.support_fee_target
    if sent is None:
        return targets
    return replace(targets, support_basis=sent.usage, support_scope=sent.scope)


async def link_invoice_template(
    db: AsyncConnection, scope: TenantScope, company_id: str, invoice_template_id: str | None
) -> None:
    """Link the template to the group; None or "" unlinks."""
    await require_billing_group(db, scope, company_id)
    refuse_if(await _find_broken_references(db, scope, None, invoice_template_id))
    changes = {"invoice_template_id": invoice_template_id or None}
    await records.update_billing_group(db, scope, company_id, changes)


async def delete_billing_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    """Delete the group unless a foreign key of accounts, resellers or invoices refers to it."""
    await require_billing_group(db, scope, company_id)
    try:
        async with db.begin_nested():
            await records.delete_billing_group(db, scope, company_id)
    except IntegrityError:
        raise Conflict(
            "billing_group_in_use",
            "This billing group still has accounts, resellers or invoices.",
        ) from None


async def require_billing_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> Row:
    """Lock the group for the change that follows; refuse one that the caller cannot see."""
    group = await records.lock_billing_group(db, scope, company_id)
    if group is None:
        raise not_found()
    return group


async def require_company_id(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    """Refuse a request body whose company_id names no group that the caller may see."""
    if not await records.is_billing_group_visible(db, scope, company_id):
        refuse_if([Violation("company_id", "an existing billing group")])


def _id_taken() -> Conflict:
    return Conflict("billinggroup_id_taken", "This billinggroup_id is already in use.")


async def _find_broken_references(
    db: AsyncConnection, scope: TenantScope, project_id: str | None, template_id: str | None
) -> list[Violation]:
    """Records named in a body must exist; an empty id names none."""
    violations = []
    if project_id and not await project_exists(db, scope, project_id):
        violations.append(Violation("project_id", "an existing project"))
    if template_id and not await invoice_template_exists(db, scope, template_id):
        violations.append(Violation("invoice_template_id", "an existing invoice template"))
    return violations


def build_group_version(group: BillingGroupRecord) -> ObjectVersion:
    values = {name: getattr(group, name) for name in EDITED}
    return ObjectVersion(values, f"billinggroup/{group.company_id}")


async def load_group_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    if lock:
        await records.lock_billing_group(db, caller.scope, path["company_id"])
    group = await records.find_billing_group(db, caller.scope, path["company_id"])
    return None if group is None else build_group_version(group)
