"""Stored customer accounts and the questions asked of them."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, visible
from nimbill.customers.cloud_accounts.bodies import (
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
)
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation.vendors import BilledVendor

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
)


def _one(scope: TenantScope, customer_id: str) -> list[sa.ColumnElement[bool]]:
    return [
        cloud_accounts.c.organisation_id == scope.organisation_id,
        cloud_accounts.c.customer_id == customer_id,
    ]


def _group_of_each(scope: TenantScope) -> sa.FromClause:
    """Looked up by its key. Left to itself, the database reads all of an organisation's groups for
    every account, where it has no statistics of that organisation yet.
    """
    return (
        sa.select(
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
            billing_groups.c.project_id,
        )
        .where(
            billing_groups.c.organisation_id == cloud_accounts.c.organisation_id,
            billing_groups.c.company_id == cloud_accounts.c.company_id,
            *visible(scope),
        )
        .correlate(cloud_accounts)
        .limit(1)
        .lateral()
    )


async def list_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, *, limit: int | None, offset: int
) -> list[CloudAccountRecord]:
    """Accounts of the groups the caller may see, by customer_id; one question."""
    group = _group_of_each(scope)
    question = (
        sa.select(
            cloud_accounts.c.customer_id,
            cloud_accounts.c.name,
            cloud_accounts.c.account_id,
            cloud_accounts.c.company_id,
            group.c.billinggroup_id,
            group.c.billinggroup_name,
            cloud_accounts.c.note,
            group.c.project_id,
        )
        .join_from(cloud_accounts, group, sa.true())
        .where(
            cloud_accounts.c.organisation_id == scope.organisation_id,
            cloud_accounts.c.vendor == vendor,
        )
        .order_by(cloud_accounts.c.customer_id)
        .limit(limit)
        .offset(offset)
    )
    rows = (await db.execute(question)).all()
    # by place and not by name, which takes twice as long: lists are long
    return [
        CloudAccountRecord(
            customer_id=customer_id,
            customer_name=name,
            account_id=account_id,
            vendor=vendor,
            company_id=company_id,
            billinggroup_id=billinggroup_id,
            billinggroup_name=billinggroup_name,
            note=note,
            payer=customer_id == account_id,
            project_id=project_id,
            service_discount=None,
        )
        for (
            customer_id,
            name,
            account_id,
            company_id,
            billinggroup_id,
            billinggroup_name,
            note,
            project_id,
        ) in rows
    ]


async def customer_id_taken(db: AsyncConnection, scope: TenantScope, customer_id: str) -> bool:
    """Asked of the whole organisation: an id hidden from the caller is taken all the same."""
    question = sa.select(sa.exists().where(*_one(scope, customer_id)))
    return bool((await db.execute(question)).scalar_one())


async def find_account(db: AsyncConnection, scope: TenantScope, customer_id: str) -> Row | None:
    """Locked for the change that follows; None too where its group is hidden from the caller."""
    question = sa.select(cloud_accounts).where(*_one(scope, customer_id)).with_for_update()
    if scope.billing_groups is not None:
        question = question.where(visible_rows(cloud_accounts.c.company_id, scope.billing_groups))
    return (await db.execute(question)).one_or_none()


async def add_account(db: AsyncConnection, scope: TenantScope, body: CloudAccountCreate) -> None:
    await db.execute(
        sa.insert(cloud_accounts).values(
            organisation_id=scope.organisation_id,
            customer_id=body.customer_id,
            vendor=body.vendor,
            account_id=body.account_id,
            company_id=body.company_id,
            name=body.name,
            note=body.note,
        )
    )


async def change_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, body: CloudAccountUpdate
) -> None:
    """A note that is not sent stays; an empty one clears it."""
    values: dict[str, str | None] = {
        "account_id": body.account_id,
        "company_id": body.company_id,
        "name": body.name,
    }
    if body.note is not None:
        values["note"] = body.note or None
    await db.execute(sa.update(cloud_accounts).where(*_one(scope, customer_id)).values(**values))


async def delete_account(db: AsyncConnection, scope: TenantScope, customer_id: str) -> None:
    await db.execute(sa.delete(cloud_accounts).where(*_one(scope, customer_id)))
