"""Stored free format items: additional invoice lines that a billing group defines itself."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.bodies import FreeFormatItem
from nimbill.database.tenant_scope import TenantScope, metadata, of_tenant
from nimbill.foundation.vendors import BilledVendor

ITEM_FIELDS = FreeFormatItem.__struct_fields__

free_format_items = sa.Table(
    "free_format_items",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("unit_cost", sa.Numeric, nullable=False),
    sa.Column("quantity", sa.Numeric, nullable=False),
    sa.Column("total", sa.Numeric, nullable=False),
)


async def replace_free_format_items(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    vendor: BilledVendor,
    items: Sequence[FreeFormatItem],
) -> None:
    """Replace all items of one vendor."""
    await delete_free_format_items(db, scope, company_id, vendor)
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "company_id": company_id,
            "vendor": vendor,
            "position": position,
            **{name: getattr(item, name) for name in ITEM_FIELDS},
        }
        for position, item in enumerate(items)
    ]
    if rows:
        await db.execute(sa.insert(free_format_items), rows)


async def delete_free_format_items(
    db: AsyncConnection, scope: TenantScope, company_id: str, vendor: BilledVendor | None = None
) -> None:
    """Delete the items of one vendor, or of all vendors without `vendor`."""
    stmt = sa.delete(free_format_items).where(
        of_tenant(free_format_items, scope), free_format_items.c.company_id == company_id
    )
    if vendor is not None:
        stmt = stmt.where(free_format_items.c.vendor == vendor)
    await db.execute(stmt)
