"""Stored usage of reservations and savings plans, and of instances that run without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.bulk_copy import copy_sums
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_given_tenant,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod

if TYPE_CHECKING:
    import pyarrow as pa

# See docs/choices.md, commitment-usage.

RECURRING_FEE = "SavingsPlanRecurringFee"  # `sums.SAVINGS_PLAN_FEE`, without loading pyarrow


def _usage_table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("organisation_id", sa.Text, nullable=False),
        sa.Column("vendor", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("customer_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("cost", sa.Numeric, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
        sa.Column("hours", sa.Numeric, nullable=False),
        sa.Column("hour_lines", sa.BigInteger, nullable=False),  # lines that state hours
        *columns,
    )


# one of the two ids is empty
commitment_usage = _usage_table(
    "commitment_usage",
    sa.Column("line_type", sa.Text, nullable=False),
    sa.Column("reservation_id", sa.Text, nullable=False),
    sa.Column("savings_plan_id", sa.Text, nullable=False),
    sa.Column("used", sa.Boolean, nullable=False),  # false for fees and unused parts
    sa.Column("normalized_hours", sa.Numeric, nullable=False),  # hours × normalisation factor
    sa.Column("factor_lines", sa.BigInteger, nullable=False),  # lines that state both
    sa.Column("effective_cost", sa.Numeric, nullable=False),
    sa.Column("effective_lines", sa.BigInteger, nullable=False),
    sa.Column("reservation_start", sa.Text, nullable=False),  # also of a savings plan
    sa.Column("reservation_end", sa.Text, nullable=False),
    sa.Column("payment_option", sa.Text, nullable=False),
    sa.Column("term_length", sa.Text, nullable=False),
)
on_demand_usage = _usage_table(
    "on_demand_usage",
    sa.Column("service", sa.Text, nullable=False),
    sa.Column("usage_type", sa.Text, nullable=False),
    sa.Column("platform", sa.Text, nullable=False),
    sa.Column("tenancy", sa.Text, nullable=False),
    sa.Column("days", sa.BigInteger, nullable=False),  # on which usage started
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("instance_type", sa.Text, nullable=False),
)
USAGE_TABLES = (commitment_usage, on_demand_usage)
_usage, _on_demand = commitment_usage.c, on_demand_usage.c


class PlanUse(NamedTuple):
    """What all accounts used of a savings plan, and its fee; both in the vendor's currency."""

    used: Decimal | None  # None if a line does not state its effective cost
    fee: Decimal


async def replace_usage(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    table: sa.Table,
    *,
    payers: Collection[str],
    rows: Iterable[pa.RecordBatch],
) -> None:
    """Replace the usage of these payers, in the transaction that replaces their sums."""
    await db.execute(
        sa.delete(table).where(
            of_tenant(table, scope), of_period(table, period), is_any_of(table.c.payer_id, payers)
        )
    )
    constants = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
    }
    await copy_sums(db, table, constants, rows)


# Not a parameter: a plan for any parameter could not use the partial indexes.
_EMPTY = sa.literal_column("''", sa.Text)


def _sum_if_complete(
    amount: sa.ColumnElement[Decimal], stated_lines: sa.ColumnElement[int]
) -> sa.ColumnElement[Decimal]:
    is_complete = sa.func.sum(_usage.lines) == sa.func.sum(stated_lines)
    return sa.case((is_complete, sa.func.sum(amount)))


def _is_of_given_period(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    return [
        of_given_tenant(table),
        table.c.vendor == sa.bindparam("vendor"),
        table.c.month == sa.bindparam("month"),
    ]


async def _fetch(
    stmt: sa.Select[*tuple[Any, ...]],
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    ids: Collection[str],
) -> Sequence[Row]:
    values = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
        "ids": list(ids),
    }
    return (await db.execute(stmt, values)).all()


