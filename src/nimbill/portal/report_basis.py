"""What every report needs besides its sums: accounts with former owners, prices and moved fees.

The queries run together: one after the other would take longer than the sums of a page.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.fee_records import (
    SELECT_PERIODS_WITH_MOVES,
    list_periods_with_moves,
)
from nimbill.costs.months.records import month_states
from nimbill.database.combined_queries import combine_queries, fetch_combined
from nimbill.database.tenant_scope import is_any_of, of_given_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.portal.former_owners import (
    SELECT_FORMER_OWNERS,
    AccountMonth,
    ViewedMonths,
    build_viewed_months,
)
from nimbill.portal.prices import SELECT_TERMS, Prices, build_prices, load_prices
from nimbill.portal.view import PortalView

_SELECT_CLOSED_MONTHS = sa.select(
    month_states.c.vendor, month_states.c.month, month_states.c.closing_number
).where(
    of_given_tenant(month_states),
    is_any_of(month_states.c.month, sa.bindparam("months")),
    month_states.c.closed,
)
_LOAD_BASIS = combine_queries(
    {
        **SELECT_TERMS,
        "former_owners": SELECT_FORMER_OWNERS,
        "periods_with_moves": SELECT_PERIODS_WITH_MOVES,
        "closed_months": _SELECT_CLOSED_MONTHS,
    }
)


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
    values = {
        "organisation_id": scope.organisation_id,
        "company_ids": list(scope.billing_groups or ()),
        "months": list(months),
        "customer_ids": [key.customer_id for key in view.accounts],
    }
    rows = await fetch_combined(db, _LOAD_BASIS, values)
    former_owners = {
        AccountMonth(row["vendor"], row["customer_id"], row["month"]): row["company_id"]
        for row in rows["former_owners"]
    }
    accounts = build_viewed_months(view, former_owners)
    periods = [BillingPeriod(row["month"], row["vendor"]) for row in rows["periods_with_moves"]]
    if len(accounts) > len(view.accounts):  # fees may have been moved to accounts that have left
        customer_ids = [key.customer_id for key in accounts]
        periods = await list_periods_with_moves(db, scope, months, customer_ids)
    closing_numbers = {
        BillingPeriod(row["month"], row["vendor"]): row["closing_number"]
        for row in rows["closed_months"]
    }
    prices = None if scope.billing_groups is None else build_prices(rows, months)
    return ReportBasis(accounts, months, periods, closing_numbers, prices)
