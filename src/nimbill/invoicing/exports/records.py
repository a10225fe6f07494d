"""Stored files and the questions asked of them."""

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
    """The groups a file was made for; who sees others never gets it."""
    groups = None if scope.billing_groups is None else sorted(scope.billing_groups)
    # as JSON: a filter may name anything, and no name must pass for "all" or for two names
    return sha256(json.dumps(groups).encode()).digest()


async def find_newest_export(db: AsyncConnection, scope: TenantScope, kind: str) -> str | None:
    question = (
        sa.select(exports.c.export_id)
        .where(
            exports.c.organisation_id == scope.organisation_id,
            exports.c.kind == kind,
            exports.c.scope_hash == hash_visible_groups(scope),
        )
        .order_by(exports.c.create_time.desc())
        .limit(1)
    )
    found: str | None = (await db.execute(question)).scalar_one_or_none()
    return found


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
    question = sa.select(exports).where(
        exports.c.organisation_id == scope.organisation_id, exports.c.export_id == export_id
    )
    return (await db.execute(question)).one_or_none()


async def delete_old_exports(db: AsyncConnection, scope: TenantScope, *, days: int) -> None:
    """The newest of each kind and audience stays, so that `redo` finds it."""
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
