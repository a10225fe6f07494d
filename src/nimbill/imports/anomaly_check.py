"""Compares the usage of an imported month with the previous months, payer by payer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import USAGE, load_previous_usage
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals
from nimbill.imports.anomaly_rules import describe_anomaly


async def find_anomaly(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    totals: Sequence[Mapping[str, Any]],
    *,
    provisional: bool,
) -> str | None:
    """Return why the month should be reviewed before it is billed; `totals` are the import's."""
    usage: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for total in totals:
        if total["kind"] == USAGE:
            key = (total["payer_id"], total["currency"])
            usage[key] = add_decimals(usage[key], Decimal(total["cost"]))
    previous_usage = await load_previous_usage(db, scope, period)
    for (payer_id, currency), amount in sorted(usage.items()):
        previous = previous_usage.get((payer_id, currency), [])
        reason = describe_anomaly(amount, previous, provisional=provisional)
        if reason is not None:
            return f"payer {payer_id}: {reason}"
    return None
