"""Whether a month looks like the months before it, payer by payer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import EXACT, USAGE, usage_before
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.imports.anomaly_rules import out_of_bounds

basis = chosen("month-in-bounds")


async def unusual(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: str,
    month: str,
    totals: Sequence[Mapping[str, Any]],
    *,
    unfinished: bool,
) -> str | None:
    """Why somebody should look at it before it is billed; `totals` are those of the import."""
    now: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for total in totals:
        if total["kind"] == USAGE:
            key = (total["payer_id"], total["currency"])
            now[key] = EXACT.add(now[key], Decimal(total["cost"]))
    before = await usage_before(db, scope, vendor, month)
    for (payer_id, currency), usage in sorted(now.items()):
        months = before.get((payer_id, currency), [])
        reason = out_of_bounds(usage, months, unfinished=unfinished)
        if reason is not None:
            return f"payer {payer_id}: {reason}"
    return None
