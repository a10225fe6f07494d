"""What a late change of a closed month comes to: entries that somebody may bill, proposed alone."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import plain
from nimbill.costs.lake.records import EXACT, cost_sums
from nimbill.database.tenant_scope import TenantScope, visible_rows
from nimbill.foundation.basis import chosen
from nimbill.imports import records

if TYPE_CHECKING:
    import pyarrow as pa

basis = chosen("drift")

# what is billed to customers; the vendor's tax and discounts are not
BILLED = ("usage", "entry")


class Billed(NamedTuple):
    customer_id: str
    service: str
    marketplace: bool
    kind: str
    currency: str


async def proposed_entries(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    vendor: str,
    month: str,
    payers: Collection[str],
    sums: Iterator[pa.RecordBatch],
) -> list[dict[str, Any]]:
    """For accounts in a billing group: what was delivered now, less what counts."""
    delivered = await asyncio.to_thread(_delivered, sums)
    counts = await _counting(db, scope, vendor, month, payers)
    accounts = {key.customer_id for key in delivered.keys() | counts.keys()}
    known = await records.payers_of_accounts(db, scope, vendor, list(accounts))
    return [
        _proposal(key, month, counts[key], delivered[key])
        for key in sorted(delivered.keys() | counts.keys())
        if key.customer_id in known and delivered[key] != counts[key]
    ]


def _delivered(sums: Iterator[pa.RecordBatch]) -> defaultdict[Billed, Decimal]:
    found: defaultdict[Billed, Decimal] = defaultdict(Decimal)
    for batch in sums:
        for row in batch.to_pylist():
            if row["kind"] in BILLED:
                _add(found, row, row["cost"])
    return found


async def _counting(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, payers: Collection[str]
) -> defaultdict[Billed, Decimal]:
    by = [cost_sums.c[name] for name in Billed._fields]
    question = (
        sa.select(*by, sa.func.sum(cost_sums.c.cost).label("cost"))
        .where(
            cost_sums.c.organisation_id == scope.organisation_id,
            cost_sums.c.vendor == vendor,
            cost_sums.c.month == month,
            visible_rows(cost_sums.c.payer_id, payers),
            visible_rows(cost_sums.c.kind, BILLED),
        )
        .group_by(*by)
    )
    found: defaultdict[Billed, Decimal] = defaultdict(Decimal)
    for row in await db.execute(question):
        _add(found, row._mapping, row.cost)
    return found


def _add(found: defaultdict[Billed, Decimal], row: Mapping[Any, Any], amount: Decimal) -> None:
    key = Billed(*(row[name] for name in Billed._fields))
    found[key] = EXACT.add(found[key], amount)


def _proposal(key: Billed, month: str, counts: Decimal, delivered: Decimal) -> dict[str, Any]:
    amount = EXACT.subtract(delivered, counts)
    what = f"{month} {key.service}{' (marketplace)' if key.marketplace else ''}"
    return {
        **key._asdict(),
        "calc_type": "Fee" if amount > 0 else "Credit",
        "amount": Decimal(plain(amount)),
        "description": f"{what}: {plain(delivered)} in place of {plain(counts)}",
        "counts": Decimal(plain(counts)),
        "delivered": Decimal(plain(delivered)),
    }
