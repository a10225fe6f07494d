"""What may be done with months: closing them, and opening them again."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.bodies import MonthClosing, MonthReopening
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotPermitted

basis = chosen("closed-months")


async def close_month(
    db: AsyncConnection, scope: TenantScope, month: str, body: MonthClosing
) -> None:
    """From here on nothing is created, imported or applied in it; not while it is in doubt."""
    _refuse_narrowed(scope)
    # the month first: whoever waits for an import must not keep others from moving meanwhile
    state = await records.lock_month(db, scope, body.vendor, month)
    closings = await records.hold_closings(db, scope, body.vendor, shared=False)
    refuse_closed(state)
    if state.is_parked:
        raise Conflict("month_parked", "an import of this month waits to be released")
    await records.put_closed(db, scope, body.vendor, month, closed=True, closing=closings + 1)


async def reopen_month(
    db: AsyncConnection, scope: TenantScope, month: str, body: MonthReopening
) -> None:
    """The number of its closing stays, so that later closings count on."""
    _refuse_narrowed(scope)
    state = await records.lock_month(db, scope, body.vendor, month)
    await records.hold_closings(db, scope, body.vendor, shared=False)
    if not state.closed:
        raise Conflict("month_open", "this month is not closed")
    await records.put_closed(db, scope, body.vendor, month, closed=False, closing=state.closing)


def refuse_closed(state: MonthState) -> None:
    if state.closed:
        raise Conflict("month_closed", "this month is closed")


def _refuse_narrowed(scope: TenantScope) -> None:
    """A month is everybody's: it would be closed for groups the caller may not know of."""
    if scope.billing_groups is not None:
        raise NotPermitted("narrowed_caller", "who sees only some billing groups closes no month")
