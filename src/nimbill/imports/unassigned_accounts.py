"""Accounts that have costs and belong to no billing group, each with the group it may belong to."""

from collections import defaultdict
from collections.abc import Collection, Mapping

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import cost_months, cost_sums
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts, former_account_groups
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import strip_zeros
from nimbill.imports.bodies import AccountCost, SuggestedGroup, UnassignedAccount
from nimbill.imports.records import cost_imports
from nimbill.imports.suggestion_rules import NameIndex, SimilarName

Names = Mapping[str, str | None]  # by customer_id; None where the files name no account


async def list_unassigned_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str | None, query: ListQuery
) -> tuple[list[UnassignedAccount], int]:
    """List by customer_id; `month` is by default the newest one with costs.

    Users restricted to certain billing groups see none, as these accounts are in none of theirs.
    """
    shown = month or await _find_newest_month(db, scope, vendor)
    if scope.billing_groups is not None or shown is None:
        return [], 0
    period = BillingPeriod(shown, vendor)
    names = await _load_names(db, scope, period)
    found = sorted(set(names) - await _list_registered(db, scope, list(names)))
    if query.search is not None:
        text = query.search.lower()
        found = [name for name in found if text in f"{name}\n{names[name] or ''}".lower()]
    page = found[query.page]
    costs = await _load_costs(db, scope, period, page)
    groups = await _load_groups(db, scope)
    former = await _load_former_groups(db, scope, page)
    index = NameIndex({key: _join_names(row) for key, row in groups.items()})
    accounts = [
        UnassignedAccount(
            vendor=vendor,
            customer_id=customer_id,
            account_id=min((row.payer_id for row in costs[customer_id]), default=customer_id),
            name=names[customer_id],
            month=shown,
            costs=[
                AccountCost(currency=row.currency, cost=strip_zeros(row.cost))
                for row in costs[customer_id]
            ],
            suggestion=_suggest(customer_id, names[customer_id], groups, former, index),
        )
        for customer_id in page
    ]
    return accounts, len(found)


def _join_names(group: Row) -> str:
    return f"{group.billinggroup_name} {group.company_name} {group.billinggroup_id}"


def _suggest(
    customer_id: str,
    name: str | None,
    groups: Mapping[str, Row],
    former: Mapping[str, str],
    index: NameIndex,
) -> SuggestedGroup | None:
    """Where the account was before, or else the group with the most similar name."""
    reason, similar = "former_group", SimilarName(former.get(customer_id, ""), 100)
    if similar.key not in groups:
        found = index.find_most_similar(name) if name else None
        if found is None:
            return None
        reason, similar = "similar_name", found
    group = groups[similar.key]
    return SuggestedGroup(
        company_id=similar.key,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        reason=reason,
        similarity=similar.similarity,
    )


async def _find_newest_month(db: AsyncConnection, scope: TenantScope, vendor: str) -> str | None:
    stmt = sa.select(sa.func.max(cost_months.c.month)).where(
        of_tenant(cost_months, scope), cost_months.c.vendor == vendor
    )
    month: str | None = (await db.execute(stmt)).scalar_one()
    return month


async def _load_names(db: AsyncConnection, scope: TenantScope, period: BillingPeriod) -> Names:
    """The reports of the current imports name the accounts that were in no group at that time.

    Accounts that left their group since then are added if they have costs in the month.
    """
    report = sa.cast(cost_imports.c.report, sa.JSON)
    current = sa.select(cost_months.c.import_id).where(
        of_tenant(cost_months, scope), of_period(cost_months, period)
    )
    stmt = sa.select(
        sa.cast(report["accounts_in_no_group"], sa.Text), sa.cast(report["account_names"], sa.Text)
    ).where(of_tenant(cost_imports, scope), cost_imports.c.import_id.in_(current))
    names: dict[str, str | None] = {}
    for accounts, account_names in await db.execute(stmt):
        known = exact_json.decode_stored(account_names or "{}")
        names |= {name: known.get(name) for name in exact_json.decode_stored(accounts or "[]")}
    left = sa.select(former_account_groups.c.customer_id).where(
        of_tenant(former_account_groups, scope), former_account_groups.c.vendor == period.vendor
    )
    for row in await db.execute(_select_costs(scope, period).where(_sums.customer_id.in_(left))):
        names.setdefault(row.customer_id, None)
    return names


async def _list_registered(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str]
) -> set[str]:
    stmt = sa.select(cloud_accounts.c.customer_id).where(
        of_tenant(cloud_accounts, scope), is_any_of(cloud_accounts.c.customer_id, customer_ids)
    )
    return set((await db.execute(stmt)).scalars())


_sums = cost_sums.c


def _select_costs(scope: TenantScope, period: BillingPeriod) -> sa.Select[*tuple[object, ...]]:
    columns = (_sums.customer_id, _sums.payer_id, _sums.currency)
    return (
        sa.select(*columns, sa.func.sum(_sums.cost).label("cost"))
        .where(of_tenant(cost_sums, scope), of_period(cost_sums, period))
        .group_by(*columns)
        .order_by(*columns)
    )


async def _load_costs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> Mapping[str, list[Row]]:
    stmt = _select_costs(scope, period).where(is_any_of(_sums.customer_id, customer_ids))
    costs: dict[str, list[Row]] = defaultdict(list)
    for row in await db.execute(stmt):
        costs[row.customer_id].append(row)
    return costs


async def _load_groups(db: AsyncConnection, scope: TenantScope) -> dict[str, Row]:
    stmt = sa.select(
        billing_groups.c.company_id,
        billing_groups.c.billinggroup_id,
        billing_groups.c.billinggroup_name,
        billing_groups.c.company_name,
    ).where(*filter_visible_groups(scope))
    return {row.company_id: row for row in await db.execute(stmt)}


async def _load_former_groups(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str]
) -> dict[str, str]:
    """Map accounts to the group that they left last."""
    stmt = (
        sa.select(former_account_groups.c.customer_id, former_account_groups.c.company_id)
        .where(
            of_tenant(former_account_groups, scope),
            is_any_of(former_account_groups.c.customer_id, customer_ids),
        )
        .order_by(former_account_groups.c.left_at)
    )
    return {row.customer_id: row.company_id for row in await db.execute(stmt)}
