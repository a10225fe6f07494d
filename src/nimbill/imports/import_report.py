"""The report of an import: totals, warnings, and drift of a closed month."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import load_other_payers, load_sums_by_account
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals, strip_zeros
from nimbill.foundation.vendors import Vendor
from nimbill.imports import records
from nimbill.imports.preparation import PreparedImport

# See docs/choices.md, accounts-of-two-payers.


async def build_report(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, prepared: PreparedImport
) -> dict[str, Any]:
    unknown_types: dict[str, int] = defaultdict(int)
    currencies: dict[str, int] = defaultdict(int)
    for total in prepared.totals:
        currencies[total["currency"]] += total["lines"]
        if total["kind"] == "unknown":
            unknown_types[total["line_type"]] += total["lines"]
    payers: dict[str, set[str]] = defaultdict(set)
    for total in prepared.account_totals:
        payers[total["customer_id"]].add(total["payer_id"])
    registered_payers = await records.load_account_payers(db, scope, vendor, list(payers))
    paid_by_another = {
        customer_id: sorted(customer_payers)
        for customer_id, customer_payers in sorted(payers.items())
        if customer_id in registered_payers and customer_payers != {registered_payers[customer_id]}
    }
    in_no_group = sorted(payers.keys() - registered_payers.keys())
    return {
        "totals": [{**total, "cost": _trim(total["cost"])} for total in prepared.totals],
        "unknown_types": dict(unknown_types),
        "accounts_in_no_group": in_no_group,
        "account_names": {
            customer_id: prepared.account_names[customer_id]
            for customer_id in in_no_group
            if customer_id in prepared.account_names
        },
        "currencies": dict(currencies),
        "noticed": {
            **prepared.warnings,
            "paid_by_another": paid_by_another,
            "also_paid_by": await _find_other_payers(db, scope, vendor, prepared),
        },
        "differences": [
            {**difference, **{name: _trim(difference[name]) for name in ("delivered", "stored")}}
            for difference in prepared.differences
        ],
    }


async def _find_other_payers(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, prepared: PreparedImport
) -> dict[str, list[str]]:
    """The costs of several payers are added up, which is wrong for two reports of one month."""
    charged = {total["customer_id"] for total in prepared.account_totals if Decimal(total["cost"])}
    if prepared.month is None or not charged:
        return {}
    period = BillingPeriod(prepared.month, vendor)
    return await load_other_payers(
        db, scope, period, customer_ids=charged, payers=list(prepared.payers)
    )


async def find_drift(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, prepared: PreparedImport
) -> list[dict[str, Any]]:
    """Return current and delivered costs where they differ, by account, line type and currency."""
    delivered: dict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
    for total in prepared.account_totals:
        key = (total["customer_id"], total["line_type"], total["currency"])
        delivered[key] = add_decimals(delivered[key], Decimal(total["cost"]))
    current = await load_sums_by_account(db, scope, period, list(prepared.payers))
    zero = Decimal(0)
    return [
        {
            "customer_id": key[0],
            "line_type": key[1],
            "currency": key[2],
            "counts": current.get(key, zero),
            "delivered": delivered.get(key, zero),
        }
        for key in sorted(current.keys() | delivered.keys())
        if current.get(key, zero) != delivered.get(key, zero)
    ]


def _trim(amount: str) -> Decimal:
    """Drop trailing zeros."""
    return strip_zeros(Decimal(amount))
