"""Stored cloud accounts and the queries on them."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.bodies import (
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
)
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
from nimbill.foundation.vendors import BilledVendor

NAME_PREFIX_LENGTH = 100  # characters of a name in the index `cloud_accounts_name_idx`

cloud_accounts = sa.Table(
    "cloud_accounts",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("customer_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    # for the index of the search
    sa.Column(
        "name_prefix",
        sa.Text,
        sa.Computed(f'lower("left"(name, {NAME_PREFIX_LENGTH}))'),
        nullable=False,
    ),
)

# rows are written by a trigger when an account changes its group or is deleted
former_account_groups = sa.Table(
    "former_account_groups",
    metadata,
    sa.Column("organisation_id", sa.Text, nullable=False),
    sa.Column("customer_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("left_at", sa.DateTime(timezone=True), nullable=False),
)


def _match_id(scope: TenantScope, customer_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(cloud_accounts, scope), cloud_accounts.c.customer_id == customer_id]


# The group of an account, for searching and sorting only.
_GROUP = (billing_groups.c.organisation_id == cloud_accounts.c.organisation_id) & (
    billing_groups.c.company_id == cloud_accounts.c.company_id
)


def _group_field(column: sa.Column[str]) -> sa.ColumnElement[str]:
    return sa.select(column).where(_GROUP).correlate(cloud_accounts).scalar_subquery()


_COLUMNS = ListColumns(
    table=cloud_accounts,
    order=[cloud_accounts.c.customer_id],
    searched=[cloud_accounts.c.customer_id, cloud_accounts.c.name, cloud_accounts.c.account_id],
    sortable={
        "customer_id": cloud_accounts.c.customer_id,
        "customer_name": cloud_accounts.c.name,
        "account_id": cloud_accounts.c.account_id,
        "billinggroup_id": _group_field(billing_groups.c.billinggroup_id),
        "billinggroup_name": _group_field(billing_groups.c.billinggroup_name),
    },
)


async def list_accounts(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: BilledVendor,
    query: ListQuery = COMPLETE,
    company_id: str | None = None,
) -> tuple[list[CloudAccountRecord], int]:
    """List accounts of visible groups in the order of customer_id, and count those of all pages.

    The groups are a second query: as long as PostgreSQL has no statistics of an organisation, it
    may execute a join by reading all groups for every account.
    """
    stmt = sa.select(
        cloud_accounts.c.customer_id,
        cloud_accounts.c.name,
        cloud_accounts.c.account_id,
        cloud_accounts.c.company_id,
        cloud_accounts.c.note,
    ).where(cloud_accounts.c.vendor == vendor, *_match_visible_groups(scope))
    if company_id is not None:
        stmt = stmt.where(cloud_accounts.c.company_id == company_id)
    rows, total = await fetch_page(db, scope, stmt, _COLUMNS, query)
    groups = await _read_groups(db, scope, {row.company_id for row in rows})
    # Unpacking takes half the time of access by name, and lists are long.
    accounts = [
        CloudAccountRecord(
            customer_id=customer_id,
            customer_name=name,
            account_id=account_id,
            vendor=vendor,
            company_id=company_id,
            billinggroup_id=group.billinggroup_id,
            billinggroup_name=group.billinggroup_name,
            note=note,
            payer=customer_id == account_id,
            project_id=group.project_id,
            service_discount=None,
        )
        for customer_id, name, account_id, company_id, note in rows
        # it is missing if account and group were deleted after the first query
        if (group := groups.get(company_id)) is not None
    ]
    return accounts, total


async def _read_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str]
) -> dict[str, Row]:
    stmt = sa.select(
        billing_groups.c.company_id,
        billing_groups.c.billinggroup_id,
        billing_groups.c.billinggroup_name,
        billing_groups.c.project_id,
    ).where(of_tenant(billing_groups, scope), is_any_of(billing_groups.c.company_id, company_ids))
    return {row.company_id: row for row in await db.execute(stmt)}


def _match_visible_groups(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    if scope.billing_groups is None:
        return []
    return [is_any_of(cloud_accounts.c.company_id, scope.billing_groups)]


async def customer_id_exists(db: AsyncConnection, scope: TenantScope, customer_id: str) -> bool:
    """Look in the whole organisation, also in billing groups that the caller cannot see."""
    stmt = sa.select(sa.exists().where(*_match_id(scope, customer_id)))
    return bool((await db.execute(stmt)).scalar_one())


async def lock_account(db: AsyncConnection, scope: TenantScope, customer_id: str) -> Row | None:
    """Lock the row until the transaction ends; None if the caller cannot see its group."""
    return await find_account(db, scope, customer_id, lock=True)


async def find_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, *, lock: bool
) -> Row | None:
    conditions = (*_match_id(scope, customer_id), *_match_visible_groups(scope))
    stmt = sa.select(cloud_accounts).where(*conditions)
    return (await db.execute(stmt.with_for_update() if lock else stmt)).one_or_none()


async def lock_accounts(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str]
) -> dict[str, Row]:
    """Lock those of visible groups until the transaction ends, always in the same order."""
    stmt = (
        sa.select(cloud_accounts)
        .where(
            of_tenant(cloud_accounts, scope),
            is_any_of(cloud_accounts.c.customer_id, customer_ids),
            *_match_visible_groups(scope),
        )
        .order_by(cloud_accounts.c.customer_id)
        .with_for_update()
    )
    return {row.customer_id: row for row in await db.execute(stmt)}


async def move_accounts(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str], company_id: str
) -> None:
    await db.execute(
        sa.update(cloud_accounts)
        .where(
            of_tenant(cloud_accounts, scope), is_any_of(cloud_accounts.c.customer_id, customer_ids)
        )
        .values(company_id=company_id)
    )


async def load_groups_of_accounts(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str]
) -> dict[str, str]:
    """Map those in use in the whole organisation to the company_id of their group."""
    stmt = sa.select(cloud_accounts.c.customer_id, cloud_accounts.c.company_id).where(
        of_tenant(cloud_accounts, scope), is_any_of(cloud_accounts.c.customer_id, customer_ids)
    )
    return {row.customer_id: row.company_id for row in await db.execute(stmt)}


async def add_account(db: AsyncConnection, scope: TenantScope, body: CloudAccountCreate) -> None:
    await add_accounts(db, scope, [body])


async def add_accounts(
    db: AsyncConnection, scope: TenantScope, bodies: Sequence[CloudAccountCreate]
) -> None:
    await db.execute(
        sa.insert(cloud_accounts),
        [
            {
                "organisation_id": scope.organisation_id,
                "customer_id": body.customer_id,
                "vendor": body.vendor,
                "account_id": body.account_id,
                "company_id": body.company_id,
                "name": body.name,
                "note": body.note,
            }
            for body in bodies
        ],
    )


async def update_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, body: CloudAccountUpdate
) -> None:
    """Change the account. An absent note is not changed, an empty note clears it."""
    values: dict[str, str | None] = {
        "account_id": body.account_id,
        "company_id": body.company_id,
        "name": body.name,
    }
    if body.note is not None:
        values["note"] = body.note or None
    await db.execute(
        sa.update(cloud_accounts).where(*_match_id(scope, customer_id)).values(**values)
    )


async def rename_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, name: str
) -> None:
    await db.execute(
        sa.update(cloud_accounts).where(*_match_id(scope, customer_id)).values(name=name)
    )


async def delete_account(db: AsyncConnection, scope: TenantScope, customer_id: str) -> None:
    await db.execute(sa.delete(cloud_accounts).where(*_match_id(scope, customer_id)))
