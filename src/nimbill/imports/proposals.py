"""Proposes recalculation entries for changes to a closed month; nothing applies them by itself."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.product_name_records import (
    ProductNames,
    group_product_names,
    load_product_names,
)
from nimbill.costs.lake.records import cost_sums
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals, format_decimal, strip_zeros, subtract_decimals
from nimbill.foundation.product_names import join_product_names
from nimbill.imports import records

if TYPE_CHECKING:
    import pyarrow as pa


# the kinds that are billed to customers; the vendor's tax and discounts are not
BILLED_KINDS = ("usage", "entry")


class ProposalKey(NamedTuple):
    customer_id: str
    service: str
    marketplace: bool
    kind: str
    currency: str
    payer_id: str = ""


async def propose_entries(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    payers: Collection[str],
    sums: Iterator[pa.RecordBatch],
    product_names: pa.Table,
) -> list[dict[str, Any]]:
    """Return delivered less current costs, for accounts that are in a billing group."""
    delivered = await asyncio.to_thread(_sum_delivered, sums)
    current = await _load_current(db, scope, period, payers)
    keys = delivered.keys() | current.keys()
    customer_ids = {key.customer_id for key in keys}
    accounts = await records.load_account_payers(db, scope, period.vendor, list(customer_ids))
    stored_names = await load_product_names(db, scope, period, customer_ids)
    delivered_names = group_product_names(
        (row["customer_id"], row["service"], row["name"]) for row in product_names.to_pylist()
    )
    names = {**stored_names, **delivered_names}
    return [
        _build_proposal(key, name_charge(key, period.month, names), current[key], delivered[key])
        for key in sorted(keys)
        if key.customer_id in accounts and delivered[key] != current[key]
    ]


def _sum_delivered(sums: Iterator[pa.RecordBatch]) -> defaultdict[ProposalKey, Decimal]:
    amounts: defaultdict[ProposalKey, Decimal] = defaultdict(Decimal)
    for batch in sums:
        for row in batch.to_pylist():
            if row["kind"] in BILLED_KINDS:
                _add(amounts, row, row["cost"])
    return amounts


async def _load_current(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> defaultdict[ProposalKey, Decimal]:
    columns = [cost_sums.c[name] for name in ProposalKey._fields]
    stmt = (
        sa.select(*columns, sa.func.sum(cost_sums.c.cost).label("cost"))
        .where(
            of_tenant(cost_sums, scope),
            of_period(cost_sums, period),
            is_any_of(cost_sums.c.payer_id, payers),
            is_any_of(cost_sums.c.kind, BILLED_KINDS),
        )
        .group_by(*columns)
    )
    amounts: defaultdict[ProposalKey, Decimal] = defaultdict(Decimal)
    for row in await db.execute(stmt):
        _add(amounts, row._mapping, row.cost)
    return amounts


def _add(
    amounts: defaultdict[ProposalKey, Decimal], row: Mapping[Any, Any], amount: Decimal
) -> None:
    key = ProposalKey(*(row[name] for name in ProposalKey._fields))
    amounts[key] = add_decimals(amounts[key], amount)


def name_charge(key: ProposalKey, month: str, names: ProductNames) -> str:
    """The description of an entry is printed on invoices, so it names products, not codes.

    Some charges have no service, for example those of a whole account.
    """
    if not key.marketplace:
        return f"{month} {key.service or 'without a service'}"
    products = join_product_names(names.get((key.customer_id, key.service), ()))
    return f"{month} {products or key.service or 'product'} (marketplace)"


def _build_proposal(
    key: ProposalKey, service: str, current: Decimal, delivered: Decimal
) -> dict[str, Any]:
    amount = subtract_decimals(delivered, current)
    change = f"{format_decimal(delivered)} in place of {format_decimal(current)}"
    return {
        **key._asdict(),
        "calc_type": "Fee" if amount > 0 else "Credit",
        "amount": strip_zeros(amount),
        "description": f"{service}: {change}",
        "counts": strip_zeros(current),
        "delivered": strip_zeros(delivered),
    }
