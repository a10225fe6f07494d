"""Brings changed default terms of a billing group into the open months that have saved terms."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_month, month_states
from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.customers.billing_groups.records import is_billing_group_visible
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import not_found
from nimbill.foundation.vendors import BilledVendor
from nimbill.invoicing.documents.bodies import SavedMonth
from nimbill.invoicing.documents.stored_invoices import invoices
from nimbill.invoicing.runs import month_settings
from nimbill.invoicing.runs.month_settings import (
    FEE_TARGET_COLUMNS,
    SETTING_FIELDS,
    monthly_invoice_settings,
)
from nimbill.invoicing.runs.operations import refuse_if_missing

_saved, _defaults = monthly_invoice_settings.c, invoice_settings.c


async def use_default_terms(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> None:
    """Copy the default terms of the group into the month; its exchange rate and memo stay."""
    await _require_group(db, scope, company_id)
    MonthChange.use_default_terms.refuse_if_closed(await lock_month(db, scope, period, shared=True))
    copied = await month_settings.copy_defaults(
        db, scope, period.month, [period.vendor], [company_id]
    )
    refuse_if_missing({} if copied else {company_id: "settings_missing"})


async def list_saved_months(
    db: AsyncConnection, scope: TenantScope, company_id: str, vendor: BilledVendor
) -> list[SavedMonth]:
    """List the open months for which terms of the group are saved, the newest first."""
    await _require_group(db, scope, company_id)
    closed = sa.exists().where(
        month_states.c.organisation_id == _saved.organisation_id,
        month_states.c.vendor == _saved.vendor,
        month_states.c.month == _saved.month,
        month_states.c.closed,
    )
    invoiced = sa.exists().where(
        invoices.c.organisation_id == _saved.organisation_id,
        invoices.c.month == _saved.month,
        invoices.c.company_id == _saved.company_id,
        invoices.c.vendor == _saved.vendor,
    )
    differ = sa.or_(
        *(
            _saved[name].is_distinct_from(_defaults[name])
            for name in (*SETTING_FIELDS, *FEE_TARGET_COLUMNS)
        )
    )
    same_group = sa.and_(
        _defaults.organisation_id == _saved.organisation_id,
        _defaults.company_id == _saved.company_id,
        _defaults.vendor == _saved.vendor,
    )
    stmt = (
        sa.select(_saved.month, invoiced.label("invoiced"), differ.label("terms_differ"))
        .join_from(monthly_invoice_settings, invoice_settings, same_group, isouter=True)
        .where(
            of_tenant(monthly_invoice_settings, scope),
            _saved.company_id == company_id,
            _saved.vendor == vendor,
            ~closed,
        )
        .order_by(_saved.month.desc())
    )
    return [SavedMonth(**row._asdict()) for row in await db.execute(stmt)]


async def _require_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    if not await is_billing_group_visible(db, scope, company_id):
        raise not_found()
