"""Which months are closed or parked, and the locks that keep them so while something is done."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, metadata

month_states = sa.Table(
    "month_states",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("closed", sa.Boolean, nullable=False),
    # closings of a vendor are counted, so that "before it was closed" needs no clock
    sa.Column("closing", sa.Integer, nullable=False),
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
    closing: int  # its latest closing, as counted for the vendor; 0 = it never was closed
    parked: Mapping[str, str]  # import_id to the reason it parked the month for

    @property
    def is_parked(self) -> bool:
        return bool(self.parked)


async def state_of(db: AsyncConnection, scope: TenantScope, vendor: str, month: str) -> MonthState:
    """A month nobody has spoken of is open."""
    state = sa.select(month_states.c.closed, month_states.c.closing).where(
        month_states.c.organisation_id == scope.organisation_id,
        month_states.c.vendor == vendor,
        month_states.c.month == month,
    )
    parked = sa.select(parked_months.c.import_id, parked_months.c.reason).where(
        *_parked(scope, vendor, month)
    )
    row = (await db.execute(state)).one_or_none()
    reasons = {row.import_id: row.reason for row in await db.execute(parked)}
    if row is None:
        return MonthState(closed=False, closing=0, parked=reasons)
    return MonthState(closed=row.closed, closing=row.closing, parked=reasons)


async def lock_month(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, *, shared: bool = False
) -> MonthState:
    """Its state, which stays so until the transaction ends; nobody else holds it meanwhile.

    Those who only need it to stay open may share it.
    """
    await _lock(db, _name(scope, vendor, month), shared=shared)
    return await state_of(db, scope, vendor, month)


async def hold_month(db: AsyncConnection, scope: TenantScope, vendor: str, month: str) -> None:
    """As it is, until the transaction ends; for who need not know how that is."""
    await _lock(db, _name(scope, vendor, month), shared=True)


def _name(scope: TenantScope, vendor: str, month: str) -> str:
    return f"month {scope.organisation_id} {vendor} {month}"


async def hold_closings(
    db: AsyncConnection, scope: TenantScope, vendor: str, *, shared: bool = True
) -> int:
    """How many closings there were; until the transaction ends, none is added or taken back."""
    await _lock(db, f"closings {scope.organisation_id} {vendor}", shared=shared)
    question = sa.select(sa.func.coalesce(sa.func.max(month_states.c.closing), 0)).where(
        month_states.c.organisation_id == scope.organisation_id, month_states.c.vendor == vendor
    )
    return int((await db.execute(question)).scalar_one())


async def _lock(db: AsyncConnection, name: str, *, shared: bool) -> None:
    """In a statement of its own: what is asked next then sees what the last holder committed."""
    lock = sa.func.pg_advisory_xact_lock_shared if shared else sa.func.pg_advisory_xact_lock
    await db.execute(sa.select(lock(sa.func.hashtextextended(name, 0))))


async def put_closed(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, *, closed: bool, closing: int
) -> None:
    changes = {"closed": closed, "closing": closing, "update_time": sa.func.now()}
    await db.execute(
        insert(month_states)
        .values(
            organisation_id=scope.organisation_id,
            vendor=vendor,
            month=month,
            closed=closed,
            closing=closing,
        )
        .on_conflict_do_update(index_elements=["organisation_id", "vendor", "month"], set_=changes)
    )


async def park(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, import_id: str, reason: str
) -> None:
    """The month stays parked until everything that parked it is released."""
    await db.execute(
        insert(parked_months)
        .values(
            organisation_id=scope.organisation_id,
            vendor=vendor,
            month=month,
            import_id=import_id,
            reason=reason,
        )
        .on_conflict_do_update(
            index_elements=["organisation_id", "vendor", "month", "import_id"],
            set_={"reason": reason},
        )
    )


async def unpark(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, import_id: str
) -> bool:
    """Whether this import had parked the month."""
    done = await db.execute(
        sa.delete(parked_months).where(
            *_parked(scope, vendor, month), parked_months.c.import_id == import_id
        )
    )
    return bool(done.rowcount)


def _parked(scope: TenantScope, vendor: str, month: str) -> list[sa.ColumnElement[bool]]:
    return [
        parked_months.c.organisation_id == scope.organisation_id,
        parked_months.c.vendor == vendor,
        parked_months.c.month == month,
    ]
