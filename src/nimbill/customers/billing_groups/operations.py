"""What may be done with billing groups: the checks in order, then the change."""

from typing import Any

import msgspec
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups import invoice_setting_rules, records
from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupUpdate,
    InvoiceSetting,
    InvoiceSettingUpdate,
)
from nimbill.customers.billing_groups.settled_terms import crossed, settle
from nimbill.customers.invoice_templates.records import invoice_template_exists
from nimbill.customers.organisation_settings.records import settings_of
from nimbill.customers.projects.records import project_exists
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotPermitted, Violation, not_found, refuse_if

narrowed_basis = chosen("narrowed-callers-add-no-groups")
references_basis = chosen("references-in-bodies")


async def create_billing_group(
    db: AsyncConnection, scope: TenantScope, body: BillingGroupCreate
) -> str:
    """Store the group and one invoice setting per vendor; refuse an id already in use."""
    if scope.billing_groups is not None:
        raise NotPermitted("narrowed_caller", "who sees only some billing groups adds none")
    refuse_if(await _broken_references(db, scope, body.project_id, body.invoice_template_id))
    await _refuse_taken_id(db, scope, body.billinggroup_id)

    company_id = records.new_company_id()
    await records.add_billing_group(db, scope, company_id, body)
    if body.invoices:
        settings = {
            vendor: (setting, settle(_words(setting), None))
            for vendor, setting in body.invoices.items()
        }
        await records.add_invoice_settings(db, scope, company_id, settings)
    return company_id


async def update_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: BillingGroupUpdate
) -> None:
    """What is not sent stays; the billinggroup_id may change to a free one."""
    group = await existing(db, scope, company_id)
    refuse_if(await _broken_references(db, scope, body.project_id, None))
    if body.billinggroup_id != group.billinggroup_id:
        await _refuse_taken_id(db, scope, body.billinggroup_id)
    sent = {
        name: value for name, value in msgspec.structs.asdict(body).items() if value is not None
    }
    cleared: dict[str, Any] = {name: None for name, value in sent.items() if value == ""}
    await records.change_billing_group(db, scope, company_id, sent | cleared)


async def update_invoice_setting(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: InvoiceSettingUpdate
) -> None:
    """By the update column, or by either where the organisation chose so."""
    await existing(db, scope, company_id)
    either = (await settings_of(db, scope)).invoice_setting_update == "either"
    words = _words(body.invoices)
    columns: list[invoice_setting_rules.Column] = ["create", "update"] if either else ["update"]
    broken = list(invoice_setting_rules.broken(words, body.vendor, columns, "invoices"))
    refuse_if(broken or list(crossed(words, "invoices")))
    before = await records.settled_terms(db, scope, company_id, body.vendor)
    await records.put_invoice_setting(
        db, scope, company_id, body.vendor, body.invoices, settle(words, before)
    )


async def link_invoice_template(
    db: AsyncConnection, scope: TenantScope, company_id: str, invoice_template_id: str | None
) -> None:
    """null unlinks."""
    await existing(db, scope, company_id)
    refuse_if(await _broken_references(db, scope, None, invoice_template_id))
    changes = {"invoice_template_id": invoice_template_id or None}
    await records.change_billing_group(db, scope, company_id, changes)


async def delete_billing_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    """Refused while accounts, resellers or invoices hang on it; they have the last word."""
    await existing(db, scope, company_id)
    try:
        async with db.begin_nested():
            await records.delete_billing_group(db, scope, company_id)
    except IntegrityError:
        raise Conflict("billing_group_in_use", "something hangs on this billing group") from None


async def existing(db: AsyncConnection, scope: TenantScope, company_id: str) -> Row:
    group = await records.lock_billing_group(db, scope, company_id)
    if group is None:
        raise not_found()
    return group


def _words(setting: InvoiceSetting) -> dict[str, Any]:
    return msgspec.structs.asdict(setting)


async def _refuse_taken_id(db: AsyncConnection, scope: TenantScope, billinggroup_id: str) -> None:
    if await records.billinggroup_id_taken(db, scope, billinggroup_id):
        raise Conflict("billinggroup_id_taken", "this billinggroup_id is already in use")


async def _broken_references(
    db: AsyncConnection, scope: TenantScope, project_id: str | None, template_id: str | None
) -> list[Violation]:
    """What a body names must exist; an empty text names nothing."""
    broken = []
    if project_id and not await project_exists(db, scope, project_id):
        broken.append(Violation("project_id", "an existing project"))
    if template_id and not await invoice_template_exists(db, scope, template_id):
        broken.append(Violation("invoice_template_id", "an existing invoice template"))
    return broken
