"""The table of exported files and its queries."""

import json
from datetime import datetime
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant

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
            of_tenant(exports, scope),
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
        of_tenant(exports, scope),
        exports.c.export_id == export_id,
        exports.c.scope_hash == hash_visible_groups(scope),
    )
    return (await db.execute(stmt)).one_or_none()


async def delete_surplus_exports(
    db: AsyncConnection, scope: TenantScope, *, files_max: int, bytes_max: int, before: datetime
) -> bool:
    """Delete the oldest files until the others are within both limits.

    Files created at `before` or later are kept. Return False if these alone exceed a limit; the
    newest file never does.
    """
    await advisory_lock(db, f"exports {scope.organisation_id}")
    newest_first = (exports.c.create_time.desc(), exports.c.export_id.desc())
    ranked = (
        sa.select(
            exports.c.export_id,
            exports.c.create_time,
            sa.func.row_number().over(order_by=newest_first).label("position"),
            sa.func.sum(sa.func.octet_length(exports.c.content))
            .over(order_by=newest_first)
            .label("bytes"),
        )
        .where(of_tenant(exports, scope))
        .subquery()
    )
    stmt = sa.select(ranked.c.export_id, ranked.c.create_time).where(
        ranked.c.position > 1,
        sa.or_(ranked.c.position > files_max, ranked.c.bytes > bytes_max),
    )
    surplus = (await db.execute(stmt)).all()
    if any(row.create_time >= before for row in surplus):
        return False
    await db.execute(
        sa.delete(exports).where(
            of_tenant(exports, scope),
            is_any_of(exports.c.export_id, [row.export_id for row in surplus]),
        )
    )
    return True


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
            of_tenant(exports, scope),
            exports.c.create_time < sa.func.now() - sa.func.make_interval(0, 0, 0, days),
            superseded,
        )
    )
