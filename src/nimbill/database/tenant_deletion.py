"""Deletes every row of one tenant, as the database's owner."""

from graphlib import TopologicalSorter

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, of_tenant

_TENANT_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    AND a.attname = 'organisation_id' AND NOT a.attisdropped
"""
_REFERENCES = """
SELECT child.relname AS child, parent.relname AS parent
FROM pg_constraint k JOIN pg_class child ON child.oid = k.conrelid
    JOIN pg_class parent ON parent.oid = k.confrelid
WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conrelid <> k.confrelid
"""
# They refuse a change (refuse_change) or store a row because of it (record_former_group).
_TABLES_WITH_TRIGGERS = """
SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
"""


async def delete_tenant_rows(db: AsyncConnection, scope: TenantScope) -> int:
    """Delete in the order of the foreign keys and return the number of rows.

    The caller has set the tenant and locked the organisation's row. Triggers are switched off until
    then; only the owner may do that, not the role of requests.
    """
    with_triggers = (await db.execute(sa.text(_TABLES_WITH_TRIGGERS))).scalars().all()
    for table in with_triggers:
        await db.execute(sa.text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
    rows = 0
    for name in await _list_tables(db):
        table = sa.table(name, sa.column("organisation_id"))
        result = await db.execute(sa.delete(table).where(of_tenant(table, scope)))
        rows += result.rowcount
    for table in with_triggers:
        await db.execute(sa.text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))
    return rows


async def _list_tables(db: AsyncConnection) -> list[str]:
    """Tables with rows of tenants; a table comes after those that refer to it."""
    tables = set((await db.execute(sa.text(_TENANT_TABLES))).scalars())
    order = TopologicalSorter({table: set() for table in tables})
    for row in await db.execute(sa.text(_REFERENCES)):
        order.add(row.parent, row.child)
    return [table for table in order.static_order() if table in tables]
