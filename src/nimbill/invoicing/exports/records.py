"""The table of exported files and its queries."""

import json
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata

exports = sa.Table(
    "exports",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("export_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("scope_hash", sa.LargeBinary, nullable=False),
    sa.Column("file_name", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


def hash_visible_groups(scope: TenantScope) -> bytes:
    """Identify the audience of a file: users who see other billing groups never get it."""
    groups = None if scope.billing_groups is None else sorted(scope.billing_groups)
    # as JSON: a filter may contain any text, and no text may be equal to "all" or to two names
    return sha256(json.dumps(groups).encode()).digest()


async def find_newest_export(db: AsyncConnection, scope: TenantScope, kind: str) -> str | None:
    stmt = (
        sa.select(exports.c.export_id)
        .where(
            exports.c.organisation_id == scope.organisation_id,
            exports.c.kind == kind,
            exports.c.scope_hash == hash_visible_groups(scope),
        )
        .order_by(exports.c.create_time.desc())
        .limit(1)
    )
    export_id: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return export_id


async def add_export(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    export_id: str,
    kind: str,
    file_name: str,
    content: bytes,
) -> None:
    await db.execute(
        sa.insert(exports).values(
            organisation_id=scope.organisation_id,
            export_id=export_id,
            kind=kind,
            scope_hash=hash_visible_groups(scope),
            file_name=file_name,
            content=content,
        )
    )


async def find_export(db: AsyncConnection, scope: TenantScope, export_id: str) -> Row | None:
    """None also if the file was made for users who see other billing groups."""
    stmt = sa.select(exports).where(
        exports.c.organisation_id == scope.organisation_id,
        exports.c.export_id == export_id,
        exports.c.scope_hash == hash_visible_groups(scope),
    )
    return (await db.execute(stmt)).one_or_none()


async def delete_old_exports(db: AsyncConnection, scope: TenantScope, *, days: int) -> None:
    """Keep the newest file of each kind and audience, so that `redo` finds it."""
    newer = exports.alias("newer")
    superseded = sa.exists().where(
        newer.c.organisation_id == exports.c.organisation_id,
        newer.c.kind == exports.c.kind,
        newer.c.scope_hash == exports.c.scope_hash,
        newer.c.create_time > exports.c.create_time,
    )
    await db.execute(
        sa.delete(exports).where(
            exports.c.organisation_id == scope.organisation_id,
            exports.c.create_time < sa.func.now() - sa.func.make_interval(0, 0, 0, days),
            superseded,
        )
    )
