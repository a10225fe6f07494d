"""Replaces what an import stores besides the sums: product names, and usage of instances."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.commitment_records import USAGE_TABLES, replace_usage
from nimbill.costs.lake.product_name_records import replace_product_names
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod

if TYPE_CHECKING:
    import pyarrow as pa

ReadBatches = Callable[[str], Iterator["pa.RecordBatch"]]


async def replace_derived_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    payers: Collection[str],
    read_batches: ReadBatches,
) -> None:
    """`read_batches` reads a file of the preparation by its name."""
    await replace_product_names(
        db, scope, period, payers=payers, names=read_batches("product_names")
    )
    for table in USAGE_TABLES:
        await replace_usage(db, scope, period, table, payers=payers, rows=read_batches(table.name))