def select_used_hours(
    organisation_id: sa.ColumnElement[str],
    vendor: sa.ColumnElement[str],
    month: sa.ColumnElement[str],
    reservation_id: sa.ColumnElement[str],
) -> sa.FromClause:
    """The use of a reservation by all accounts, as a row for a join; `used_lines` may be 0.

    Hours are null if a line lacks them.
    """
    return (
        sa.select(
            sa.func.count().label("used_lines"),
            _sum_if_complete(_usage.hours, _usage.hour_lines).label("used_hours"),
            _sum_if_complete(_usage.normalized_hours, _usage.factor_lines).label("used_normalized"),
        )
        .where(
            _usage.organisation_id == organisation_id,
            _usage.vendor == vendor,
            _usage.month == month,
            _usage.reservation_id == reservation_id,
            _usage.reservation_id != _EMPTY,
            _usage.used,
        )
        .lateral("used")
    )


_PLAN_KEYS = (
    _usage.savings_plan_id,
    _usage.customer_id,
    _usage.line_type,
    _usage.kind,
    _usage.used,
    _usage.currency,
)
_PLAN_TEXTS = (
    _usage.reservation_start,
    _usage.reservation_end,
    _usage.payment_option,
    _usage.term_length,
)
_LIST_PLAN_USAGE = (
    sa.select(
        *_PLAN_KEYS,
        sa.func.sum(_usage.cost).label("cost"),
        *(sa.func.max(text).label(text.name) for text in _PLAN_TEXTS),
    )
    .where(
        *_is_of_given_period(commitment_usage),
        is_any_of(_usage.customer_id, sa.bindparam("ids")),
        _usage.savings_plan_id != _EMPTY,
    )
    .group_by(*_PLAN_KEYS)
    .order_by(*_PLAN_KEYS)
)


async def list_plan_usage(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> Sequence[Row]:
    """List the lines of savings plans of these accounts: by plan, account, type and currency."""
    return await _fetch(_LIST_PLAN_USAGE, db, scope, period, customer_ids)


_USED_LINES = sa.func.sum(_usage.lines - _usage.effective_lines).filter(_usage.used)
_USED_COST = sa.func.sum(_usage.effective_cost).filter(_usage.used)
_FEE = sa.func.sum(_usage.cost).filter(_usage.line_type == RECURRING_FEE)
_LOAD_PLAN_USE = (
    sa.select(
        _usage.savings_plan_id,
        sa.case((sa.func.coalesce(_USED_LINES, 0) == 0, sa.func.coalesce(_USED_COST, 0))).label(
            "used"
        ),
        sa.func.coalesce(_FEE, 0).label("fee"),
    )
    .where(
        *_is_of_given_period(commitment_usage),
        _usage.savings_plan_id != _EMPTY,
        is_any_of(_usage.savings_plan_id, sa.bindparam("ids")),
    )
    .group_by(_usage.savings_plan_id)
    .having(sa.func.count(_usage.currency.distinct()) == 1)
)


async def load_plan_use(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, plan_ids: Collection[str]
) -> Mapping[str, PlanUse]:
    """Return the use by savings_plan_id; plans whose lines have two currencies are left out."""
    rows = await _fetch(_LOAD_PLAN_USE, db, scope, period, plan_ids)
    return {row[0]: PlanUse(*row[1:]) for row in rows}


_INSTANCE_KEYS = (
    _on_demand.customer_id,
    _on_demand.service,
    _on_demand.region,
    _on_demand.usage_type,
    _on_demand.instance_type,
    _on_demand.platform,
    _on_demand.tenancy,
    _on_demand.currency,
)
_LIST_ON_DEMAND_USAGE = (
    sa.select(
        *_INSTANCE_KEYS,
        sa.func.sum(_on_demand.hours).label("hours"),
        # The payers of an account are charged for different days, or for the same ones.
        sa.func.max(_on_demand.days).label("days"),
        sa.func.sum(_on_demand.cost).label("cost"),
    )
    .where(
        *_is_of_given_period(on_demand_usage),
        is_any_of(_on_demand.customer_id, sa.bindparam("ids")),
    )
    .group_by(*_INSTANCE_KEYS)
    .having(sa.func.sum(_on_demand.lines) == sa.func.sum(_on_demand.hour_lines))
    .order_by(*_INSTANCE_KEYS)
)


async def list_on_demand_usage(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> Sequence[Row]:
    """List the instances of these accounts that no commitment covers, with hours and cost.

    Instances with a line that does not state its hours are left out.
    """
    return await _fetch(_LIST_ON_DEMAND_USAGE, db, scope, period, customer_ids)
