"""Tables of closed and parked months, and the locks that keep a month's state unchanged."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import TenantScope, metadata, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor

month_states = sa.Table(
    "month_states",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("closed", sa.Boolean, nullable=False),
    # closings are numbered per vendor, so that "before this month was closed" needs no clock
    sa.Column("closing_number", sa.Integer, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

parked_months = sa.Table(
    "parked_months",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, primary_key=True),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


@dataclass(frozen=True, slots=True)
class MonthState:
    closed: bool
    closing_number: int  # number of the latest closing among the vendor's; 0 if never closed
    parked_reasons: Mapping[str, str]  # import_id to the reason why it parked the month

    @property
    def is_parked(self) -> bool:
        return bool(self.parked_reasons)


async def load_month_state(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> MonthState:
    """A month without a record is open."""
    state_stmt = sa.select(month_states.c.closed, month_states.c.closing_number).where(
        of_tenant(month_states, scope), of_period(month_states, period)
    )
    parked_stmt = sa.select(parked_months.c.import_id, parked_months.c.reason).where(
        *_is_parked_month(scope, period)
    )
    row = (await db.execute(state_stmt)).one_or_none()
    reasons = {row.import_id: row.reason for row in await db.execute(parked_stmt)}
    if row is None:
        return MonthState(closed=False, closing_number=0, parked_reasons=reasons)
    return MonthState(closed=row.closed, closing_number=row.closing_number, parked_reasons=reasons)


async def lock_month(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, *, shared: bool = False
) -> MonthState:
    """Lock the month until the transaction ends and return its state.

    A shared lock is enough for operations that only need the month to stay open.
    """
    await advisory_lock(db, _month_lock_name(scope, period), shared=shared)
    return await load_month_state(db, scope, period)


async def lock_month_shared(db: AsyncConnection, scope: TenantScope, period: BillingPeriod) -> None:
    """Take the shared lock of `lock_month` without the query for the state."""
    await advisory_lock(db, _month_lock_name(scope, period), shared=True)


def _month_lock_name(scope: TenantScope, period: BillingPeriod) -> str:
    return f"month {scope.organisation_id} {period.vendor} {period.month}"


async def lock_closing_count(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, *, shared: bool = True
) -> int:
    """Prevent closing and reopening any month of the vendor until the transaction ends.

    Returns the number of closings so far.
    """
    await advisory_lock(db, f"closings {scope.organisation_id} {vendor}", shared=shared)
    stmt = sa.select(sa.func.coalesce(sa.func.max(month_states.c.closing_number), 0)).where(
        of_tenant(month_states, scope), month_states.c.vendor == vendor
    )
    return int((await db.execute(stmt)).scalar_one())


async def save_month_state(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    closed: bool,
    closing_number: int,
) -> None:
    changes = {"closed": closed, "closing_number": closing_number, "update_time": sa.func.now()}
    await db.execute(
        insert(month_states)
        .values(
            organisation_id=scope.organisation_id,
            vendor=period.vendor,
            month=period.month,
            closed=closed,
            closing_number=closing_number,
        )
        .on_conflict_do_update(index_elements=["organisation_id", "vendor", "month"], set_=changes)
    )


async def park_month(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, import_id: str, reason: str
) -> None:
    """The month stays parked until every import that parked it is released."""
    await db.execute(
        insert(parked_months)
        .values(
            organisation_id=scope.organisation_id,
            vendor=period.vendor,
            month=period.month,
            import_id=import_id,
            reason=reason,
        )
        .on_conflict_do_update(
            index_elements=["organisation_id", "vendor", "month", "import_id"],
            set_={"reason": reason},
        )
    )


async def unpark_month(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, import_id: str
) -> bool:
    """Return whether this import had parked the month."""
    result = await db.execute(
        sa.delete(parked_months).where(
            *_is_parked_month(scope, period), parked_months.c.import_id == import_id
        )
    )
    return bool(result.rowcount)


def _is_parked_month(scope: TenantScope, period: BillingPeriod) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(parked_months, scope), of_period(parked_months, period)]
