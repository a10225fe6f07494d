"""Deletes every row of one tenant, as the database's owner."""

from graphlib import TopologicalSorter

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, ddl, of_tenant


def _catalogue(name: str, *columns: str) -> sa.TableClause:
    return sa.table(name, *(sa.column(column, sa.Text) for column in columns))


_PUBLIC: sa.ColumnElement[str] = sa.literal_column("'public'::regnamespace")
_classes = _catalogue("pg_class", "oid", "relname", "relkind", "relnamespace")
_attributes = _catalogue("pg_attribute", "attrelid", "attname", "attisdropped")
_constraints = _catalogue("pg_constraint", "conrelid", "confrelid", "contype", "connamespace")
_triggers = _catalogue("pg_trigger", "tgrelid", "tgisinternal")
_children, _parents = _classes.alias("child"), _classes.alias("parent")
_TENANT_TABLES = (
    sa.select(_classes.c.relname)
    .join(_attributes, _attributes.c.attrelid == _classes.c.oid)
    .where(
        _classes.c.relkind == sa.literal_column("'r'"),
        _classes.c.relnamespace == _PUBLIC,
        _attributes.c.attname == "organisation_id",
        _attributes.c.attisdropped.is_(False),
    )
)
_REFERENCES = (
    sa.select(_children.c.relname.label("child"), _parents.c.relname.label("parent"))
    .select_from(_constraints)
    .join(_children, _children.c.oid == _constraints.c.conrelid)
    .join(_parents, _parents.c.oid == _constraints.c.confrelid)
    .where(
        _constraints.c.contype == sa.literal_column("'f'"),
        _constraints.c.connamespace == _PUBLIC,
        _constraints.c.conrelid != _constraints.c.confrelid,
    )
)
# They refuse a change (refuse_change) or store a row because of it (record_former_group).
_TABLES_WITH_TRIGGERS = (
    sa.select(_classes.c.relname)
    .distinct()
    .join(_triggers, _triggers.c.tgrelid == _classes.c.oid)
    .where(_triggers.c.tgisinternal.is_(False), _classes.c.relnamespace == _PUBLIC)
)


async def delete_tenant_rows(db: AsyncConnection, scope: TenantScope) -> int:
    """Delete in the order of the foreign keys and return the number of rows.

    The caller has set the tenant and locked the organisation's row. Triggers are switched off until
    then; only the owner may do that, not the role of requests.
    """
    with_triggers = (await db.execute(_TABLES_WITH_TRIGGERS)).scalars().all()
    for table in with_triggers:
        await db.execute(ddl(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
    rows = 0
    for name in await _list_tables(db):
        table = sa.table(name, sa.column("organisation_id"))
        result = await db.execute(sa.delete(table).where(of_tenant(table, scope)))
        rows += result.rowcount
    for table in with_triggers:
        await db.execute(ddl(f"ALTER TABLE {table} ENABLE TRIGGER USER"))
    return rows


async def _list_tables(db: AsyncConnection) -> list[str]:
    """Tables with rows of tenants; a table comes after those that refer to it."""
    tables = set((await db.execute(_TENANT_TABLES)).scalars())
    order = TopologicalSorter({table: set() for table in tables})
    for row in await db.execute(_REFERENCES):
        order.add(row.parent, row.child)
    return [table for table in order.static_order() if table in tables]
