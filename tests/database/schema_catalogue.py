"""Reads the schema of a test database from PostgreSQL's catalogue, and drops it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import command

from nimbill.application.schema import MIGRATIONS
from nimbill.database import migrate
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import MigrationPackage, SchemaState, find_schema_state
from nimbill.database.tenant_scope import create_owner_engine
from tests.temporary_database import execute_sql

FROM_FUNCTIONS = "FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
FROM_CONSTRAINTS = "FROM pg_constraint c WHERE connamespace = 'public'::regnamespace"


def list_tables(address: Address) -> set[str]:
    stmt = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    return {row["tablename"] for row in execute_sql(address, stmt)}


def list_functions(address: Address) -> set[str]:
    return {row["proname"] for row in execute_sql(address, f"SELECT proname {FROM_FUNCTIONS}")}


def describe_schema(address: Address) -> list[tuple[object, ...]]:
    """Every column, index, policy and constraint."""
    columns = "table_name, column_name, data_type, is_nullable, column_default"
    stmts = (
        f"SELECT {columns} FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT tablename, policyname, qual, with_check FROM pg_policies",
        f"SELECT conname, pg_get_constraintdef(c.oid) {FROM_CONSTRAINTS}",
    )
    return sorted((tuple(row) for stmt in stmts for row in execute_sql(address, stmt)), key=repr)


def is_current(address: Address, packages: Sequence[MigrationPackage] = MIGRATIONS) -> bool:
    async def check() -> bool:
        engine = create_owner_engine(address.url)
        async with engine.connect() as db:
            result = await db.run_sync(find_schema_state, packages)
        await engine.dispose()
        return result is SchemaState.current

    return asyncio.run(check())


def drop_schema(address: Address, packages: Sequence[MigrationPackage] = MIGRATIONS) -> None:
    """Undo every migration, last package first; all data is lost."""

    def downgrade(connection: sa.Connection) -> None:
        for package in reversed(packages):
            command.downgrade(migrate._alembic_config(package, connection), "base")

    asyncio.run(migrate._run_as_owner(address.url, downgrade))
