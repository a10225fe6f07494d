"""What every report needs besides its sums: accounts with former owners, prices and moved fees.

One statement reads all of it: several small ones would take longer than the sums of a page.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.fee_records import (
    list_periods_with_moves,
    select_periods_with_moves,
)
from nimbill.database.tenant_scope import fetch_rows
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.portal.former_owners import (
    SELECT_FORMER_OWNERS,
    AccountMonth,
    ViewedMonths,
    build_viewed_months,
)
from nimbill.portal.prices import SELECT_TERMS, Prices, build_prices, load_prices
from nimbill.portal.view import PortalView

_FORMER_OWNER, _MOVES, _CLOSED = 4, 5, 6

# Parameters: organisation, companies, months, accounts.
_LIST_BASIS = f"""
SELECT terms.*, NULL::text AS customer_id, NULL::timestamptz AS left_at
FROM ({SELECT_TERMS}) AS terms
UNION ALL
SELECT {_FORMER_OWNER}, company_id, vendor, month, NULL, NULL, NULL, customer_id, left_at
FROM ({SELECT_FORMER_OWNERS}) AS former_owners
UNION ALL
SELECT {_MOVES}, NULL, vendor, month, NULL, NULL, NULL, NULL, NULL
FROM ({select_periods_with_moves("$3", "$4")}) AS moves
UNION ALL
SELECT {_CLOSED}, NULL, vendor, month, NULL, closing_number, NULL, NULL, NULL
FROM month_states WHERE organisation_id = $1 AND month = ANY($3) AND closed
ORDER BY kind, left_at DESC, vendor, month
"""  # noqa: S608  # contains no values


@dataclass(frozen=True, slots=True)
class ReportBasis:
    accounts: ViewedMonths
    months: Sequence[str]
    periods_with_moves: Sequence[BillingPeriod]
    closing_numbers: Mapping[BillingPeriod, int]  # of months that are closed
    prices: Prices | None  # None if the view has all companies, of which a report shows few

    async def load_prices(self, db: AsyncConnection, company_ids: Collection[str]) -> Prices:
        """Return the prices of at least these companies, which belong to the view."""
        if self.prices is not None:
            return self.prices
        return await load_prices(db, self.accounts.scope, self.months, company_ids)


async def load_report_basis(
    db: AsyncConnection, view: PortalView, months: Sequence[str]
) -> ReportBasis:
    scope = view.scope
    rows = await fetch_rows(
        db,
        _LIST_BASIS,
        scope.organisation_id,
        list(scope.billing_groups or ()),
        list(months),
        [key.customer_id for key in view.accounts],
    )
    former_owners = {
        AccountMonth(vendor, customer_id, month): company_id
        for kind, company_id, vendor, month, _, _, _, customer_id, _ in rows
        if kind == _FORMER_OWNER
    }
    accounts = build_viewed_months(view, former_owners)
    periods = [BillingPeriod(row[3], row[2]) for row in rows if row[0] == _MOVES]
    if len(accounts) > len(view.accounts):  # fees may have been moved to accounts that have left
        customer_ids = [key.customer_id for key in accounts]
        periods = await list_periods_with_moves(db, scope, months, customer_ids)
    prices = None
    if scope.billing_groups is not None:
        prices = build_prices([row[:7] for row in rows if row[0] < _FORMER_OWNER], months)
    closing_numbers = {
        BillingPeriod(month, vendor): int(number)
        for kind, _, vendor, month, _, number, *_ in rows
        if kind == _CLOSED
    }
    return ReportBasis(accounts, months, periods, closing_numbers, prices)
