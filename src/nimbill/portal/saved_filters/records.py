"""The table of saved filters, and the queries on it. Each filter belongs to one user."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, metadata, of_tenant
from nimbill.foundation import exact_json
from nimbill.portal.saved_filters.bodies import SavedFilter

saved_filters = sa.Table(
    "saved_filters",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("filter_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_filters = saved_filters.c


def _match_user(scope: TenantScope, user_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(saved_filters, scope), _filters.user_id == user_id]


async def list_filters(db: AsyncConnection, scope: TenantScope, user_id: str) -> list[SavedFilter]:
    """List the filters of the user by name."""
    stmt = (
        sa.select(_filters.filter_id, _filters.name, _filters.content)
        .where(*_match_user(scope, user_id))
        .order_by(_filters.name, _filters.filter_id)
    )
    return [
        SavedFilter(filter_id=filter_id, name=name, content=exact_json.decode_stored(content))
        for filter_id, name, content in await db.execute(stmt)
    ]


async def count_filters(db: AsyncConnection, scope: TenantScope, user_id: str) -> int:
    stmt = sa.select(sa.func.count()).where(*_match_user(scope, user_id))
    return int((await db.execute(stmt)).scalar_one())


async def add_filter(
    db: AsyncConnection, scope: TenantScope, user_id: str, saved: SavedFilter
) -> None:
    await db.execute(
        sa.insert(saved_filters).values(
            organisation_id=scope.organisation_id,
            filter_id=saved.filter_id,
            user_id=user_id,
            name=saved.name,
            content=exact_json.encode(saved.content).decode(),
        )
    )


async def delete_filter(
    db: AsyncConnection, scope: TenantScope, user_id: str, filter_id: str
) -> bool:
    """Return whether the user had the filter."""
    stmt = sa.delete(saved_filters).where(
        *_match_user(scope, user_id), _filters.filter_id == filter_id
    )
    return bool((await db.execute(stmt)).rowcount)
