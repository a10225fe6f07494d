"""Reconciles the sums in the database with the second reading before a month counts.

Invoices are calculated from these sums. A row that is lost or altered on its way into the database
must therefore park the month like a line that is lost from a file.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import load_delivered_totals
from nimbill.costs.lake.commitment_records import USAGE_TABLES
from nimbill.costs.lake.records import (
    ENTRY,
    cost_sums,
    cost_tag_sums,
    cost_tagged_sums,
    load_stored_totals,
)
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import strip_zeros
from nimbill.imports.preparation import PreparedImport
from nimbill.imports.prepared_totals import VERIFIED_COLUMNS

# See docs/choices.md, second-reading.

# by payer, account, currency and kind: cost and number of lines
Totals = Mapping[tuple[str, ...], tuple[Decimal, int]]

NOTHING = (Decimal(0), 0)


class StoredSumsDiffer(Exception):
    """The database does not hold what was delivered."""

    def __init__(self, differences: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("the stored sums differ from the second reading")
        self.differences = differences


async def verify_stored_sums(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, prepared: PreparedImport
) -> None:
    """Raise StoredSumsDiffer unless all sums and the entries are equal to the last digit.

    In the tagged sums a line counts once, so that they have the totals of the lines.
    """
    payers = list(prepared.payers)
    delivered = _read_totals(prepared.verified_totals)
    tagged = _read_totals(prepared.verified_tag_totals)
    one_off = {key: total for key, total in delivered.items() if key[-1] == ENTRY}
    stored_sums = await load_stored_totals(db, scope, period, cost_sums, payers)
    stored_tag_sums = await load_stored_totals(db, scope, period, cost_tag_sums, payers)
    stored_tagged_sums = await load_stored_totals(db, scope, period, cost_tagged_sums, payers)
    stored_entries = {
        (*key, ENTRY): total
        for key, total in (await load_delivered_totals(db, scope, period, payers)).items()
    }
    differences = [
        *_compare("cost_sums", delivered, stored_sums),
        *_compare("cost_tag_sums", tagged, stored_tag_sums),
        *_compare("cost_tagged_sums", delivered if prepared.tag_keys else {}, stored_tagged_sums),
        *_compare("recalculation_entries", one_off, stored_entries),
    ]
    for table in USAGE_TABLES:
        totals = _read_totals(prepared.verified_usage_totals.get(table.name, ()))
        stored = await load_stored_totals(db, scope, period, table, payers)
        differences += _compare(str(table.name), totals, stored)
    if differences:
        raise StoredSumsDiffer(differences)


def _read_totals(totals: Iterable[Mapping[str, Any]]) -> Totals:
    return {
        tuple(total[name] for name in VERIFIED_COLUMNS): (Decimal(total["cost"]), total["lines"])
        for total in totals
    }


def _compare(table: str, delivered: Totals, stored: Totals) -> list[dict[str, Any]]:
    """Return the differences in the form in which an import reports them."""
    return [
        {
            "table": table,
            **dict(zip(VERIFIED_COLUMNS, key, strict=True)),
            "delivered": strip_zeros(delivered.get(key, NOTHING)[0]),
            "stored": strip_zeros(stored.get(key, NOTHING)[0]),
            "delivered_lines": delivered.get(key, NOTHING)[1],
            "stored_lines": stored.get(key, NOTHING)[1],
        }
        for key in sorted(delivered.keys() | stored.keys())
        if delivered.get(key, NOTHING) != stored.get(key, NOTHING)
    ]
