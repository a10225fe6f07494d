"""The table of staff views, and the queries on it."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import TenantScope, fetch_row, metadata, of_tenant

portal_views = sa.Table(
    "portal_views",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("view_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("client_id", sa.Text, nullable=False),
    sa.Column("family_id", sa.Text),
    sa.Column("credential_epoch", sa.Integer, nullable=False),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expire_time", sa.DateTime(timezone=True), nullable=False),
)

# Every request of a view executes this.
_FIND_VIEW = Path(__file__).with_name("find_view.sql").read_text()


class StoredView(NamedTuple):
    """A view: the login it began from, and the reseller account that it shows."""

    client_id: str
    family_id: str | None
    credential_epoch: int
    expire_time: datetime
    account_id: str
    username: str
    company_id: str
    meta: Mapping[str, bool]


async def find_view(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    view_id: str,
    user_id: str,
    at: datetime,
    kid: str,
    product: str,
) -> StoredView | None:
    """Find the view of the user with the account that it shows; None if it has ended."""
    row = await fetch_row(db, _FIND_VIEW, scope.organisation_id, view_id, user_id, at, kid, product)
    return None if row is None else StoredView(*row)


async def add_view(
    db: AsyncConnection,
    scope: TenantScope,
    caller: Caller,
    *,
    view_id: str,
    account_id: str,
    at: datetime,
    expire_time: datetime,
) -> None:
    await db.execute(
        sa.insert(portal_views).values(
            organisation_id=scope.organisation_id,
            view_id=view_id,
            user_id=caller.user_id,
            client_id=caller.client_id,
            family_id=caller.family_id,
            credential_epoch=caller.epoch,
            account_id=account_id,
            create_time=at,
            expire_time=expire_time,
        )
    )


async def delete_view(db: AsyncConnection, scope: TenantScope, user_id: str, view_id: str) -> bool:
    """Return whether the user had the view."""
    stmt = sa.delete(portal_views).where(
        of_tenant(portal_views, scope),
        portal_views.c.user_id == user_id,
        portal_views.c.view_id == view_id,
    )
    return bool((await db.execute(stmt)).rowcount)


async def delete_expired_views(db: AsyncConnection, scope: TenantScope, *, at: datetime) -> None:
    stmt = sa.delete(portal_views).where(
        of_tenant(portal_views, scope), portal_views.c.expire_time <= at
    )
    await db.execute(stmt)
