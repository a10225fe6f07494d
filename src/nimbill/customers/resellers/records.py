"""Stored reseller accounts and the queries on them."""

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.foundation.language import Language
from nimbill.identity.users.records import users

resellers = sa.Table(
    "resellers",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("meta", JSONB, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True)),
    sa.Column("portal_registered", sa.DateTime(timezone=True), nullable=False),
)


def _select_resellers(scope: TenantScope) -> sa.Select[*tuple[object, ...]]:
    return (
        sa.select(
            *(column for column in resellers.c if column.name != "update_time"),
            # A password change by the account itself counts as a change, too.
            sa.func.greatest(resellers.c.update_time, users.c.password_update_time).label(
                "update_time"
            ),
            users.c.password_update_time,
            users.c.username,
            users.c.email,
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
            billing_groups.c.company_name,
            billing_groups.c.language,
        )
        .join_from(
            resellers,
            users,
            (users.c.organisation_id == resellers.c.organisation_id)
            & (users.c.user_id == resellers.c.user_id),
        )
        .join(
            billing_groups,
            (billing_groups.c.organisation_id == resellers.c.organisation_id)
            & (billing_groups.c.company_id == resellers.c.company_id),
        )
        .where(of_tenant(resellers, scope), *filter_visible_groups(scope))
    )


_COLUMNS = ListColumns(
    table=resellers,
    order=[resellers.c.portal_registered, resellers.c.user_id],
    searched=[
        resellers.c.user_id,
        users.c.email,
        billing_groups.c.company_id,
        billing_groups.c.billinggroup_id,
        billing_groups.c.billinggroup_name,
    ],
    sortable={
        "email": users.c.email,
        "billinggroup_id": billing_groups.c.billinggroup_id,
        "billinggroup_name": billing_groups.c.billinggroup_name,
        "portal_registered": resellers.c.portal_registered,
    },
)


async def list_resellers(
    db: AsyncConnection, scope: TenantScope, query: ListQuery = COMPLETE
) -> Page:
    """List the accounts of visible billing groups, oldest first."""
    return await fetch_page(db, scope, _select_resellers(scope), _COLUMNS, query)


async def find_reseller(db: AsyncConnection, scope: TenantScope, user_id: str) -> Row | None:
    """None if the caller cannot see the billing group of the account."""
    stmt = _select_resellers(scope).where(resellers.c.user_id == user_id)
    return (await db.execute(stmt)).one_or_none()


async def lock_reseller(db: AsyncConnection, scope: TenantScope, user_id: str) -> Row | None:
    """Lock the row until the transaction ends; None if the caller cannot see its billing group."""
    stmt = _select_resellers(scope).where(resellers.c.user_id == user_id)
    return (await db.execute(stmt.with_for_update(of=resellers))).one_or_none()


async def find_language(db: AsyncConnection, scope: TenantScope, user: Row) -> Language:
    """Return the language of a customer's billing group, otherwise that of the organisation."""
    stmt = (
        sa.select(billing_groups.c.language)
        .join_from(
            resellers,
            billing_groups,
            (billing_groups.c.organisation_id == resellers.c.organisation_id)
            & (billing_groups.c.company_id == resellers.c.company_id),
        )
        .where(of_tenant(resellers, scope), resellers.c.user_id == user.root_user)
    )
    of_group = (await db.execute(stmt)).scalar_one_or_none()
    return Language(of_group or (await load_settings(db, scope)).language)


async def add_reseller(
    db: AsyncConnection, scope: TenantScope, user_id: str, company_id: str, meta: Mapping[str, bool]
) -> None:
    await db.execute(
        sa.insert(resellers).values(
            organisation_id=scope.organisation_id,
            user_id=user_id,
            company_id=company_id,
            meta=dict(meta),
        )
    )


async def store_meta(
    db: AsyncConnection, scope: TenantScope, user_id: str, meta: Mapping[str, bool]
) -> None:
    await db.execute(
        sa.update(resellers)
        .where(of_tenant(resellers, scope), resellers.c.user_id == user_id)
        .values(meta=dict(meta), update_time=sa.func.now())
    )
