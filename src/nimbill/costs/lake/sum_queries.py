"""The questions asked of the kept sums: by account, service, tag, line type and day."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.bodies import CostsOfMonth, CostSum, CostTotal
from nimbill.costs.lake.grouping import Grouping
from nimbill.costs.lake.records import cost_months, cost_sums, cost_tag_sums
from nimbill.costs.months.records import parked_months
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, visible_rows
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor

basis = chosen("read-costs")

# a word of `by` and the columns it stands for
SHOWN: Mapping[str, tuple[str, ...]] = {
    "account": ("customer_id", "company_id"),
    "service": ("service", "marketplace"),
    "tag": ("tag_value",),
    "line_type": ("line_type", "kind"),
    "day": ("day",),
}


async def costs_of_month(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor | None,
    by: Grouping,
    *,
    limit: int | None,
    offset: int,
) -> CostsOfMonth:
    """What the caller may see of it; who sees some billing groups sees their accounts' lines."""
    which = _Which(scope, month, vendor)
    names = [name for word in by.words for name in SHOWN[word]]
    rows = await db.execute(_rows(which, names, by.tag_key).limit(limit).offset(offset))
    totals = await db.execute(_totals(which))
    return CostsOfMonth(
        month=month,
        vendor=vendor,
        provisional=bool((await db.execute(_provisional(which))).scalar_one()),
        parked=bool((await db.execute(_parked(which))).scalar_one()),
        rows=[CostSum(**_shown(row)) for row in rows],
        totals=[CostTotal(**_shown(row)) for row in totals],
    )


def _shown(row: Row) -> dict[str, Any]:
    shown = row._asdict() | {"vendor": row.vendor}
    if "day" in shown:
        shown["day"] = shown["day"].isoformat()
    return shown


class _Which:
    """Which of the stored rows a question is about."""

    def __init__(self, scope: TenantScope, month: str, vendor: Vendor | None) -> None:
        self.scope, self.month, self.vendor = scope, month, vendor

    def of(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        """All vendors by name rather than none: the indexes begin with them."""
        scope, vendors = self.scope, VENDORS if self.vendor is None else (self.vendor,)
        return [
            table.c.organisation_id == scope.organisation_id,
            table.c.month == self.month,
            visible_rows(table.c.vendor, vendors),
        ]

    def visible(self) -> list[sa.ColumnElement[bool]]:
        """Lines of accounts in no billing group are for those who see all of them."""
        if self.scope.billing_groups is None:
            return []
        return [visible_rows(cloud_accounts.c.company_id, self.scope.billing_groups)]


def _with_accounts(table: sa.Table) -> sa.FromClause:
    return table.outerjoin(
        cloud_accounts,
        (cloud_accounts.c.organisation_id == table.c.organisation_id)
        & (cloud_accounts.c.customer_id == table.c.customer_id)
        & (cloud_accounts.c.vendor == table.c.vendor),
    )


def _sums(
    which: _Which, table: sa.Table, names: list[str], *, sign: int = 1, **values: Any
) -> sa.Select[*tuple[Any, ...]]:
    """One row for each that is asked by; `values` stand in every row and part nothing."""
    columns = {**table.c, "company_id": cloud_accounts.c.company_id, **values}
    shown = [columns[name].label(name) for name in names]
    parting = [columns[name] for name in names if name not in values]
    return (
        sa.select(
            table.c.vendor,
            *shown,
            table.c.currency,
            (sa.func.sum(table.c.cost) * sign).label("cost"),
            (sa.func.sum(table.c.lines) * sign).label("lines"),
        )
        .select_from(_with_accounts(table))
        .where(*which.of(table), *which.visible())
        .group_by(table.c.vendor, *parting, table.c.currency)
    )


def _rows(which: _Which, names: list[str], tag_key: str | None) -> sa.Select[*tuple[Any, ...]]:
    if tag_key is None:
        return _added(_sums(which, cost_sums, names), names)
    # with a tag: its values, and beside them what is left of everything once these are taken away
    of_key = cost_tag_sums.c.tag_key == tag_key
    nothing = sa.null().cast(sa.Text)
    tagged = _sums(which, cost_tag_sums, names).where(of_key)
    taken = _sums(which, cost_tag_sums, names, sign=-1, tag_value=nothing).where(of_key)
    everything = _sums(which, cost_sums, names, tag_value=nothing)
    return _added(sa.union_all(tagged, everything, taken), names)


def _added(parts: Any, names: list[str]) -> sa.Select[*tuple[Any, ...]]:
    """One row each, in the order asked; numbers without idle zeros."""
    part = parts.subquery()
    by = [part.c.vendor, *(part.c[name] for name in names), part.c.currency]
    cost, lines = sa.func.sum(part.c.cost), sa.func.sum(part.c.lines)
    in_order = [part.c[name].asc().nulls_last() for name in names]
    return (
        sa.select(
            *by,
            sa.func.trim_scale(cost, type_=sa.Numeric).label("cost"),
            lines.cast(sa.BigInteger).label("lines"),
        )
        .group_by(*by)
        .having(lines != 0)
        .order_by(part.c.vendor, *in_order, part.c.currency)
    )


def _totals(which: _Which) -> sa.Select[*tuple[Any, ...]]:
    return _added(_sums(which, cost_sums, []), [])


def _provisional(which: _Which) -> sa.Select[*tuple[Any, ...]]:
    """Whether any of the payers still waits for its invoice; of those whose lines are seen."""
    question = sa.exists().where(*which.of(cost_months), cost_months.c.provisional)
    if which.scope.billing_groups is not None:
        seen = (
            sa.select(cost_sums.c.payer_id)
            .select_from(_with_accounts(cost_sums))
            .where(
                *which.of(cost_sums),
                *which.visible(),
                cost_sums.c.vendor == cost_months.c.vendor,
                cost_sums.c.payer_id == cost_months.c.payer_id,
            )
        )
        question = question.where(sa.exists(seen.correlate(cost_months)))
    return sa.select(question)


def _parked(which: _Which) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(sa.exists().where(*which.of(parked_months)))
