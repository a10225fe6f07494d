"""Tables of the account groups, and the queries on them."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, is_any_of, metadata, of_tenant

account_groups = sa.Table(
    "account_groups",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("group_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

account_group_members = sa.Table(
    "account_group_members",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("group_id", sa.Text, primary_key=True),
    sa.Column("customer_id", sa.Text, primary_key=True),
)

_groups, _members = account_groups.c, account_group_members.c


class StoredGroup(NamedTuple):
    group_id: str
    company_id: str
    name: str
    customer_ids: tuple[str, ...]  # also of accounts that have left the company


async def list_member_accounts(
    db: AsyncConnection, scope: TenantScope, group_ids: Collection[str]
) -> frozenset[str]:
    """Return the customer_ids that are in at least one of the groups."""
    stmt = sa.select(_members.customer_id).where(
        of_tenant(account_group_members, scope), is_any_of(_members.group_id, group_ids)
    )
    return frozenset((await db.execute(stmt)).scalars())


async def list_groups(
    db: AsyncConnection, scope: TenantScope, group_id: str | None = None
) -> list[StoredGroup]:
    """List the groups of visible companies by name, or the one with this id."""
    stmt = (
        sa.select(
            _groups.group_id,
            _groups.company_id,
            _groups.name,
            sa.func.array_remove(
                sa.func.array_agg(_members.customer_id), sa.null(), type_=sa.ARRAY(sa.Text)
            ),
        )
        .join_from(account_groups, account_group_members, _join_members(), isouter=True)
        .where(*_match_visible(scope))
        .group_by(_groups.group_id, _groups.company_id, _groups.name)
        .order_by(_groups.name, _groups.group_id)
    )
    if group_id is not None:
        stmt = stmt.where(_groups.group_id == group_id)
    return [
        StoredGroup(id_, company_id, name, tuple(sorted(customer_ids)))
        for id_, company_id, name, customer_ids in await db.execute(stmt)
    ]


def _join_members() -> sa.ColumnElement[bool]:
    return (_members.organisation_id == _groups.organisation_id) & (
        _members.group_id == _groups.group_id
    )


def _match_visible(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    conditions = [of_tenant(account_groups, scope)]
    if scope.billing_groups is not None:
        conditions.append(is_any_of(_groups.company_id, scope.billing_groups))
    return conditions


async def count_groups(db: AsyncConnection, scope: TenantScope, company_id: str) -> int:
    stmt = sa.select(sa.func.count()).where(
        of_tenant(account_groups, scope), _groups.company_id == company_id
    )
    return int((await db.execute(stmt)).scalar_one())


async def find_group_by_name(
    db: AsyncConnection, scope: TenantScope, company_id: str, name: str
) -> str | None:
    """Return the group_id of the company's group with this name."""
    stmt = sa.select(_groups.group_id).where(
        of_tenant(account_groups, scope), _groups.company_id == company_id, _groups.name == name
    )
    group_id: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return group_id


async def add_group(
    db: AsyncConnection, scope: TenantScope, *, group_id: str, company_id: str, name: str
) -> None:
    await db.execute(
        sa.insert(account_groups).values(
            organisation_id=scope.organisation_id,
            group_id=group_id,
            company_id=company_id,
            name=name,
        )
    )


async def rename_group(db: AsyncConnection, scope: TenantScope, group_id: str, name: str) -> None:
    await db.execute(sa.update(account_groups).where(*_match_id(scope, group_id)).values(name=name))


async def replace_members(
    db: AsyncConnection, scope: TenantScope, group_id: str, customer_ids: Sequence[str]
) -> None:
    await db.execute(
        sa.delete(account_group_members).where(
            of_tenant(account_group_members, scope), _members.group_id == group_id
        )
    )
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "group_id": group_id,
            "customer_id": customer_id,
        }
        for customer_id in sorted(set(customer_ids))
    ]
    if rows:
        await db.execute(sa.insert(account_group_members), rows)


async def delete_group(db: AsyncConnection, scope: TenantScope, group_id: str) -> None:
    """Its members go with it, by the foreign key."""
    await db.execute(sa.delete(account_groups).where(*_match_id(scope, group_id)))


def _match_id(scope: TenantScope, group_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(account_groups, scope), _groups.group_id == group_id]
