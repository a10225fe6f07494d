"""Close and reopen months."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.bodies import MonthClosing, MonthReopening
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict

basis = chosen("closed-months")


async def close_month(
    db: AsyncConnection, scope: TenantScope, month: str, body: MonthClosing
) -> None:
    """Refuse later imports, invoices and applied entries; a parked month cannot be closed."""
    period = BillingPeriod(month, body.vendor)
    # lock the month first: while it waits for an import, reserved instances can still be moved
    state = await records.lock_month(db, scope, period)
    closing_count = await records.lock_closing_count(db, scope, body.vendor, shared=False)
    refuse_closed(state)
    if state.is_parked:
        raise Conflict(
            "month_parked", "This month is parked: release or replace its parked import first."
        )
    await records.save_month_state(db, scope, period, closed=True, closing_number=closing_count + 1)


async def reopen_month(
    db: AsyncConnection, scope: TenantScope, month: str, body: MonthReopening
) -> None:
    """The month keeps its closing number, so that later closings continue the count."""
    period = BillingPeriod(month, body.vendor)
    state = await records.lock_month(db, scope, period)
    await records.lock_closing_count(db, scope, body.vendor, shared=False)
    if not state.closed:
        raise Conflict("month_open", "This month is not closed.")
    await records.save_month_state(
        db, scope, period, closed=False, closing_number=state.closing_number
    )


def refuse_closed(state: MonthState) -> None:
    if state.closed:
        raise Conflict("month_closed", "This month is closed.")
