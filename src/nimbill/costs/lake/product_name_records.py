"""Stored names of marketplace products: a sum knows only the code under which they are charged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.bulk_copy import copy_sums
from nimbill.database.tenant_scope import TenantScope, is_any_of, metadata, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod

if TYPE_CHECKING:
    import pyarrow as pa

# See docs/choices.md, marketplace-products.

ProductNames = Mapping[tuple[str, str], tuple[str, ...]]  # by customer_id and service, sorted

marketplace_products = sa.Table(
    "marketplace_products",
    metadata,
    sa.Column("organisation_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("payer_id", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("customer_id", sa.Text, nullable=False),
    sa.Column("service", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
)
_products = marketplace_products.c


async def replace_product_names(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    payers: Collection[str],
    names: Iterable[pa.RecordBatch],
) -> None:
    """Replace the names of these payers, in the transaction that replaces their sums."""
    await db.execute(
        sa.delete(marketplace_products).where(
            of_tenant(marketplace_products, scope),
            of_period(marketplace_products, period),
            is_any_of(_products.payer_id, payers),
        )
    )
    constants = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
    }
    await copy_sums(db, marketplace_products, constants, names)


async def load_product_names(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> ProductNames:
    """A product that several payers bought for an account is named once."""
    stmt = (
        sa.select(_products.customer_id, _products.service, _products.name)
        .where(
            of_tenant(marketplace_products, scope),
            of_period(marketplace_products, period),
            is_any_of(_products.customer_id, customer_ids),
        )
        .distinct()
    )
    rows = await db.execute(stmt)
    return group_product_names((row.customer_id, row.service, row.name) for row in rows)


def group_product_names(rows: Iterable[tuple[str, str, str]]) -> ProductNames:
    """Group rows of customer_id, service and name."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for customer_id, service, name in rows:
        names[customer_id, service].add(name)
    return {key: tuple(sorted(group)) for key, group in names.items()}
