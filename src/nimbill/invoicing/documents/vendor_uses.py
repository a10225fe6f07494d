"""Finds the vendors that an organisation cannot disable, because it has records of them."""

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import cost_months
from nimbill.costs.months.records import month_states
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.imports.records import ImportState, cost_imports
from nimbill.invoicing.documents.stored_invoices import invoices

# imports that have stored nothing, and will store nothing
_WITHOUT_COSTS = (ImportState.refused, ImportState.failed)


async def find_used_vendors(db: AsyncConnection, scope: TenantScope) -> Mapping[str, str]:
    """Return each vendor that is in use, with the kind of records that it has."""
    used: dict[str, str] = {}
    for table, kind in (
        (cloud_accounts, "accounts"),
        (cost_months, "costs"),
        (cost_imports, "imports"),
        (invoices, "invoices"),
        (month_states, "closed months"),
    ):
        stmt = sa.select(table.c.vendor).where(of_tenant(table, scope))
        if table is cost_imports:
            stmt = stmt.where(table.c.state.not_in(_WITHOUT_COSTS))
        for vendor in (await db.execute(stmt.distinct())).scalars():
            used.setdefault(vendor, kind)
    return used
